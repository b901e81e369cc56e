"use strict";
// Buttons, keys, the address of the page: loaded last.

function wire() {
  const buttons = {
    undo: takeBack, cancel: () => change("undo"), resume: () => change("resume", { node: game.node }),
    share: () => change("share"), watch: () => showLink(`#key=${game.watch_key}`), "share-position": positionLink,
    first: () => along(-1e6), back: () => along(-1), forward: () => along(1),
    last: () => along(1e6), present, save, new: () => { location.hash = ""; },
    hint: () => wantHint(), explain: () => wantHint(WHY), advise, "advise-off": adviceOff,
    "habits-ask": () => askHabits("start"), "habits-off": () => askHabits("off"),
    dice: () => {
      byId("seed").value = newSeed();
      byId("seed").dispatchEvent(new Event("change", { bubbles: true }));
    },
  };
  for (const [id, act_] of Object.entries(buttons)) byId(id).addEventListener("click", act_);
  byId("start").addEventListener("submit", begin);
  byId("chat").addEventListener("submit", sendLine);
  byId("ruleset").addEventListener("change", loadOffers);
  byId("habits-of").addEventListener("change", () => askHabits());
  byId("record").addEventListener("change", () => {
    byId("record").dataset.chosen = "yes";
    fillChairs();
  });
  for (const id of ["seed", "setup", "upload"]) byId(id).addEventListener("change", askPreview);
  byId("start").addEventListener("change", () => showMessage("")); // an error was of what the form had before
  buildSettings();
  wireLanguages();
  byId("view-of").addEventListener("change", (event) => seatInView(Number(event.target.value)));
  byId("layout").addEventListener("click", clicked);
  // A kind of choices that is not in view does not limit the highlighted places.
  byId("layout").addEventListener("tab", () => game && openKind && !byId("legal-panel").checkVisibility() && openGroup(""));
  wireLog();
  for (const id of ["tour", "welcome-tour"]) byId(id).addEventListener("click", () => tour.begin());
  byId("welcome-no").addEventListener("click", welcomed);
  const keys = {
    ArrowLeft: () => along(-1), ArrowRight: () => along(1), Home: () => along(-1e6),
    End: () => along(1e6), u: takeBack, v: () => seatInView(view.first + 1),
    c: showChoices, " ": () => playback.toggle(),
    Escape: () => (tour.step >= 0 ? tour.end() : stepOut()),
  };
  onKeys(keys, ({ key, target }) => !game || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)
    || (key === " " && target.closest("button, summary")));
  window.addEventListener("hashchange", route);
  setInterval(drawProgress, 1000);
}

// The address of a game; of one of its positions, which the review links to, with @ and its number.
async function route() {
  const isFollowed = await followLink();
  const error = isFollowed ? "" : messageLine().textContent;
  const isNew = !offers; // so the form is built of the address
  if (isNew) await loadOffers(); // after an error too: the form is usable
  if (!isFollowed) return showMessage(error);
  if (!offers) return null;
  const id = gameInAddress();
  if (!id) return isNew ? null : leave();
  if (!game || game.id !== id) await enter(id);
  const node = /@(\d+)$/.exec(location.hash)?.[1];
  if (node && game) {
    history.replaceState(null, "", `#${id}`);
    go(Number(node));
  }
  return null;
}

wire();
byId("own-name").value = ownName();
byId("own-name").addEventListener("change", ({ target }) => store(NAME_KEY, target.value.trim()));
route();
