"use strict";
// The start form.

async function loadOffers() {
  offers = await call(`/api/offers?ruleset=${encodeURIComponent(byId("ruleset").value || "lost_fleet")}`);
  if (!offers) return;
  const ruleset = byId("ruleset");
  if (!ruleset.options.length) {
    for (const id of offers.rulesets) ruleset.append(element("option", { value: id }, id));
    for (let p = 0; p < 4; p++) {
      const select = element("select", { id: `chair-${p}`, onchange: fillChairs });
      if (!p) setOptions(select, [[offers.human]], offers.human);
      byId("chairs").append(element("div", { class: "chair" },
        element("label", { for: `chair-${p}` }, `Player ${p}`), select));
    }
  }
  const record = byId("record");
  const wanted = record.options.length ? record.value : offers.first;
  setOptions(record, [["", "none"], ...offers.records.map(({ name }) => [name])], wanted);
  fillChairs();
}

// `names`: [[value, text]]; the value in view stays where it is still there, else `otherwise` is.
function setOptions(select, names, wanted, otherwise = names[0][0]) {
  select.replaceChildren(...names.map(([value, text]) => element("option", { value }, text ?? value)));
  select.value = names.some(([value]) => value === wanted) ? wanted : otherwise;
}

// An agent that a table begins with. A shipped one is compiled in a fraction of the time that
// `greedy` takes.
function firstChoice(names) {
  return ["zoo/strong", ...names.filter((name) => name.startsWith("zoo/")), "greedy", "random"]
    .find((name) => names.includes(name)) || names[0];
}

// Of those that have a policy to show.
function firstAnalyst(names) {
  const learnt = names.filter((name) => !["random", "greedy"].includes(name));
  return learnt.includes("zoo/strong") ? "zoo/strong" : learnt[0] || names[0];
}

// Who may sit on each chair depends on how many play; a record says it for itself.
function fillChairs() {
  const record = offers.records.find(({ name }) => name === byId("record").value);
  const chairs = [0, 1, 2, 3].map((p) => byId(`chair-${p}`));
  const taken = chairs.filter((chair, p) => p < 2 || !chair.options.length || chair.value !== NOBODY);
  const players = record ? record.players : taken.length;
  const names = offers.agents.filter((agent) => agent.players.includes(players))
    .map(({ name }) => name);
  chairs.forEach((chair, p) => {
    const all = [[offers.human], ...names.map((name) => [name])];
    if (p > 1 && !record) all.push([NOBODY, "nobody (base game)"]);
    setOptions(chair, all, chair.value, p ? firstChoice(names) : offers.human);
    chair.parentElement.hidden = p >= players && Boolean(record);
  });
}

async function begin(event) {
  event.preventDefault();
  byId("begin").disabled = true;
  const wanted = {
    ruleset: byId("ruleset").value,
    seats: [0, 1, 2, 3].map((p) => byId(`chair-${p}`).value).filter((who) => who !== NOBODY),
  };
  try {
    const file = byId("upload").files[0];
    if (file) wanted.record = JSON.parse(await file.text());
    else if (byId("record").value) wanted.record = byId("record").value;
    else if (byId("setup").value.trim()) wanted.setup = JSON.parse(byId("setup").value);
    else wanted.seed = Number(byId("seed").value);
  } catch (error) {
    byId("begin").disabled = false;
    return say("that is not JSON");
  }
  const began = performance.now();
  const tell = () => say("The game is dealt; at the first time the rules are compiled, up to a minute: "
    + `${Math.round((performance.now() - began) / 1000)} s`);
  tell();
  const timer = setInterval(tell, 1000);
  const made = await call("/api/games", wanted);
  clearInterval(timer);
  byId("begin").disabled = false;
  if (made) {
    say("");
    // What was chosen for this game is not what the next one goes on from.
    byId("upload").value = "";
    byId("record").value = "";
    location.hash = made.id;
  }
  return null;
}
