"use strict";
// What may be done: kinds of choices, the choices of the kind that is open, and the places and
// pieces of the picture that stand for them.

const GROUPS = [
  ["mine", "Mine"], ["project", "Gaia project"], ["upgrade", "Upgrade"],
  ["pick", "Choose a place"], ["piece", "Build"], ["federation", "Federation"], ["advance", "Research"],
  ["power", "Power action"], ["qic", "QIC action"], ["ship", "Ship action"], ["special", "Special action"],
  ["explore", "Shuttle"], ["artifact", "Artifact"], ["tile", "Tech tile"], ["advanced", "Advanced tile"],
  ["token", "Federation token"], ["leech", "Power offered"], ["income", "Income"],
  ["tinkering", "Tinkering tile"], ["booster", "Booster"], ["free", "Convert"],
  // Found a moment later than the rest: last, so that nothing moves under a finger.
  ["way", "Action on a place"], ["reached", "After conversions"],
];
// Choices of their own: in view whatever kind is open.
const ALONE = ["end_turn", "skip", "pass", "commit"];
// So many are one list.
const FEW = 8;
// What of one's own stock stands for the conversions with it.
const STOCK = { credits: "C", ore: "O", knowledge: "K", qic: "Q", power: "P" };
let openKind = "";
let heldKind = ""; // where the keyboard was in the list, while others decide
let chosenFrom = ""; // the position that the choices in view are of

const verbOfText = (text) => text.split(" ")[0];
const cellOfText = (text) => ((text.split(" ")[1] || "").includes(",") ? text.split(" ")[1] : "");

// Everything that may be chosen: `kind`, `words`, `effects`; `texts`, the actions that it takes;
// `cell`, the place on the map that stands for it; `note`, `federation`: of what is no single action;
// `repeats`: the same several times.
function choicesNow() {
  const more = furtherNow();
  const whole = new Set(more.ways.map(({ actions }) => actions[0]).filter((text) => verbOfText(text) === "upgrade"));
  if (more.federations.length) whole.add("form_federation");
  const kindOf = (verb) => (verb === "form_federation" ? "federation" : verb);
  const out = game.legal.filter(({ text }) => !whole.has(text)).map(({ text, words, effects }) => ({
    kind: kindOf(verbOfText(text)), words, effects, texts: [text], cell: cellOfText(text),
    repeats: more.repeats[text] }));
  for (const { actions, words, effects, cell } of more.ways) {
    out.push({ kind: verbOfText(actions[0]) === "upgrade" ? "upgrade" : "way", words, effects, texts: actions, cell });
  }
  for (const one of more.federations) {
    out.push({ kind: "federation", words: federationWords(one), effects: one.effects, texts: one.actions,
      cell: "", federation: one });
  }
  for (const { first, first_words, text, words } of more.reached) {
    out.push({ kind: "reached", words, texts: [...first, text], cell: cellOfText(text), effects: null,
      note: `first ${first_words.join(", then ")}` });
  }
  return out;
}

// The pieces of the picture that stand for an action. A tile on a board is its owner's: to use, to
// cover, to score again; one that is taken lies in the supply.
function piecesOf(text) {
  const owned = { special: true, tile: game.asks === "COVER", token: game.asks !== "TOKEN" }[verbOfText(text)];
  return [...view.layout.querySelectorAll(`[data-action="${CSS.escape(text)}"]`)].filter((one) => {
    const board = one.closest('[id^="block-seat-"]');
    return owned ? board && board.id === `block-seat-${game.player}` : !board;
  });
}

