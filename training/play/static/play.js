"use strict";
// The table in the browser: the start form, one game, its moves.

const byId = (id) => document.getElementById(id);
let offers = null;
let game = null;
let view = null;
let analysis = null;
let busy = false;
let progressAt = 0;
let drawnLegal = "";
let requests = Promise.resolve();
const NOBODY = "";

// A request; null and a message where it was refused.
async function call(path, body = undefined) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  try {
    const response = await fetch(path, options);
    const data = await response.json();
    if (response.ok) return data;
    say(data.error || `error ${response.status}`);
  } catch (error) {
    say(`the server does not answer (${error.message})`);
  }
  return null;
}

function say(text) {
  byId(game ? "message" : "start-message").textContent = text;
}

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

// One game.

async function enter(id) {
  const found = await call(`/api/games/${id}`);
  if (!found) {
    location.hash = "";
    return;
  }
  byId("start").hidden = true;
  byId("layout").hidden = false;
  game = null;
  byId("save-name").value = found.name;
  setOptions(byId("analyst"), found.agents.map((name) => [name]), byId("analyst").value,
    firstAnalyst(found.agents));
  view = new TableView(byId("table"), found.picture);
  view.svg.addEventListener("click", clicked);
  byId("view-of").replaceChildren(...found.seats.map((seat) =>
    element("option", { value: seat.player }, `${seat.player} ${seat.name}`)));
  analysis = analysis || new Analysis({
    game: () => game,
    go: (node) => change("go", { node }),
    ask: (agent, whole, search) => call(`/api/games/${game.id}/insight?agent=`
      + `${encodeURIComponent(agent)}&whole=${whole ? 1 : 0}&search=${search ? 1 : 0}`),
  });
  drawnLegal = "";
  analysis.forget();
  update(found);
  follow(id);
}

