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
// So many are told of one place before it is clicked.
const MOST_TOLD = 5;
// What of one's own stock stands for the conversions with it.
const STOCK = { credits: "C", ore: "O", knowledge: "K", qic: "Q", power: "P" };
let openKind = "";
let heldKind = ""; // where the keyboard was in the list, while others decide
let chosenFrom = ""; // the position that the choices in view are of
let folds = null; // whether their kinds are folded, once there are any
let chosenPlace = null; // what a first tap has selected
let chosenFederation = "";

const verbOfText = (text) => text.split(" ")[0];
const cellOfText = (text) => ((text.split(" ")[1] || "").includes(",") ? text.split(" ")[1] : "");

// Everything that may be chosen: `kind`, `words`, `effects`; `texts`, the actions that it takes;
// `cell`, the place on the map that stands for it; `note`, `federation`: of what is no single action;
// `several`: the same several times, or a tile with each track of its step.
function choicesNow() {
  const more = furtherNow();
  const whole = new Set(more.ways.map(({ actions }) => actions[0]).filter((text) => verbOfText(text) === "upgrade"));
  if (more.federations.length) whole.add("form_federation");
  const kindOf = (verb) => (verb === "form_federation" ? "federation" : verb);
  const { left } = more;
  const out = game.legal.filter(({ text }) => !whole.has(text)).map(({ text, words, effects }) => ({
    kind: kindOf(verbOfText(text)), words, effects, texts: [text], cell: cellOfText(text),
    several: more.repeats[text] || more.tracks[text], note: text === "pass" ? left.said : noteOf(text) }));
  if (left.actions) {
    out.push({ kind: "pass", words: left.words, effects: left.effects, texts: left.actions, cell: "", note: left.more });
  }
  for (const { actions, words, effects, cell } of more.ways) {
    out.push({ kind: verbOfText(actions[0]) === "upgrade" ? "upgrade" : "way", words, effects, texts: actions, cell });
  }
  for (const one of more.federations) {
    out.push({ kind: "federation", words: federationWords(one), effects: one.effects, texts: one.actions,
      cell: "", federation: one });
  }
  for (const { first, first_words, text, words } of more.reached) {
    out.push({ kind: "reached", words, texts: [...first, text], cell: cellOfText(text), effects: null,
      note: `first ${counted(first_words).join(", then ")}` });
  }
  return out;
}

// Why a turn is not ended by itself, where a setting would have ended it.
function noteOf(text) {
  const asked = text === "end_turn" && game.settings.end_turn === "idle" && game.node === game.line[game.line.length - 1];
  return asked ? "not ended by itself: a conversion first may make room for power that you could be offered" : "";
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
  const key = JSON.stringify([game.node, game.legal, furtherNow().part, furtherTurn]);
  if (key === drawnLegal) return;
  drawnLegal = key;
  const position = `${game.id} ${game.node}`;
  if (chosenFrom !== position) {
    openKind = chosenFederation = "";
    folds = null;
    const deck = byId("legal-panel").closest(".deck");
    if (byId("legal-panel").checkVisibility()) deck.scrollTop = 0;
  }
  const heldText = chosenFrom === position && document.activeElement.closest("#legal [data-text]")?.dataset.text;
  chosenFrom = position;
  byId("legal-panel").hidden = !game.legal.length;
  const panel = byId("legal-panel");
  if (panel.contains(document.activeElement)) heldKind = document.activeElement.dataset.kind || "first";
  else if (document.activeElement !== document.body) heldKind = "";
  const all = choicesNow();
  const kinds = GROUPS.map(([kind, name]) => ({ kind, name: kind === "booster" && game.asks === "TURN" ? "Pass" : name,
    some: all.filter((one) => one.kind === kind) }))
    .filter(({ some }) => some.length);
  // What is found later folds nothing that is in view.
  if (all.length) folds ??= kinds.length > 1 && all.length > FEW;
  const folded = kinds.length > 1 && folds;
  if (!folded || !kinds.some(({ kind }) => kind === openKind)) openKind = "";
  byId("kinds").replaceChildren(...(folded ? kinds.map(kindButton) : []));
  byId("legal").replaceChildren(
    ...all.filter(({ kind }) => ALONE.includes(kind)).map(choiceButton),
    ...kinds.map(({ kind, name, some }) => element("section", { "data-group": kind, "aria-label": name,
      hidden: folded && kind !== openKind },
    ...(folded || kinds.length < 2 ? [] : [element("h3", {}, name)]), ...some.map(choiceButton))));
  light(all);
  // Who plays by the keyboard goes on where the choices begin.
  const same = heldText && panel.querySelector(`[data-text="${CSS.escape(heldText)}"]`);
  if (same && same.checkVisibility()) same.focus();
  else if (heldKind && game.legal.length) (byId("kinds").querySelector(`[data-kind="${heldKind}"]`) || firstButton()).focus();
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
  const all = choicesNow();
  const groups = all.filter(({ federation }) => federation);
  if (kind === "federation" && groups.length === 1) markFederation(groups[0].federation);
  light(all);
  const first = kind && byId("legal").querySelector("section:not([hidden]) button");
  if (first) first.scrollIntoView({ block: "nearest" });
  if (first && byKey) first.focus();
}

