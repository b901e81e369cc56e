"use strict";
// What may be done: the list of choices, and the places and pieces of the picture that stand for them.

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
  return [...view.layout.querySelectorAll(`[data-action="${CSS.escape(text)}"]`)].filter((one) => {
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
  view.layout.querySelectorAll(".legal-cell, .legal-piece").forEach((one) =>
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
  view.decks.mark([...view.decks.tabs].filter(([name, { panel }]) =>
    panel.querySelector(".legal-piece") || (name === "Play" && game.legal.length)).map(([name]) => name));
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
  // Bowls have no sign: their words already say from what to what.
  const add = (kind, sign, texts = []) => texts.forEach((text) =>
    line.append(element("span", { class: kind }, (text.startsWith("power bowls") ? "" : sign) + text), " "));
  add("cost", "\u2212", found.costs);
  add("gain", "+", found.gains);
  add("note", "", [...(found.notes || []), ...(found.others || [])]);
  if (found.then) add("note", "\u2192 ", [found.then]);
  return [line];
}

const act = (text) => (confirmed(text) ? change("act", { action: text, node: game.node }) : null);

// A click on the picture: a legal cell or piece; where it could mean several things they are asked.
function clicked(event) {
  const map = event.target.closest(".stage > svg");
  const cell = map && (event.target.closest("[data-cell]") || cellUnder(event));
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

// The list of choices in front, the first of them under the keyboard.
function showChoices() {
  view.decks.show("Play");
  byId("legal").querySelector("button")?.focus();
}

function closeChoice() {
  byId("choice").hidden = true;
}
