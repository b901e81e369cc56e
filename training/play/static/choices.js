"use strict";
// Legal moves: kinds of choices, the choices of the open kind, and the places and pieces of the
// picture that represent them.

const GROUPS = [
  "mine", "project", "upgrade", "pick", "piece", "federation", "advance", "power", "qic", "ship", "special",
  "explore", "artifact", "tile", "advanced", "token", "leech", "income", "tinkering", "booster", "free",
  "way", "reached", // These arrive later: last, so that nothing moves under a finger.
];
// Choices without a kind: always in view, those that do nothing after all others.
const ALONE = ["end_turn", "commit", "skip", "pass"];
const EMPTY = ["skip", "pass"];
// Up to this many choices are one list, and so is the only kind of several choices. `SIDE`: kinds next
// to the main ones; `GROWING`: kinds of one choice that may have more later.
const FEW = 8;
const SIDE = ["free", "way", "reached"];
const GROWING = ["upgrade", "federation", "way", "reached"];
const isFoldable = ({ kind, choices }) => choices.length > 1 || GROWING.includes(kind);
// At most this many choices are in the tooltip of a place.
const MAX_TOOLTIPS = 5;
// Resources on the own board, with their letters in conversions.
const STOCK = { credits: "C", ore: "O", knowledge: "K", qic: "Q", power: "P" };
let openKind = "";
let heldKind = ""; // where the keyboard was in the list, while others decide
let chosenFrom = ""; // the position that the choices in view are of
let folds = null; // whether their kinds are folded, once there are any
let chosenPlace = null; // what a first tap has selected
let chosenFederation = "";

const cellOfText = (text) => ((text.split(" ")[1] || "").includes(",") ? text.split(" ")[1] : "");

// All choices: `kind`, `words`, `effects`; `texts`, its actions; `cell`, its place on the map; `note`
// and `federation` for combined actions; `several`: the same repeated, or a tile with each track of
// its step.
function choicesNow() {
  const more = furtherNow();
  const firsts = more.two_step_moves.map(({ actions }) => actions[0]);
  const replaced = new Set(firsts.filter((text) => verbOf(text) === "upgrade"));
  if (more.federations.length) replaced.add("form_federation");
  const kindOf = (verb) => (verb === "form_federation" ? "federation" : verb);
  const { left } = more;
  const out = game.legal.filter(({ text }) => !replaced.has(text)).map(({ text, words, effects }) => ({
    kind: kindOf(verbOf(text)), words, effects, texts: [text], cell: cellOfText(text),
    several: more.repeats[text] || more.tracks[text], note: text === "pass" ? left.text : noteOf(text) }));
  if (left.actions) {
    out.push({ kind: "pass", words: left.words, effects: left.effects, texts: left.actions, cell: "", note: left.more });
  }
  for (const { actions, words, effects, cell } of more.two_step_moves) {
    out.push({ kind: verbOf(actions[0]) === "upgrade" ? "upgrade" : "way", words, effects, texts: actions, cell });
  }
  for (const choice of more.federations) {
    out.push({ kind: "federation", words: federationWords(choice), effects: choice.effects, texts: choice.actions,
      cell: "", federation: choice });
  }
  for (const { first, first_words, text, words } of more.reached) {
    out.push({ kind: "reached", words, texts: [...first, text], cell: cellOfText(text), effects: null,
      note: say("first-conversions", { list: counted(first_words).join(say("then-next")) }) });
  }
  return out;
}

// The reason why a turn is not ended automatically although a setting allows it.
function noteOf(text) {
  const isOpenEnd = text === "end_turn" && game.settings.end_turn === "idle" && game.node === game.line[game.line.length - 1];
  return isOpenEnd ? say("not-ended") : "";
}

// The pieces of the picture that represent an action. A tile on a board is its owner's: to use, to
// cover, to score again; a tile to take is in the supply.
function piecesOf(text) {
  const owned = { special: true, tile: game.asks === "COVER", token: game.asks !== "TOKEN" }[verbOf(text)];
  return [...view.layout.querySelectorAll(`[data-action="${CSS.escape(text)}"]`)].filter((choice) => {
    const board = choice.closest('[id^="block-seat-"]');
    return owned ? board && board.id === `block-seat-${game.player}` : !board;
  });
}

