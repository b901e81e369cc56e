"use strict";
// The seats of a table: who plays them, the links that take them, the name of this browser's person.

const AUTOMA = "the Automa"; // a seat that no player can take
const NAME_KEY = "gaia_jax name";
const ownName = () => stored(NAME_KEY, "");

// Rows stay until the people at the table change: an open list must not close.
function drawSeats() {
  const key = JSON.stringify([game.id, game.shared, game.host, game.mine,
    game.seats.map(({ who, person, free, key: link }) => [who === offers.human, person, free, link])]);
  if (byId("seats").dataset.key !== key) buildSeats(key);
  for (const seat of game.seats) {
    const row = byId("seats").querySelector(`[data-seat="${seat.player}"]`);
    row.classList.toggle("now", seat.player === game.player && !game.over);
    row.querySelector(".vp").textContent = vpWords(seat.vp);
    const select = row.querySelector("select");
    if (select && select.dataset.who !== seat.who) {
      select.dataset.who = seat.who;
      select.value = seat.who;
    }
  }
}

function buildSeats(key) {
  byId("seats").dataset.key = key;
  byId("seats").replaceChildren(...game.seats.map((seat) => element("div", { class: "seat", "data-seat": seat.player },
    disc(seat, true), element("span", { class: "name", title: seat.name }, seat.name),
    seat.who === AUTOMA || !game.host ? element("span", { class: "who-plays" }, playerName(seat.who)) : seatList(seat),
    element("span", { class: "vp" }), ...personLine(seat))));
  byId("share").hidden = game.shared || !game.host;
  byId("watch").hidden = !game.watch_key;
  const shownKey = byId("link").value.split("#key=")[1];
  if (shownKey && ![game.watch_key, ...game.seats.map((seat) => seat.key)].includes(shownKey)) showLink("");
}

function seatList(seat) {
  return element("select", { "aria-label": say("who-plays", { name: seat.name }),
    onchange: (event) => change("seat", { player: seat.player, who: event.target.value }) },
  ...[offers.human, ...game.agents].map((name) => element("option", { value: name, selected: name === seat.who }, playerName(name))));
}

// At a shared table a person need not be the one at this screen.
const playerName = (who) => (game.shared && who === offers.human ? say("a-person") : called(who));

// The person at a seat, and what this browser may do there.
function personLine({ player, who, person, free, key }) {
  if (who !== offers.human || !game.shared) return [];
  const isMine = game.mine.includes(player);
  const button = (text, act_) => element("button", { type: "button", onclick: act_ }, text);
  return [element("div", { class: "person" },
    element("span", {}, person || say(free ? "free" : isMine ? "you" : "taken")),
    ...(free || isMine ? [button(say(free ? "sit-here" : "use-name"), () => sit(player))] : []),
    ...(!free && (isMine || game.host) ? [button(say("leave"), () => change("leave", { player }))] : []),
    ...(key ? [button(say("link"), () => showLink(`#key=${key}`))] : []))];
}

function sit(player) {
  const name = byId("own-name").value.trim();
  if (!name) {
    byId("own-name").focus();
    return showMessage(say("write-name"));
  }
  return change("sit", { player, name, settings: settingsNow() });
}

// A link as text: a page of a local network may not write to the clipboard.
function showLink(hash) {
  const field = byId("link");
  field.hidden = !hash;
  field.value = hash && `${location.origin}/${hash}`;
  if (!hash) return;
  field.focus();
  field.select();
  navigator.clipboard?.writeText(field.value).catch(() => {});
}

// The link in the address of the page: with a key, which lets this browser in or leads to a table, or
// with a position. Returns whether the page can go on.
async function followLink() {
  const [, kind, value] = /^#(key|position)=([\w-]+)$/.exec(location.hash) || [];
  if (!kind) return true;
  const answer = await (kind === "key" ? call("/api/enter", { key: value, name: ownName() }) : openPosition(value));
  if (kind === "key" && answer?.id) await call(`/api/games/${answer.id}/settings`, settingsNow());
  history.replaceState(null, "", answer?.id ? `#${answer.id}` : "#");
  return Boolean(answer);
}

// The chat of a shared table; the latest line that came while the page was open is also at the choices.
function drawChat(before) {
  byId("chat").hidden = !game.shared;
  const lines = game.chat.map(([player, name, text]) =>
    say("labelled", { label: name || game.seats[player].name, text }));
  const key = JSON.stringify(lines);
  if (byId("chat").dataset.key === key) return;
  byId("chat").dataset.key = key;
  byId("heard").textContent = before && before.id === game.id ? lines[lines.length - 1] ?? "" : "";
  byId("chat-lines").replaceChildren(...lines.map((line) => element("li", {}, line)));
  byId("chat-lines").scrollTop = byId("chat-lines").scrollHeight;
}

async function sendLine(event) {
  event.preventDefault();
  const text = byId("chat-line").value.trim();
  if (!text) return;
  byId("chat-line").value = "";
  if (!await change("chat", { text })) byId("chat-line").value ||= text;
}