// Ask again and again; the server answers when there is news.
async function follow(id) {
  while (game && game.id === id) {
    let found = null;
    const began = performance.now();
    try {
      const response = await fetch(`/api/games/${id}?since=${game.version}`);
      if (response.status === 404) {
        if (game && game.id === id) {
          game.progress = [];
          drawProgress();
          say("the server no longer holds this game");
        }
        break;
      }
      found = await response.json();
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, 2000));
      continue;
    }
    if (found && game && game.id === id && found.version > game.version) update(found);
    else if (performance.now() - began < 5000) {
      // A server with many waiting answers at once.
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

// One request after the other; a second click on an action while the first is under way is none.
function change(what, body = {}) {
  if (busy && what === "act") return requests;
  requests = requests.then(() => send(what, body));
  return requests;
}

async function send(what, body) {
  if (!game) return;
  busy = true;
  document.body.classList.add("busy");
  closeChoice();
  byId("message").textContent = "";
  const found = await call(`/api/games/${game.id}/${what}`, body);
  busy = false;
  document.body.classList.remove("busy");
  if (found && found.version >= game.version) update(found);
  if (!found && game) {
    // What was refused is not shown as if it were so.
    byId("seats").dataset.game = "";
    drawSeats();
  }
}

function update(found) {
  const moved = !game || game.node !== found.node || game.line.length !== found.line.length;
  game = found;
  view.show(found.parts);
  const seat = found.seats[found.player];
  const who = seat.who === offers.human ? seat.name : `${seat.name} (${seat.who})`;
  byId("asks").textContent = found.over ? "The game is over." : found.thinking
    ? `${who} is thinking.` : `${who}: ${found.half_made ? "complete your move" : "your decision"}`;
  progressAt = performance.now();
  drawProgress();
  byId("message").textContent = found.message;
  byId("undo").disabled = !found.can_undo;
  byId("cancel").hidden = !found.half_made || Boolean(found.thinking);
  const agent = found.paused && seat.who !== offers.human && !found.over;
  byId("resume").hidden = !agent;
  byId("place").textContent = `${found.line.indexOf(found.node)} / ${found.line.length - 1}`;
  drawLegal();
  drawSeats();
  drawMoves();
  lineChart(byId("scores"), {
    series: found.seats.map((s) => ({ values: found.vp.map((vp) => vp[s.player]),
      colour: s.fill, name: String(s.player) })),
    length: found.line.length - 1, at: found.line.indexOf(found.node),
    pick: (n) => change("go", { node: game.line[n] }),
  });
  if (analysis.on && moved) analysis.refresh();
  else analysis.draw();
}

// What is being compiled, the seconds running.
function drawProgress() {
  if (!game) return;
  const more = (performance.now() - progressAt) / 1000;
  byId("progress").textContent = game.progress.map(({ text, seconds }) =>
    (seconds === null ? text : `${text}, ${Math.round(seconds + more)} s`)).join("; ");
}

const GROUPS = [
  ["mine", "Mine"], ["project", "Gaia project"], ["upgrade", "Upgrade"], ["pick", "Choose a place"],
  ["piece", "Build"], ["power", "Power action"], ["ship", "Ship action"], ["qic", "QIC action"],
  ["special", "Special action"], ["advance", "Research"], ["explore", "Shuttle"],
  ["artifact", "Artifact"], ["form_federation", "Federation"], ["commit", "Federation"],
  ["tile", "Tech tile"], ["advanced", "Advanced tile"], ["token", "Federation token"],
  ["leech", "Power offered"], ["income", "Income"], ["tinkering", "Tinkering tile"],
  ["booster", "Pass or take a booster"], ["pass", "Pass"], ["end_turn", "Turn"], ["skip", "Skip"],
  ["free", "Convert"],
];

// The pieces of the picture that stand for an action. A tile on a board is its owner's: to use, to
// cover, to score again; one that is taken lies in the supply.
function piecesOf(text) {
  const verb = text.split(" ")[0];
  const owned = { special: true, tile: game.asks === "COVER", token: game.asks !== "TOKEN" }[verb];
  return [...view.svg.querySelectorAll(`[data-action="${CSS.escape(text)}"]`)].filter((one) => {
    const board = one.closest('[id^="block-seat-"]');
    return owned ? board && board.id === `block-seat-${game.player}` : !board;
  });
}

function drawLegal() {
  // What is there stays while nothing else may be done: groups that were opened stay open.
  const key = JSON.stringify([game.node, game.legal]);
  if (key === drawnLegal) return;
  drawnLegal = key;
  const svg = view.svg;
  svg.querySelectorAll(".legal-cell, .legal-piece").forEach((one) =>
    one.classList.remove("legal-cell", "legal-piece", "hover"));
  byId("legal-panel").hidden = !game.legal.length;
  const groups = new Map(GROUPS.map(([verb, name]) => [verb, { name, actions: [] }]));
  for (const action of game.legal) {
    const [verb, argument] = action.text.split(" ");
    groups.get(verb).actions.push(action);
    const cell = argument && argument.includes(",") && svg.querySelector(`[data-cell="${argument}"]`);
    if (cell) cell.classList.add("legal-cell");
    piecesOf(action.text).forEach((one) => one.classList.add("legal-piece"));
  }
  const shown = [...groups.values()].filter((group) => group.actions.length);
  // Prices come a while after the choices: what was open then stays open.
  const same = byId("legal").dataset.node === `${game.id} ${game.node}`;
  const open = new Map([...byId("legal").children].map((one) => [one.dataset.group, one.open]));
  byId("legal").dataset.node = `${game.id} ${game.node}`;
  const held = byId("legal").contains(document.activeElement);
  byId("legal").replaceChildren(...shown.map(({ name, actions }) => {
    const many = actions.length > 6 && shown.length > 1;
    const wanted = same && open.has(name) ? open.get(name) : !many;
    return element("details", { open: wanted, "data-group": name },
      element("summary", {}, `${name}${actions.length > 1 ? ` (${actions.length})` : ""}`),
      ...actions.map(actionButton));
  }));
  // Who plays by the keyboard goes on where the list begins.
  const next = byId("legal").querySelector("summary, button");
  if (held && next) next.focus();
}

function actionButton(action) {
  const cell = (action.text.split(" ")[1] || "").includes(",") ? action.text.split(" ")[1] : "";
  const lit = () => (cell ? view.svg.querySelectorAll(`[data-cell="${cell}"]`) : piecesOf(action.text));
  return element("button", {
    type: "button", "data-text": action.text, title: action.text,
    onclick: () => act(action.text),
    onmouseenter: () => lit().forEach((one) => one.classList.add("hover")),
    onmouseleave: () => lit().forEach((one) => one.classList.remove("hover")),
  }, element("span", { class: "words" }, action.words), ...effectsLine(action.effects));
}

// What a choice costs and brings, as the server told it; a sign and a word beside the colour.
function effectsLine(found) {
  if (!found || !Object.keys(found).length) return [];
  const line = element("span", { class: "effects" });
  const add = (kind, sign, texts = []) => texts.forEach((text) =>
    line.append(element("span", { class: kind }, sign + text), " "));
  add("cost", "\u2212", found.costs);
  add("gain", "+", found.gains);
  add("note", "", [...(found.notes || []), ...(found.others || [])]);
  if (found.then) add("note", "\u2192 ", [found.then]);
  return [line];
}

const act = (text) => change("act", { action: text, node: game.node });

// A click on the picture: a legal cell or piece; where it could mean several things they are asked.
function clicked(event) {
  const cell = event.target.closest("[data-cell]") || cellUnder(event);
  const piece = event.target.closest("[data-action]");
  let found = [];
  if (piece) {
    found = game.legal.filter((a) => a.text === piece.dataset.action && piecesOf(a.text).includes(piece));
  }
  if (!found.length && cell) {
    found = game.legal.filter((a) => a.text.split(" ")[1] === cell.dataset.cell);
    const ship = cellShip(cell);
    if (!found.length && ship) found = game.legal.filter((a) => a.text === `explore ${ship}`);
  }
  if (found.length === 1) act(found[0].text);
  else if (found.length) openChoice(found, event);
  else closeChoice();
}

// The pieces lie over the cells: ask what cell is beneath them.
function cellUnder(event) {
  return document.elementsFromPoint(event.clientX, event.clientY)
    .find((one) => one.dataset && one.dataset.cell) || null;
}

function cellShip(cell) {
  const part = view.svg.querySelector(`[id="cell-${cell.id.slice(4)}"] [id^="ship-"]`);
  return part ? part.id.slice(5) : "";
}

function openChoice(actions, event) {
  const box = byId("choice");
  box.replaceChildren(...actions.map(actionButton));
  box.hidden = false;
  const most = { x: window.innerWidth - box.offsetWidth, y: window.innerHeight - box.offsetHeight };
  box.style.left = `${Math.max(4, Math.min(event.clientX, most.x - 8))}px`;
  box.style.top = `${Math.max(4, Math.min(event.clientY, most.y - 8))}px`;
  box.querySelector("button").focus();
}

function closeChoice() {
  byId("choice").hidden = true;
}

// The rows stay while the game goes on: an open list of names must not close under the hand.
function drawSeats() {
  if (byId("seats").dataset.game !== game.id) buildSeats();
  for (const seat of game.seats) {
    const row = byId("seats").querySelector(`[data-seat="${seat.player}"]`);
    row.classList.toggle("now", seat.player === game.player && !game.over);
    row.querySelector(".vp").textContent = `${seat.vp} VP`;
    const select = row.querySelector("select");
    if (select.dataset.who !== seat.who) {
      select.dataset.who = seat.who;
      select.value = seat.who;
    }
  }
}

function buildSeats() {
  const names = [offers.human, ...game.agents];
  byId("seats").dataset.game = game.id;
  byId("seats").replaceChildren(...game.seats.map((seat) => {
    const select = element("select", { "aria-label": `who plays ${seat.name}`,
      onchange: (event) => change("seat", { player: seat.player, who: event.target.value }) },
    ...names.map((name) => element("option", { value: name, selected: name === seat.who }, name)));
    return element("div", { class: "seat", "data-seat": seat.player }, disc(seat),
      element("span", { class: "name", title: seat.name }, seat.name), select,
      element("span", { class: "vp" }));
  }));
}

function drawMoves() {
  const list = byId("moves");
  const here = game.line.indexOf(game.node);
  const rows = [];
  let round = -1;
  game.moves.forEach((move, k) => {
    if (move.round !== round) {
      round = move.round;
      rows.push(element("li", { class: "round" }, round ? `Round ${round}` : "Set-up"));
    }
    const state = k + 1 === here ? "now" : k + 1 > here ? "later" : "";
    rows.push(element("li", { class: state, "data-node": move.node, title: move.text,
      onclick: () => change("go", { node: move.node }) },
    element("span", { class: "number" }, String(k + 1)), disc(game.seats[move.player]),
    element("span", { class: "what" }, move.words, ...toldLine(move))));
    for (const other of move.others) {
      rows.push(element("li", { class: "branch", "data-branch": other.node, tabindex: 0,
        onclick: () => change("go", { node: other.node }) }, `or: ${other.words}`));
    }
  });
  list.replaceChildren(...rows);
  const now = list.querySelector(".now");
  list.scrollTop = now ? now.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
}

// The line: the position some steps further on.
function along(step) {
  const here = game.line.indexOf(game.node);
  const to = Math.max(0, Math.min(game.line.length - 1, here + step));
  if (to !== here) change("go", { node: game.line[to] });
}

function seatInView(player) {
  view.seat(player);
  byId("view-of").value = view.first;
}

async function save() {
  const saved = await call(`/api/games/${game.id}/save`, { name: byId("save-name").value.trim() });
  if (saved) byId("message").textContent = `saved as ${saved.name}, ${saved.moves} moves`;
}

function takeBack() {
  if (game.can_undo) change("undo");
  else say("there is no decision of a person to take back");
}

function leave() {
  game = null;
  if (analysis) analysis.forget();
  byId("layout").hidden = true;
  byId("start").hidden = false;
  closeChoice();
  loadOffers();
}

function wire() {
  const buttons = {
    undo: takeBack, cancel: () => change("undo"), resume: () => change("resume"),
    first: () => along(-1e6), back: () => along(-1), forward: () => along(1),
    last: () => along(1e6), save, new: () => { location.hash = ""; },
    dice: () => { byId("seed").value = Math.floor(Math.random() * 2147483647); },
  };
  for (const [id, act_] of Object.entries(buttons)) byId(id).addEventListener("click", act_);
  byId("start").addEventListener("submit", begin);
  byId("ruleset").addEventListener("change", loadOffers);
  byId("record").addEventListener("change", fillChairs);
  byId("view-of").addEventListener("change", (event) => seatInView(Number(event.target.value)));
  const keys = {
    ArrowLeft: () => along(-1), ArrowRight: () => along(1), Home: () => along(-1e6),
    End: () => along(1e6), u: takeBack, v: () => seatInView(view.first + 1),
    m: wireWide(), Escape: closeChoice,
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("li[tabindex]")) event.target.click();
    const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
    if (!game || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const act_ = keys[event.key];
    if (act_) {
      event.preventDefault();
      act_();
    }
  });
  window.addEventListener("hashchange", route);
  setInterval(drawProgress, 1000);
}

function route() {
  const id = location.hash.slice(1);
  if (/^[0-9a-f]{12}$/.test(id)) {
    if (!game || game.id !== id) enter(id);
  } else leave();
}

async function main() {
  wire();
  await loadOffers();
  route();
}

main();