function drawLegal() {
  // Redraw only if the choices changed.
  const key = JSON.stringify([game.node, game.legal, furtherNow().part, furtherTurn]);
  if (key === drawnLegal) return;
  drawnLegal = key;
  const [position, panel] = [`${game.id} ${game.node}`, byId("legal-panel")];
  if (chosenFrom !== position) {
    openKind = chosenFederation = "";
    folds = null;
    if (panel.checkVisibility()) panel.closest(".deck").scrollTop = 0;
  }
  const heldText = chosenFrom === position && document.activeElement.closest("#legal [data-text]")?.dataset.text;
  chosenFrom = position;
  panel.hidden = !game.legal.length;
  if (panel.contains(document.activeElement)) heldKind = document.activeElement.dataset.kind || "first";
  else if (document.activeElement !== document.body) heldKind = "";
  const all = choicesNow();
  const kinds = GROUPS.map((kind) => ({ kind, name: say(kind === "booster" && game.asks === "TURN" ? "kind-pass" : `kind-${kind}`),
    choices: all.filter((choice) => choice.kind === kind) }))
    .filter(({ choices }) => choices.length);
  // Choices that arrive later fold nothing that is in view.
  const foldable = kinds.filter(isFoldable);
  if (all.length) folds ??= foldable.filter(({ kind }) => !SIDE.includes(kind)).length > 1 && all.length > FEW;
  if (!folds || !foldable.some(({ kind }) => kind === openKind)) openKind = "";
  byId("kinds").replaceChildren(...(folds ? foldable.map(kindButton) : []));
  const isUseful = all.some(({ kind }) => ![...EMPTY, ...SIDE].includes(kind));
  const alone = all.filter(({ kind }) => ALONE.includes(kind));
  for (const choice of alone) choice.isMain = !EMPTY.includes(choice.kind) || !isUseful;
  const buttons = (isEmpty) => alone.filter(({ kind }) => EMPTY.includes(kind) === isEmpty).map(choiceButton);
  const section = (isFolding) => ({ kind, name, choices }) => element("section", { "data-group": kind, "aria-label": name,
    "data-folds": isFolding, hidden: isFolding && kind !== openKind },
  ...(folds || kinds.length < 2 ? [] : [element("h3", {}, name)]), ...choices.map(choiceButton));
  byId("legal").replaceChildren(...buttons(false), ...(folds ? foldable.map(section(true)) : []),
    ...kinds.filter((group) => !folds || !isFoldable(group)).map(section(false)), ...buttons(true));
  light(all);
  // Keyboard users continue at the first choice.
  const same = heldText && panel.querySelector(`[data-text="${CSS.escape(heldText)}"]`);
  if (same && same.checkVisibility()) same.focus();
  else if (heldKind && game.legal.length) (byId("kinds").querySelector(`[data-kind="${heldKind}"]`) || firstButton()).focus();
}

const firstButton = () => byId("legal-panel").querySelector("#kinds button, #legal > button,"
  + " #legal section:not([hidden]) button") || document.body;

function kindButton({ kind, name, choices }) {
  return element("button", { type: "button", class: "kind", "data-kind": kind, "aria-controls": "legal",
    "aria-expanded": String(kind === openKind),
    onclick: (event) => openGroup(kind === openKind ? "" : kind, event.detail === 0) },
  name, element("small", {}, ` ${choices.length}`));
}

// Show the choices of a kind and highlight only its places and pieces; "" closes all.
function openGroup(kind, byKey = false) {
  openKind = kind;
  for (const choice of byId("kinds").children) choice.setAttribute("aria-expanded", String(choice.dataset.kind === kind));
  for (const choice of byId("legal").querySelectorAll("[data-folds]")) choice.hidden = choice.dataset.group !== kind;
  const all = choicesNow();
  const federations = kind === "federation" ? all.map(({ federation }) => federation).filter(Boolean) : [];
  markFederation(federations.length === 1 ? federations[0] : null);
  light(all);
  const first = kind && byId("legal").querySelector(`[data-group="${kind}"] button`);
  if (first) first.scrollIntoView({ block: "nearest" });
  if (first && byKey) first.focus();
}

// Highlight the places of the open kind, or of all kinds, and every usable piece.
function light(all) {
  view.layout.querySelectorAll(".legal-cell, .legal-piece, .convertible").forEach((choice) =>
    choice.classList.remove("legal-cell", "by-way", "legal-piece", "hover", "convertible"));
  const places = new Map(); // a cell, and whether one action alone goes there
  for (const { kind, texts, cell } of all) {
    if (kind === "reached") continue;
    if (texts.length === 1) piecesOf(texts[0]).forEach((choice) => choice.classList.add("legal-piece"));
    if (cell && (!openKind || kind === openKind)) places.set(cell, places.get(cell) || kind !== "way");
  }
  for (const [cell, plain] of places) {
    const hex = view.svg.querySelector(`[data-cell="${cell}"]`);
    hex.classList.add("legal-cell");
    hex.classList.toggle("by-way", !plain);
  }
  for (const choice of stockOf(game.player)) {
    choice.classList.toggle("convertible", conversions(choice.dataset.of).length > 0);
  }
  view.decks.mark([...view.decks.tabs].filter(([name, { panel }]) =>
    panel.querySelector(".legal-piece") || (name === "Play" && game.legal.length)).map(([name]) => name));
}