function drawLegal() {
  // What is there stays while nothing else may be done.
  const key = JSON.stringify([game.node, game.legal, furtherNow().turn]);
  if (key === drawnLegal) return;
  drawnLegal = key;
  const position = `${game.id} ${game.node}`;
  if (chosenFrom !== position) openKind = "";
  chosenFrom = position;
  byId("legal-panel").hidden = !game.legal.length;
  const panel = byId("legal-panel");
  if (panel.contains(document.activeElement)) heldKind = document.activeElement.dataset.kind || "first";
  else if (document.activeElement !== document.body) heldKind = "";
  const all = choicesNow();
  const kinds = GROUPS.map(([kind, name]) => ({ kind, name, some: all.filter((one) => one.kind === kind) }))
    .filter(({ some }) => some.length);
  const folded = kinds.length > 1 && all.length > FEW;
  if (!folded || !kinds.some(({ kind }) => kind === openKind)) openKind = "";
  byId("kinds").replaceChildren(...(folded ? kinds.map(kindButton) : []));
  byId("legal").replaceChildren(
    ...all.filter(({ kind }) => ALONE.includes(kind)).map(choiceButton),
    ...kinds.map(({ kind, name, some }) => element("section", { "data-group": kind, "aria-label": name,
      hidden: folded && kind !== openKind },
    ...(folded || kinds.length < 2 ? [] : [element("h3", {}, name)]), ...some.map(choiceButton))));
  light(all);
  // Who plays by the keyboard goes on where the choices begin.
  if (heldKind && game.legal.length) (byId("kinds").querySelector(`[data-kind="${heldKind}"]`) || firstButton()).focus();
}

const firstButton = () => byId("legal-panel").querySelector("#kinds button, #legal > button,"
  + " #legal section:not([hidden]) button") || document.body;

function kindButton({ kind, name, some }) {
  return element("button", { type: "button", class: "kind", "data-kind": kind, "aria-controls": "legal",
    "aria-expanded": String(kind === openKind),
    onclick: (event) => openGroup(kind === openKind ? "" : kind, event.detail === 0) },
  name, element("small", {}, ` ${some.length}`));
}

// Show the choices of a kind, and light its places and pieces alone; none is open for "".
function openGroup(kind, byKey = false) {
  openKind = kind;
  for (const one of byId("kinds").children) one.setAttribute("aria-expanded", String(one.dataset.kind === kind));
  for (const one of byId("legal").querySelectorAll("section")) one.hidden = one.dataset.group !== kind;
  light(choicesNow());
  if (kind && byKey) byId("legal").querySelector("section:not([hidden]) button").focus();
}

// The places and pieces of the kind that is open, of all where none is.
function light(all) {
  view.layout.querySelectorAll(".legal-cell, .legal-piece, .convertible").forEach((one) =>
    one.classList.remove("legal-cell", "by-way", "legal-piece", "hover", "convertible"));
  const places = new Map(); // a cell, and whether one action alone goes there
  for (const { kind, texts, cell } of all) {
    if (kind === "reached" || (openKind && kind !== openKind)) continue;
    if (cell) places.set(cell, places.get(cell) || kind !== "way");
    if (texts.length === 1) piecesOf(texts[0]).forEach((one) => one.classList.add("legal-piece"));
  }
  for (const [cell, plain] of places) {
    const hex = view.svg.querySelector(`[data-cell="${cell}"]`);
    hex.classList.add("legal-cell");
    hex.classList.toggle("by-way", !plain);
  }
  for (const one of stockOf(game.player)) {
    one.classList.toggle("convertible", conversions(one.dataset.of).length > 0);
  }
  view.decks.mark([...view.decks.tabs].filter(([name, { panel }]) =>
    panel.querySelector(".legal-piece") || (name === "Play" && game.legal.length)).map(([name]) => name));
}

const stockOf = (player) => [...view.layout.querySelectorAll(`#block-seat-${player} .stock [data-of]`)];

// The conversions that pay with a resource or bring it.
function conversions(of) {
  const letter = STOCK[of];
  return game.legal.filter(({ text }) => verbOfText(text) === "free").filter(({ text }) => {
    const id = text.split(" ")[1];
    if (letter === "P" && !id.includes("_to_")) return true;
    return id.split("_to_").some((side) => side.replace(/\d/g, "")[0] === letter
      || (letter === "P" && ["T", "token"].includes(side.replace(/\d/g, ""))));
  });
}

function choiceButton(one) {
  if (!one.repeats) return buttonOf(one);
  const times = one.repeats.map(({ actions, effects }) => {
    const said = [...(effects.costs || []).map((text) => `\u2212${text}`), ...(effects.gains || []).map((text) => `+${text}`)];
    return element("button", { type: "button", "data-text": actions.join("; "), class: "times",
      "aria-label": `${one.words}, ${actions.length} times`, title: said.join(", "),
      onclick: () => take(actions) }, `\u00d7${actions.length}`);
  });
  return element("div", { class: "several" }, buttonOf(one), ...times);
}