// The places of the kind that is open, of all where none is; every piece that may be used.
function light(all) {
  view.layout.querySelectorAll(".legal-cell, .legal-piece, .convertible").forEach((one) =>
    one.classList.remove("legal-cell", "by-way", "legal-piece", "hover", "convertible"));
  const places = new Map(); // a cell, and whether one action alone goes there
  for (const { kind, texts, cell } of all) {
    if (kind === "reached") continue;
    if (texts.length === 1) piecesOf(texts[0]).forEach((one) => one.classList.add("legal-piece"));
    if (cell && (!openKind || kind === openKind)) places.set(cell, places.get(cell) || kind !== "way");
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
  if (!one.several) return buttonOf(one);
  const times = one.several.map(({ actions, effects, name }) => {
    const said = [...(effects.costs || []).map((text) => `\u2212${text}`), ...(effects.gains || []).map((text) => `+${text}`)];
    return element("button", { type: "button", "data-text": actions.join("; "), class: "times",
      "aria-label": `${one.words}, ${name || `${actions.length} times`}`, title: said.join(", "),
      onclick: () => take(actions) }, name || `\u00d7${actions.length}`);
  });
  return element("div", { class: `several${one.kind === "tile" ? " tracks" : ""}` }, buttonOf(one), ...times);
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
    class: one.kind === "reached" ? "reached" : ALONE.includes(one.kind) ? "alone" : "", title: texts.join("; "),
    "data-at": cell || (first === "explore" && texts[0].split(" ")[1]) || null,
    onclick: (event) => pressed(one, event),
    onmouseenter: () => lit(true), onmouseleave: () => lit(false), onfocus: () => lit(true), onblur: () => lit(false),
  }, element("span", { class: "words" }, one.kind === "booster" ? boosterWords(one.words) : one.words), ...effectsLine(one.effects),
  ...noteLine(one.note));
}

// What tells boosters apart comes first: all lie under one heading, and all have an income. At a
// turn the round is over with it, and that is said before all.
function boosterWords(words) {
  const tile = words.slice(words.indexOf("booster: ") + "booster: ".length);
  const said = tile.split("; ").map((text) => text.replace(/^(income|on passing|action): (.*)$/, "$2 ($1)"));
  return `${game.asks === "TURN" ? "pass and take: " : ""}${[...said.slice(1), said[0]].join("; ")}`;
}

const noteLine = (text) => (text ? [element("span", { class: "effects" }, element("span", { class: "note" }, text))] : []);

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

// A finger sees where a federation lies before it forms it.
function pressed({ texts, federation }, event) {
  const name = texts.join("; ");
  if (!federation || !touched(event) || chosenFederation === name) return take(texts);
  chosenFederation = name;
  for (const one of document.querySelectorAll("[data-federation]")) {
    const chosen = one.dataset.federation === name;
    one.setAttribute("aria-pressed", String(chosen));
    one.querySelector(".again")?.remove();
    if (chosen) one.append(element("span", { class: "effects again" }, element("span", { class: "note" }, "drawn on the map; tap again to form it")));
  }
  return markFederation(federation);
}

