"use strict";
// The start form: the options of a game, and a preview of its set-up.

const SEATS = [0, 1, 2, 3];
const MOST_SEED = 2 ** 31 - 1;
const PREVIEW_AFTER = 400; // ms without another change
const MOST_UNDER_WAY = 8; // tables in the list; earlier ones are folded
let previews = 0;
let previewTimer = 0;
let isDealing = false; // a preview is pending
let previewError = ""; // the last one of a preview
let offersAsked = 0; // requests for the offers; only the answer to the last one counts

const newSeed = () => Math.floor(Math.random() * MOST_SEED);
// The game in the address of the page, "" for none.
const gameInAddress = () => /^#([0-9a-f]{12})(@|$)/.exec(location.hash)?.[1] || "";
const rulesetNow = () => offers.rulesets.find(({ id }) => id === byId("ruleset").value);
const recordNow = () => offers.records.find(({ name }) => name === byId("record").value);

// Load the options; the records, which take longer, arrive later.
async function loadOffers() {
  if (offers) {
    // The seats belong to the previous ruleset until the answer arrives.
    isDealing = false;
    clearTimeout(previewTimer);
    previews++;
    byId("begin").disabled = true;
    const turn = ++offersAsked;
    const answer = await call("/api/offers");
    if (turn !== offersAsked) return;
    offers = answer || offers;
    byId("begin").disabled = false;
    fillOffers();
    return;
  }
  const brief = await waiting(say("loading"), call("/api/offers?brief=1"));
  if (offers) return showMessage(""); // an earlier call, for another address, has built the form
  offers = brief;
  byId("begin").disabled = !offers;
  if (!offers) return;
  showMessage("");
  buildStart();
  fillOffers();
  const linked = location.hash.includes("seed="); // a link is asked for, a record offered
  call("/api/offers").then((answer) => {
    if (!answer) return;
    offers.records = answer.records;
    fillRecords(linked || byId("record").dataset.chosen ? "" : offers.first?.name);
    if (byId("record").value) fillChairs();
  });
}

function fillOffers() {
  fillUnderWay();
  fillHabits();
  fillRecords();
  fillChairs();
  if (offers.players.length) askHabits(); // a running job, after a game or a reload
}

// Games of this server that can be continued.
function fillUnderWay() {
  const links = offers.games.map((table) => element("a", { class: "button", href: `#${table.id}` }, underWayLine(table)));
  const earlier = byId("under-way-earlier");
  earlier.hidden = links.length <= MOST_UNDER_WAY;
  earlier.lastElementChild.replaceChildren(...links.splice(MOST_UNDER_WAY));
  byId("under-way").hidden = !links.length;
  byId("under-way").replaceChildren(say("continue"), ...links);
}

// A table in the list: factions with the names of people, round, last move, whether a seat is free.
function underWayLine({ factions, names, round, date, free, mine }) {
  const seats = factions.map((faction, p) => (names[p] ? `${faction} (${names[p]})` : faction)).join(", ");
  const time = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "short" }).format(date * 1000);
  return `${seats}, ${roundName(round)}, ${time}${free.length && !mine.length ? say("free-seat") : ""}`;
}

function fillRecords(first = "") {
  const record = byId("record");
  setOptions(record, [["", say("no-record")], ...offers.records.map(({ name }) => [name])], record.value || first);
}

function buildStart() {
  for (const { id, name } of offers.rulesets) byId("ruleset").append(element("option", { value: id }, name));
  for (const p of SEATS) {
    const select = element("select", { id: `chair-${p}`, onchange: ({ target }) => {
      target.dataset.chosen = "yes";
      fillChairs();
    } });
    if (!p) setOptions(select, [[offers.human, say("you")]], offers.human);
    byId("chairs").append(element("div", { class: "chair" },
      element("label", { for: `chair-${p}` }, say("player-number", { n: p + 1 })), select,
      element("span", { id: `disc-${p}` }), element("select", { id: `faction-${p}`, "aria-label": say("faction-of-player", { n: p + 1 }), onchange: fillChairs }),
      element("small", { id: `about-${p}` })));
  }
  byId("chairs").append(element("div", { class: "chair", id: "automa" },
    element("label", { for: "automa-level" }, say("the-automa")),
    element("select", { id: "automa-level", onchange: askPreview }),
    element("select", { id: "automa-faction", "aria-label": say("faction-of-automa"), onchange: fillChairs }),
    element("small", {}, say("automa-about"))));
  fromLink();
}