const stockOf = (player) => [...view.layout.querySelectorAll(`#block-seat-${player} .stock [data-of]`)];

// The conversions that pay with a resource or bring it.
function conversions(of) {
  const letter = STOCK[of];
  return game.legal.filter(({ text }) => verbOf(text) === "free").filter(({ text }) => {
    const id = text.split(" ")[1];
    if (letter === "P" && !id.includes("_to_")) return true;
    return id.split("_to_").some((side) => side.replace(/\d/g, "")[0] === letter
      || (letter === "P" && ["T", "token"].includes(side.replace(/\d/g, ""))));
  });
}

function choiceButton(choice) {
  if (!choice.several) return buttonOf(choice);
  const times = choice.several.map(({ actions, effects, name }) => {
    const summary = [...(effects.costs || []).map((text) => `\u2212${text}`), ...(effects.gains || []).map((text) => `+${text}`)];
    return element("button", { type: "button", "data-text": actions.join("; "), class: "times",
      "aria-label": say("choice-times", { choice: choice.words, times: name || say("n-times", { n: actions.length }) }), title: summary.join(", "),
      onclick: () => take(actions) }, name || `\u00d7${actions.length}`);
  });
  return element("div", { class: `several${choice.kind === "tile" ? " tracks" : ""}` }, buttonOf(choice), ...times);
}

function buttonOf(choice) {
  const { texts, cell, federation } = choice;
  const highlight = (on) => {
    if (federation) markFederation(on ? federation : null);
    else if (texts.length === 1 && !cell) piecesOf(texts[0]).forEach((piece) => piece.classList.toggle("hover", on));
  };
  const first = verbOf(texts[0]);
  return element("button", {
    type: "button", "data-text": texts.join("; "), "data-federation": federation ? texts.join("; ") : null,
    class: choice.kind === "reached" ? "reached" : choice.isMain ? "alone" : "", title: texts.join("; "),
    "data-at": cell || (first === "explore" && texts[0].split(" ")[1]) || null,
    onclick: (event) => pressed(choice, event),
    onmouseenter: () => highlight(true), onmouseleave: () => highlight(false), onfocus: () => highlight(true), onblur: () => highlight(false),
  }, element("span", { class: "words" }, choice.kind === "booster" ? boosterWords(choice.words) : choice.words), ...effectsLine(choice.effects),
  ...noteLine(choice.note));
}

// The distinguishing part of a booster first: all have the same heading and an income. During a
// round, taking a booster is passing, so that comes before all.
function boosterWords(words) {
  const tile = words.slice(words.indexOf(": ") + 2);
  const label = new RegExp(`^(${say("labels-of-booster")}): (.*)$`);
  const summary = tile.split("; ").map((text) => text.replace(label, "$2 ($1)"));
  return `${game.asks === "TURN" ? say("pass-and-take") : ""}${[...summary.slice(1), summary[0]].join("; ")}`;
}

const noteLine = (text) => (text ? [element("span", { class: "effects" }, element("span", { class: "note" }, text))] : []);

// The cost and gain of a choice; signs and words, so that colour is not the only cue.
function effectsLine(options) {
  if (!options || !Object.keys(options).length) return [];
  const line = element("span", { class: "effects" });
  const add = (kind, sign, texts = []) => texts.forEach((text) =>
    line.append(element("span", { class: kind }, sign + text), " "));
  add("cost", "\u2212", options.costs);
  add("gain", "+", options.gains);
  add("note", "", [...(options.notes || []), ...(options.others || [])]);
  if (options.then) add("note", "\u2192 ", [options.then]);
  return [line];
}

// On a touch screen the first tap shows a federation, the second forms it.
function pressed({ texts, federation }, event) {
  const name = texts.join("; ");
  if (!federation || !touched(event) || chosenFederation === name) return take(texts);
  chosenFederation = name;
  for (const choice of document.querySelectorAll("[data-federation]")) {
    const chosen = choice.dataset.federation === name;
    choice.setAttribute("aria-pressed", String(chosen));
    choice.querySelector(".again")?.remove();
    if (chosen) choice.append(element("span", { class: "effects again" }, element("span", { class: "note" }, say("tap-to-form"))));
  }
  return markFederation(federation);
}

const act = (text) => take([text]);
const touched = (event) => event.detail > 0 && ["touch", "pen"].includes(event.pointerType || lastPointer);
let lastPointer = "mouse";
document.addEventListener("pointerdown", (event) => { lastPointer = event.pointerType; }, true);