const act = (text) => take([text]);
const touched = (event) => event.detail > 0 && ["touch", "pen"].includes(event.pointerType || lastPointer);
let lastPointer = "mouse";
document.addEventListener("pointerdown", (event) => { lastPointer = event.pointerType; }, true);

// Actions that are taken as one; asked before, where a setting says so.
function take(texts) {
  if (!confirmed(texts[texts.length - 1])) return null;
  return change("act", texts.length > 1 ? { actions: texts, node: game.node } : { action: texts[0], node: game.node });
}

// What a place or a piece of the picture stands for: `found`, choices; `at`, the thing itself.
function meant(target, event) {
  const stock = target.closest(".convertible");
  const piece = target.closest("[data-action]");
  const cell = target.closest(".stage > svg") && (target.closest("[data-cell]") || (event && cellUnder(event)));
  if (!stock && !piece && !cell) return { found: [], at: null };
  const all = choicesNow();
  if (stock) {
    const known = conversions(stock.dataset.of).map(({ text }) => text);
    const found = all.filter(({ kind, texts }) => kind === "free" && known.includes(texts[0]));
    if (found.length) return { found, at: stock };
  }
  if (piece) {
    const found = all.filter(({ texts }) => texts.length === 1 && texts[0] === piece.dataset.action
      && piecesOf(texts[0]).includes(piece));
    if (found.length) return { found, at: piece };
  }
  return { found: cell ? choicesAt(all, cell) : [], at: cell };
}

// What is told at the pointer: what may be done there, with prices.
function toldOf(target, event) {
  if (!game || !game.legal.length || busy) return null;
  const { found, at } = meant(target, event);
  if (!found.length) return null;
  const lines = found.slice(0, MOST_TOLD).map((one) => element("div", { class: "may" }, one.words,
    ...(one.effects === undefined ? [element("span", { class: "effects" }, element("span", { class: "note" },
      "its price is being compiled"))] : effectsLine(one.effects)), ...noteLine(one.note)));
  if (found.length > 1) {
    lines.push(element("p", { class: "keys" }, `${found.length} choices here; you are asked which`));
  }
  return { at, lines };
}

// A click on the picture makes the choice that is there alone, its price was told at the pointer.
// A finger selects first, and a second tap makes it; where there are several they are asked.
function clicked(event) {
  const { found, at } = meant(event.target, event);
  if (!found.length) return closeChoice();
  const [one] = found;
  const again = at === chosenPlace && !byId("choice").hidden;
  const told = one.effects && one.kind !== "reached" && !touched(event);
  const asked = at.matches(".convertible");
  pressedOn = at;
  if (found.length === 1 && !asked && (again || told)) return take(one.texts);
  return openChoice(found, event, at);
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

// Beside what was pressed, never over it where there is room.
function openChoice(some, event, at) {
  const box = byId("choice");
  closeChoice();
  chosenPlace = at;
  if (at.dataset.cell) view.light([at.dataset.cell]);
  const more = touched(event) && some.length === 1 ? [element("p", { class: "keys" }, "Tap it again, or here.")] : [];
  box.replaceChildren(...some.map(choiceButton), ...more);
  box.hidden = false;
  const of = at.getBoundingClientRect();
  const right = of.right + 6;
  placeBox(box, [[right, of.top, "x"], [right, of.bottom + 6], [right, of.top - box.offsetHeight - 6]]);
  box.querySelector("button").focus({ focusVisible: !event.detail });
}

// The choices in front, the first of them under the keyboard.
function showChoices() {
  view.decks.show("Play");
  firstButton().focus();
}

function closeChoice() {
  byId("choice").hidden = true;
  chosenPlace = null;
  view?.light([]);
}

// Esc: what asks goes, then the kind that is open.
function stepOut() {
  if (!byId("choice").hidden) return closeChoice();
  const open = byId("kinds").querySelector(`[data-kind="${openKind}"]`);
  if (!open) return null;
  openGroup("");
  return open.focus();
}