// `names`: [[value, text, group]]; keeps the current value if it is still available.
function setOptions(select, names, selected, otherwise = names[0][0]) {
  select.replaceChildren();
  for (const [value, text, group] of names) {
    let holder = select;
    if (group) holder = [...select.children].find(({ label }) => label === group) || element("optgroup", { label: group });
    if (group && !holder.parentElement) select.append(holder);
    holder.append(element("option", { value }, text ?? value));
  }
  select.value = names.some(([value]) => value === selected) ? selected : otherwise;
}

// An agent as a list entry: its level and measured VP in a ruleset, or its name.
function entryOf({ name, level_names, vp }, ruleset) {
  const level = level_names[ruleset];
  if (!level) return [name, name, say("other-agents")];
  const isMeasured = vp && ruleset === "lost_fleet";
  return [name, isMeasured ? say("level-vp", { level, vp: Math.round(vp) }) : level, say("levels")];
}

// The default agent: beatable in a first game, and quick to compile, unlike `greedy` (minutes).
function firstChoice(names) {
  return ["zoo/quick", "zoo/strong", ...names.filter((name) => name.startsWith("zoo/")), "random"]
    .find((name) => names.includes(name)) || names[0];
}

// The default agent for analyses: the strongest with a policy.
function firstAnalyst(names) {
  const learnt = names.filter((name) => !["random", "greedy"].includes(name));
  return ["zoo/base", "zoo/strong"].find((name) => learnt.includes(name)) || learnt[0] || names[0];
}

// The set-up in the address: `#seed=5&ruleset=base&players=2&factions=TERRANS,`.
function fromLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const seed = Number(link.get("seed") ?? NaN);
  byId("seed").value = Number.isInteger(seed) && seed >= 0 && seed <= MOST_SEED ? seed : newSeed();
  const ruleset = offers.rulesets.find(({ id }) => id === link.get("ruleset"));
  if (ruleset) byId("ruleset").value = ruleset.id;
  byId("start").dataset.players = link.get("players") || "";
  byId("start").dataset.factions = link.get("factions") || "";
  byId("automa").dataset.level = link.get("automa") || "";
  byId("automa").dataset.faction = link.get("automa_faction") || "";
}

function toLink() {
  const link = new URLSearchParams({ seed: byId("seed").value, ruleset: byId("ruleset").value });
  const { players } = rulesetNow();
  if (players.length > 1) link.set("players", seatsNow().length);
  if (factionsNow().some(Boolean)) link.set("factions", factionsNow().join(","));
  for (const [key, value] of Object.entries(automaNow())) link.set(key, value);
  history.replaceState(null, "", `#${link}`);
}

const seatsNow = () => SEATS.map((p) => byId(`chair-${p}`).value).filter((who) => who !== NOBODY);
const playing = () => SEATS.filter((p) => byId(`chair-${p}`).value !== NOBODY);
const factionsNow = () => playing().map((p) => byId(`faction-${p}`).value);
// The level and faction of the Automa as keys of a game; none with several players.
const automaNow = () => (seatsNow().length > 1 ? {}
  : { automa: byId("automa-level").value, automa_faction: byId("automa-faction").value });