// Take several actions as one, with a confirmation if a setting requires it.
async function take(texts) {
  const { node } = game;
  if (!await confirmed(texts) || !game) return null;
  return change("act", { actions: texts, node, branch: shown !== null });
}

// The target of an event: `options`, choices; `at`, the place or piece.
function targetOf(target, event) {
  const stock = target.closest(".convertible");
  const piece = target.closest("[data-action]");
  const cell = target.closest(".stage > svg") && (target.closest("[data-cell]") || (event && cellUnder(event)));
  if (!stock && !piece && !cell) return { options: [], at: null };
  const all = choicesNow();
  if (stock) {
    const conversionTexts = conversions(stock.dataset.of).map(({ text }) => text);
    const options = all.filter(({ kind, texts }) => kind === "free" && conversionTexts.includes(texts[0]));
    if (options.length) return { options, at: stock };
  }
  if (piece) {
    const options = all.filter(({ texts }) => texts.length === 1 && texts[0] === piece.dataset.action
      && piecesOf(texts[0]).includes(piece));
    if (options.length) return { options, at: piece };
  }
  return { options: cell ? choicesAt(all, cell) : [], at: cell };
}

// The tooltip of a place or piece: its choices with prices.
function tooltipOf(target, event) {
  if (!game || !game.legal.length || busy) return null;
  const { options, at } = targetOf(target, event);
  if (!options.length) return null;
  const lines = options.slice(0, MAX_TOOLTIPS).map((choice) => element("div", { class: "may" }, choice.words,
    ...(choice.effects === undefined ? [element("span", { class: "effects" }, element("span", { class: "note" },
      say("price-compiling")))] : effectsLine(choice.effects)), ...noteLine(choice.note)));
  if (options.length > 1) {
    lines.push(element("p", { class: "keys" }, say("choices-here", { n: options.length })));
  }
  return { at, lines };
}

// A click takes the only choice of a place, whose price the tooltip has shown. A first tap selects, a
// second one takes it. Several choices open a box.
function clicked(event) {
  const { options, at } = targetOf(event.target, event);
  if (!options.length) return closeChoice();
  const [choice] = options;
  const again = at === chosenPlace && !byId("choice").hidden;
  const isPriced = choice.effects && choice.kind !== "reached" && !touched(event);
  const needsMenu = at.matches(".convertible");
  pressedOn = at;
  if (options.length === 1 && !needsMenu && (again || isPriced)) return take(choice.texts);
  return openChoice(options, event, at);
}

// The choices of a cell: of the open kind, otherwise all; those after conversions only if there are
// no others.
function choicesAt(all, cell) {
  const ship = cellShip(cell);
  const onCell = all.filter((choice) => choice.cell === cell.dataset.cell || (ship && choice.texts[0] === `explore ${ship}`));
  const now = onCell.filter(({ kind }) => kind !== "reached");
  const open = onCell.filter(({ kind }) => kind === openKind);
  return open.length ? open : now.length ? now : onCell;
}

// Pieces cover cells: find the cell below the pointer.
function cellUnder(event) {
  return document.elementsFromPoint(event.clientX, event.clientY)
    .find((choice) => choice.dataset && choice.dataset.cell) || null;
}

function cellShip(cell) {
  const part = view.svg.querySelector(`[id="cell-${cell.id.slice(4)}"] [id^="ship-"]`);
  return part ? part.id.slice(5) : "";
}

// Next to the pressed element, without covering it if there is room.
function openChoice(choices, event, at) {
  const box = byId("choice");
  closeChoice();
  chosenPlace = at;
  if (at.dataset.cell) view.light([at.dataset.cell]);
  const more = touched(event) && choices.length === 1 ? [element("p", { class: "keys" }, say("tap-again"))] : [];
  box.replaceChildren(...choices.map(choiceButton), ...more);
  box.hidden = false;
  const of = at.getBoundingClientRect();
  const right = of.right + 6;
  placeBox(box, [[right, of.top, "x"], [right, of.bottom + 6], [right, of.top - box.offsetHeight - 6]]);
  box.querySelector("button").focus({ focusVisible: !event.detail });
}

// Bring the choices to the front and focus the first.
function showChoices() {
  view.decks.show("Play");
  firstButton().focus();
}

// The keyboard continues at the place of the box.
function closeChoice() {
  const box = byId("choice");
  const place = box.contains(document.activeElement) ? chosenPlace : null;
  box.hidden = true;
  chosenPlace = null;
  view?.light([]);
  place?.focus({ preventScroll: true });
}

// Esc: closes the box of choices, then the open kind.
function stepOut() {
  if (!byId("choice").hidden) return closeChoice();
  const open = byId("kinds").querySelector(`[data-kind="${openKind}"]`);
  if (!open) return null;
  openGroup("");
  return open.focus();
}