function buttonOf(one) {
  const { texts, cell, federation } = one;
  const lit = (on) => {
    if (federation) markFederation(on ? federation : null);
    else if (texts.length === 1 && !cell) piecesOf(texts[0]).forEach((piece) => piece.classList.toggle("hover", on));
  };
  const first = verbOfText(texts[0]);
  return element("button", {
    type: "button", "data-text": texts.join("; "), "data-federation": federation ? texts.join("; ") : null,
    class: one.kind === "reached" ? "reached" : ALONE.includes(first) ? "alone" : "", title: texts.join("; "),
    "data-at": cell || (first === "explore" && texts[0].split(" ")[1]) || null, onclick: () => take(texts),
    onmouseenter: () => lit(true), onmouseleave: () => lit(false), onfocus: () => lit(true), onblur: () => lit(false),
  }, element("span", { class: "words" }, one.words), ...effectsLine(one.effects),
  ...(one.note ? [element("span", { class: "effects" }, element("span", { class: "note" }, one.note))] : []));
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

const act = (text) => take([text]);

// Actions that are taken as one; asked before, where a setting says so.
function take(texts) {
  if (!confirmed(texts[texts.length - 1])) return null;
  return change("act", texts.length > 1 ? { actions: texts, node: game.node } : { action: texts[0], node: game.node });
}

// A click on the picture: what stands for a choice makes it; where it could mean several things, or
// costs more than one action, they are asked.
function clicked(event) {
  const map = event.target.closest(".stage > svg");
  const cell = map && (event.target.closest("[data-cell]") || cellUnder(event));
  const piece = event.target.closest("[data-action]");
  const stock = event.target.closest(".convertible");
  const all = choicesNow();
  let found = [];
  if (stock) {
    const known = conversions(stock.dataset.of).map(({ text }) => text);
    found = all.filter(({ kind, texts }) => kind === "free" && known.includes(texts[0]));
    if (found.length) return openChoice(found, event);
  }
  if (piece) {
    found = all.filter(({ texts }) => texts.length === 1 && texts[0] === piece.dataset.action
      && piecesOf(texts[0]).includes(piece));
  }
  if (!found.length && cell) found = choicesAt(all, cell);
  if (found.length === 1 && found[0].texts.length === 1) return act(found[0].texts[0]);
  return found.length ? openChoice(found, event) : closeChoice();
}

// What may be done on a cell: of the kind that is open, else whatever; behind conversions where
// there is nothing else.
function choicesAt(all, cell) {
  const ship = cellShip(cell);
  const here = all.filter((one) => one.cell === cell.dataset.cell || (ship && one.texts[0] === `explore ${ship}`));
  const now = here.filter(({ kind }) => kind !== "reached");
  const open = here.filter(({ kind }) => kind === openKind);
  return open.length ? open : now.length ? now : here;
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

function openChoice(some, event) {
  const box = byId("choice");
  box.replaceChildren(...some.map(choiceButton));
  box.hidden = false;
  // A key has no place of its own.
  const of = event.target.getBoundingClientRect();
  const [x, y] = event.detail ? [event.clientX, event.clientY] : [of.left, of.bottom];
  const most = { x: window.innerWidth - box.offsetWidth, y: window.innerHeight - box.offsetHeight };
  box.style.left = `${Math.max(4, Math.min(x, most.x - 8))}px`;
  box.style.top = `${Math.max(4, Math.min(y, most.y - 8))}px`;
  box.querySelector("button").focus();
}

// The choices in front, the first of them under the keyboard.
function showChoices() {
  view.decks.show("Play");
  firstButton().focus();
}

function closeChoice() {
  byId("choice").hidden = true;
}

// Esc: what asks goes, then the kind that is open.
function stepOut() {
  if (!byId("choice").hidden) return closeChoice();
  const open = byId("kinds").querySelector(`[data-kind="${openKind}"]`);
  if (!open) return null;
  openGroup("");
  return open.focus();
}