// Available agents depend on the number of players; a record defines it.
function fillChairs() {
  const record = recordNow();
  const ruleset = rulesetNow();
  const start = byId("start");
  const chairs = SEATS.map((p) => byId(`chair-${p}`));
  const linked = ruleset.players.includes(Number(start.dataset.players)) ? Number(start.dataset.players) : 0;
  const least = record ? 4 : ruleset.players[0];
  const taken = chairs.filter((chair, p) => p < least || (linked ? p < linked
    : !chair.options.length || chair.value !== NOBODY));
  const players = record ? record.players : taken.length;
  const rulesetId = record ? record.ruleset : ruleset.id;
  // In a solo game an agent at another seat makes it one for two.
  const agents = offers.agents.filter(({ plays }) => (plays[rulesetId] || []).includes(Math.max(players, 2)));
  const names = agents.map(({ name }) => name);
  chairs.forEach((chair, p) => {
    const all = [[offers.human, say("you")], ...agents.map((agent) => entryOf(agent, rulesetId))];
    if (p >= least) all.push([NOBODY, say("nobody")]);
    // A default agent is that of the number of players.
    const before = chair.options.length && (chair.dataset.chosen || chair.value === NOBODY) ? chair.value : null;
    const needed = p < (linked || least);
    const selected = linked && !needed ? NOBODY : needed && before === NOBODY ? null : before;
    setOptions(chair, all, selected, p ? firstChoice(names) : offers.human);
    chair.parentElement.hidden = p >= players && Boolean(record);
    const agent = agents.find(({ name }) => name === chair.value);
    byId(`about-${p}`).textContent = agent ? agent.about : "";
  });
  fillAutoma(ruleset, !record && players === 1);
  fillFactions(record, ruleset);
  start.dataset.players = start.dataset.factions = "";
  byId("ruleset-about").textContent = record ? "" : ruleset.about;
  askPreview();
}

// The Automa of a solo game; its faction is not on the human's board.
function fillAutoma(ruleset, isSolo) {
  const holder = byId("automa");
  holder.hidden = !isSolo;
  if (!isSolo) return;
  const { levels, level, factions } = ruleset.automa;
  const [select, faction] = [byId("automa-level"), byId("automa-faction")];
  setOptions(select, levels.map(({ id, name }) => [id, name]), holder.dataset.level || select.value, level);
  const human = ruleset.factions.find(({ id }) => id === byId("faction-0").value);
  const free = ruleset.factions.filter(({ id }) => factions.includes(id) && ![human?.id, human?.other].includes(id));
  setOptions(faction, [["", say("dealt")], ...free.map(({ id, name }) => [id, name])], holder.dataset.faction || faction.value);
  holder.dataset.level = holder.dataset.faction = "";
}

// Without factions of boards that another seat has chosen (two factions share one).
function fillFactions(record, ruleset) {
  const linked = byId("start").dataset.factions.split(",");
  const seats = playing();
  for (const p of SEATS) {
    const select = byId(`faction-${p}`);
    const selected = linked[seats.indexOf(p)] || select.value;
    const taken = seats.filter((other) => other < p || (other > p && byId(`faction-${other}`).value))
      .map((other) => byId(`faction-${other}`).value).concat(automaNow().automa_faction).filter(Boolean);
    const free = ruleset.factions.filter(({ id, other }) => !taken.includes(id) && !taken.includes(other));
    setOptions(select, [["", say("dealt")], ...free.map(({ id, name }) => [id, name])], selected);
    select.hidden = Boolean(record) || !seats.includes(p);
  }
}

// The game that the form describes; null and a message if it is invalid.
async function wantedGame() {
  const selected = { ruleset: byId("ruleset").value, seats: seatsNow(), ...automaNow() };
  if (factionsNow().some(Boolean)) selected.factions = factionsNow();
  try {
    const file = byId("upload").files[0];
    if (file) Object.assign(selected, await readUpload(file));
    else if (byId("record").value) Object.assign(selected, recordOfForm());
    else if (byId("setup").value.trim()) selected.setup = JSON.parse(byId("setup").value);
    else selected.seed = Number(byId("seed").value);
  } catch (error) {
    showMessage(say("not-json"));
    return null;
  }
  return selected;
}

// The record of the form; the one of the command line at its position.
function recordOfForm() {
  const record = byId("record").value;
  const at = record === offers.first?.name ? offers.first.at : null;
  return at === null ? { record } : { record, at };
}

// Update the preview after a pause in typing; the server compiles the agents meanwhile.
function askPreview() {
  isDealing = true;
  clearTimeout(previewTimer);
  previewTimer = setTimeout(showPreview, PREVIEW_AFTER);
}

async function showPreview() {
  const turn = ++previews;
  await dealPreview(turn);
  if (turn === previews) isDealing = false;
  if (isDealing) return;
  if (isAdviceWanted && adviceNow) advise(); // asked for while this was dealt
  isAdviceWanted = false;
}

async function dealPreview(turn) {
  // Also while a game loads: then the address is the game's.
  if (game || gameInAddress() || byId("start").hidden) return;
  const selected = await wantedGame();
  const holder = byId("preview");
  const answer = selected && !selected.record && !selected.log && await askDealt(selected, holder, () => turn === previews);
  if (answer === null) previewError = messageLine().textContent;
  if (turn !== previews || game) return;
  if (!answer) {
    holder.replaceChildren();
    adviceOn();
    return;
  }
  if (messageLine().textContent === previewError) showMessage("");
  drawDealt(holder, answer);
  adviceOn(selected, answer.advice);
  for (const p of SEATS) byId(`disc-${p}`).replaceChildren();
  playing().forEach((p, k) => {
    const [select, seat] = [byId(`faction-${p}`), answer.seats[k]];
    select.options[0].textContent = select.value ? say("dealt") : say("dealt-faction", { name: seat.name });
    byId(`disc-${p}`).append(disc({ ...seat, player: p }, true));
  });
  if (!byId("automa").hidden) byId("automa-faction").options[0].textContent = say("dealt-faction", { name: answer.seats[1].name });
}

// The set-up that the server deals; shows running seconds.
async function askDealt(selected, holder, isCurrent) {
  if (!selected.setup) toLink();
  const line = element("p", { class: "keys" });
  const answer = await waiting(say("dealing"), call("/api/preview", selected), (text) => {
    if (!isCurrent()) return line.remove();
    if (line.textContent || !holder.firstChild) holder.prepend(line); // above an earlier picture after a second
    line.textContent = text;
  });
  line.remove();
  return answer;
}

// The preview: map, rounds and boosters; other parts unfold.
function drawDealt(holder, { picture, seats }) {
  const part = (name, kind = "block") => {
    const out = element("div", { class: kind, id: `block-${name}` });
    out.innerHTML = picture.blocks[name] || "";
    return out;
  };
  const folded = (name, ...inside) => element("details", { class: "panel" },
    element("summary", {}, name), ...inside);
  const map = element("div", { class: "map", role: "img", "aria-label": say("what-is-dealt") });
  map.innerHTML = picture.map + picture.defs;
  tidy(map);
  picture.colours.forEach(([fill, ink], p) => {
    holder.style.setProperty(`--fill-${p}`, fill);
    holder.style.setProperty(`--ink-${p}`, ink);
  });
  const rules = element("div", { class: "rules" });
  fillRules(rules, picture, seats);
  holder.replaceChildren(part("rounds", "block panel"), map, part("boosters", "block panel"),
    folded(say("tech-tiles"), part("research")), folded(say("tab-actions"), part("actions")),
    folded(say("rules-and-factions"), rules));
  const svg = map.querySelector("svg");
  map.style.setProperty("--scale", svg.clientHeight / svg.viewBox.baseVal.height);
  holder.pages = picture.help;
  holder.help = holder.help || new Help(holder, () => holder.pages);
}

async function begin(event) {
  event.preventDefault();
  byId("begin").disabled = true;
  const selected = await wantedGame();
  if (selected) await openGame({ ...selected, settings: settingsNow() });
  byId("begin").disabled = false;
}

// Start a game; shows running seconds, because a record waits for compilation.
async function openGame(selected) {
  const made = await waiting(say("starting"), call("/api/games", { ...selected, name: ownName() }));
  if (!made) return;
  showMessage("");
  adviceLeft();
  // Reset the choices that apply to this game only.
  byId("upload").value = "";
  byId("record").value = "";
  location.hash = made.id;
}

// Show the form again: with the set-up of the address, otherwise a new one.
function showStart() {
  byId("lobby").hidden = byId("start").hidden = false;
  byId("preview").replaceChildren();
  adviceOn();
  if (offers) fromLink();
  loadOffers();
}
