"use strict";
// The table, shared by the replay page, the review and the table in the browser. Python draws map
// and panels; this script lays them out and replaces their parts.

const SVG_NS = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const out = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") out.className = value;
    else if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
    else if (value === true) out.setAttribute(key, "");
    else if (value !== false && value !== null) out.setAttribute(key, value);
  }
  out.append(...children);
  return out;
}

function shape(tag, attributes = {}, text = null) {
  const out = document.createElementNS(SVG_NS, tag);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  if (text !== null) out.textContent = text;
  return out;
}

// A value that this browser keeps under a key, as JSON; `fallback` where it keeps none.
function stored(key, fallback = null, storage = () => localStorage) {
  try {
    return JSON.parse(storage().getItem(key)) ?? fallback;
  } catch (error) {
    return fallback; // the browser stores nothing
  }
}

function store(key, value, storage = () => localStorage) {
  try {
    storage().setItem(key, JSON.stringify(value));
  } catch (error) { /* the browser stores nothing */ }
}

// Calls `keys[event.key]()`, unless a modifier is held or `ignores(event)`.
function onKeys(keys, ignores) {
  document.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || ignores(event)) return;
    event.preventDefault();
    action();
  });
}

// Up and down move the focus within a list or board, and Tab leaves it.
const LISTS = '[id^="block-"], #kinds, #legal, #choices, #since';
document.addEventListener("keydown", (event) => {
  const list = event.target.closest?.(LISTS);
  const step = { Tab: 0, ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!list || step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  const items = [...list.querySelectorAll("button:not(:disabled), summary")].filter((item) => item.checkVisibility());
  if (step && !items.includes(event.target)) return;
  if (step) {
    event.preventDefault();
    event.stopPropagation();
    items.at((items.indexOf(event.target) + step) % items.length)?.focus();
    return;
  }
  items.forEach((item) => { item.tabIndex = -1; });
  list.addEventListener("focusout", () => items.forEach((item) => { item.tabIndex = 0; }), { once: true });
}, true);

// Moves a fixed box next to a rectangle: the first of the places `[left, top]` that fits the window.
function placeBox(box, places) {
  const [x, y] = [window.innerWidth - box.offsetWidth - 4, window.innerHeight - box.offsetHeight - 4];
  const fits = ([left, top, axis]) => (axis === "x" ? left >= 4 && left <= x : top >= 4 && top <= y);
  const [left, top] = places.find(fits) || places[places.length - 1];
  box.style.left = `${Math.max(4, Math.min(left, x))}px`;
  box.style.top = `${Math.max(4, Math.min(top, y))}px`;
}

// Decodes embedded JSON: compressed, in base 64.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// `changes` has the decisions after which a part changed; the last one up to n applies.
function bodyAt(changes, n) {
  let [low, high] = [0, changes.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (changes[middle][0] <= n) low = middle; else high = middle - 1;
  }
  return changes[low][1];
}

// Panels of every page with their blocks; a page adds its own (`section[data-tab]`).
const PANELS = [["Research", ["research"]], ["Actions", ["actions"]],
  ["Supply", ["rounds", "boosters", "tokens"]], ["Players", []]];

// Decks of panels with tabs. The first of PANELS is always in view on a large screen. With enough room
// each deck shows one panel (`on`); on a small screen the last chosen panel covers both.
class Decks {
  constructor(layout) {
    this.layout = layout;
    this.tabs = new Map();
  }

  add(deck, name, panel) {
    panel.classList.add("panel");
    panel.id = panel.id || `panel-${name.toLowerCase()}`;
    const always = name === PANELS[0][0];
    panel.toggleAttribute("data-always", always);
    const tab = element("button", { type: "button", "aria-pressed": "false", "data-tab": name,
      "data-always": always, "data-rare": panel.dataset.rare !== undefined,
      onclick: () => this.show(name) }, say(`tab-${name.toLowerCase()}`));
    this.layout.querySelector(`.tabs.${deck}`).append(tab);
    this.layout.querySelector(`.deck.${deck}`).append(panel);
    this.tabs.set(name, { deck, panel, tab });
    if (![...this.tabs.values()].some((item) => item.deck === deck && item.panel.classList.contains("on"))) {
      panel.classList.add("on");
    }
    return panel;
  }

  // On a narrow screen rarely used tabs are hidden under one more tab, which swaps them with the others.
  more(isOpen = !this.layout.classList.contains("more")) {
    this.layout.classList.toggle("more", isOpen);
    this.layout.querySelector(".more-tabs")?.setAttribute("aria-expanded", String(isOpen));
    this.mark();
  }

  show(name) {
    const entry = this.tabs.get(name);
    for (const item of this.tabs.values()) {
      if (item.deck === entry.deck) item.panel.classList.toggle("on", item === entry);
      item.panel.classList.toggle("front", item === entry);
    }
    this.more(entry.tab.hasAttribute("data-rare"));
    entry.panel.parentElement.scrollTop = 0;
    entry.panel.dispatchEvent(new Event("shown"));
    this.layout.dispatchEvent(new Event("tab"));
  }

  // A wide screen has a second panel below the first one, and the players below the own board.
  fill(isWide) {
    const [first, second, players] = ["Research", "Actions", "Players"].map((name) => this.tabs.get(name));
    players.tab.hidden = isWide;
    if (!isWide || ![first, players].some(({ panel }) => panel.classList.contains("on"))) return;
    for (const { deck, panel } of this.tabs.values()) if (deck === "board") panel.classList.toggle("on", panel === second.panel);
  }

  // Mark the tabs in view, and those with something usable (`called`: their names).
  mark(called = null) {
    for (const [name, { panel, tab }] of this.tabs) {
      const first = panel.querySelector(":scope > :not([hidden])"); // not what a large screen shows of the log
      tab.setAttribute("aria-pressed", String(Boolean(first?.offsetParent)));
      if (!called) continue;
      // The dot as text: for the pointer, the focus and screen readers.
      const on = tab.classList.toggle("called", called.includes(name));
      for (const attribute of ["data-words", "aria-description"]) {
        if (on) tab.setAttribute(attribute, say("usable-here"));
        else tab.removeAttribute(attribute);
      }
    }
  }
}

// Pieces of players on the map, and how they glide there: for GLIDE ms, at most MOST_GLIDING at once.
const PIECES = ["structure", "gaiaformer", "satellite", "station", "guest"].map((kind) => `[id^="${kind}-"]`).join();
const GLIDE = 320;
const MOST_GLIDING = 6;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

class TableView {
  // `layout`: its `section[data-tab]` go into the second deck; `picture`: the result of
  // `panels.frame` for some position of the game.
  constructor(layout, picture) {
    this.layout = layout;
    this.shown = new Map();
    this.changedPieces = [];
    this.first = 0;
    this.desk = matchMedia("(min-width: 1000px) and (min-height: 560px)");
    this.wide = matchMedia("(min-width: 1700px) and (min-height: 900px)");
    layout.view = this;
    if (!layout.querySelector(".stage")) this.build();
    this.decks = layout.decks;
    this.fill(picture);
  }

  // Once for a layout: its listeners act on the view of the table that it shows.
  build() {
    const { layout } = this;
    const own = [...layout.querySelectorAll(":scope > section[data-tab]")];
    layout.prepend(
      element("header", { class: "head block", id: "block-head" }),
      element("div", { class: "strip" }),
      element("div", { class: "stage" }),
      element("div", { class: "own", "aria-label": say("your-board"), role: "region" }),
      element("nav", { class: "tabs play", "aria-label": say("what-to-do") }),
      element("nav", { class: "tabs board", "aria-label": say("the-table") }),
      element("div", { class: "deck play" }), element("div", { class: "deck board" }));
    const decks = new Decks(layout);
    layout.decks = decks;
    own.forEach((panel) => decks.add("play", panel.dataset.tab, panel));
    for (const [name, blocks] of PANELS) {
      decks.add("board", name, element("section", { "aria-label": say(`tab-${name.toLowerCase()}`) },
        ...blocks.map((block) => element("div", { id: `block-${block}`, class: "block" }))));
    }
    if (layout.querySelector("[data-rare]")) {
      layout.querySelector(".tabs.board").append(element("button", { type: "button", class: "more-tabs",
        "aria-expanded": "false", onclick: () => decks.more() }, say("more-tabs")));
    }
    layout.help = new Help(layout, () => layout.pages, (target, event) => layout.more?.(target, event) || null);
    // Highlight the places that an element names, at the pointer and at the focus.
    for (const [over, out] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
      layout.addEventListener(over, (event) => {
        const marker = event.target.closest("[data-at]");
        if (marker) layout.view.light(marker.dataset.at.split(" "));
      });
      layout.addEventListener(out, (event) => event.target.closest("[data-at]") && layout.view.light([]));
    }
    const board = layout.querySelector(".own");
    new ResizeObserver(() => board.offsetHeight > layout.view.kept && layout.view.keep(board.offsetHeight)).observe(board);
    layout.addEventListener("folded", () => layout.view.keep(0));
    decks.show(own[0].dataset.tab);
    for (const size of [this.desk, this.wide]) size.addEventListener("change", () => layout.view.arrange());
    window.addEventListener("resize", () => {
      layout.view.keep(0);
      decks.mark();
    });
    this.arrange();
  }

  // Own boards never shrink: otherwise the map would change its size with them.
  keep(height) {
    this.kept = height;
    this.layout.querySelector(".own").style.minHeight = height ? `${height}px` : "";
  }

  // On a desktop, round tiles and missions have a strip of their own.
  arrange() {
    const rounds = this.layout.querySelector("#block-rounds");
    if (this.desk.matches) this.layout.querySelector(".strip").append(rounds);
    else this.layout.decks.tabs.get("Supply").panel.prepend(rounds);
    this.layout.decks.fill(this.wide.matches);
    if (this.seats) this.seat(this.first);
    this.layout.decks.mark();
  }

  fill({ map, defs, blocks, colours, help }) {
    const { layout } = this;
    layout.pages = help;
    const stage = layout.querySelector(".stage");
    stage.innerHTML = map + defs;
    this.svg = stage.querySelector("svg");
    tidy(this.svg);
    this.zoom = new Zoom(stage, this.svg);
    const button = (text, words, act) => element("button", { type: "button", "aria-label": words,
      onclick: act }, text);
    stage.append(element("div", { class: "zoom" }, button("+", say("zoom-in"), () => this.zoom.by(1.5)),
      button("\u2212", say("zoom-out"), () => this.zoom.by(1 / 1.5)),
      button("\u2922", say("whole-map"), () => this.zoom.reset()),
      element("button", { type: "button", class: "names", "aria-pressed": "false", "aria-label": say("coordinates"),
        onclick: (event) => this.coordinates(event.currentTarget) }, "q,r")));
    const players = layout.decks.tabs.get("Players").panel;
    players.replaceChildren();
    layout.querySelector(".own").replaceChildren();
    this.seats = colours.map(([fill, ink], p) => {
      layout.style.setProperty(`--fill-${p}`, fill);
      layout.style.setProperty(`--ink-${p}`, ink);
      return seatBoard(p, fill);
    });
    players.append(...this.seats);
    for (const [name, html] of Object.entries(blocks)) {
      const block = layout.querySelector(`[id="block-${name}"]`);
      if (block && !name.startsWith("seat-")) block.innerHTML = html;
    }
    for (const name of ["actions", "boosters", "tokens"]) {
      if (!(name in blocks)) layout.querySelector(`#block-${name}`).replaceChildren();
    }
    this.seats.forEach((seat, p) => {
      const entry = element("div");
      entry.innerHTML = blocks[`seat-${p}`];
      seat.querySelector(".seat-head").prepend(entry.querySelector(`#part-seat-${p}-line`));
      seat.append(entry.querySelector(`#part-seat-${p}-rest`));
    });
    this.seat(0);
    this.keep(0);
    this.zoom.show();
  }

  // Show the coordinates of all cells, as in choices and log; zooms in on a small map.
  coordinates(button) {
    const stage = this.layout.querySelector(".stage");
    const on = stage.classList.toggle("named");
    button.setAttribute("aria-pressed", String(on));
    if (on && stage.classList.contains("far")) this.zoom.by(0.62 / this.zoom.scale());
    const map = this.svg.querySelector("#block-map");
    if (map.querySelector(".coordinate")) return;
    this.svg.querySelectorAll("[data-cell]").forEach((cell) => {
      const { x, y, width, height } = cell.getBBox();
      const text = shape("text", { class: "coordinate", "text-anchor": "middle" });
      cell.dataset.cell.split(",").forEach((number, k) => text.append(shape("tspan",
        { x: x + width / 2, y: y + height / 2, dy: k ? "0.95em" : "-0.1em" }, number)));
      map.append(text);
    });
  }

  // The cell of a place, `q,r` or a ship; null for none.
  cellAt(place) {
    const at = place.includes(",") ? place : cellOfShip(this, place);
    return at && this.svg.querySelector(`[data-cell="${at}"]`);
  }

  // A circle about the centre of a cell, its radius a share of the cell's width.
  circle(cell, share, attributes) {
    const { x, y, width, height } = this.svg.querySelector(`[data-cell="${cell}"]`).getBBox();
    this.svg.querySelector("#block-map").append(shape("circle",
      { cx: x + width / 2, cy: y + height / 2, r: width * share, ...attributes }));
  }

  // The parts after n decisions; each has the decisions after which it changed.
  draw(parts, n) {
    for (const [block, changed] of Object.entries(parts)) {
      for (const [id, changes] of Object.entries(changed)) this.put(block, id, bodyAt(changes, n));
    }
    this.glide();
  }

  // Draw a ring on each of these cells or ships.
  light(places) {
    this.svg.querySelectorAll(".over-look").forEach((item) => item.remove());
    for (const place of places) {
      const cell = this.cellAt(place);
      if (!cell) continue;
      for (const ring of ["edge", "ring"]) {
        this.svg.querySelector("#block-map").append(shape("polygon", {
          points: cell.getAttribute("points"), class: `over-look ${ring}` }));
      }
    }
  }

  // Draw a text on each of these cells or ships, by place.
  mark(texts) {
    for (const [place, label] of Object.entries(texts)) {
      const cell = this.cellAt(place);
      if (!cell) continue;
      const { x, y, width, height } = cell.getBBox();
      this.svg.querySelector("#block-map").append(shape("text", { class: "mark", x: x + width / 2,
        y: y + height / 8, "text-anchor": "middle", "dominant-baseline": "central" }, label));
    }
  }

  part(id) {
    return this.layout.querySelector(`[id="part-${id}"]`);
  }

  // Replace parts by block and id; parts missing from a block are emptied.
  show(blocks) {
    for (const [block, parts] of Object.entries(blocks)) {
      for (const [id, body] of Object.entries(parts)) this.put(block, id, body);
    }
    for (const [id, body] of this.shown) {
      const block = id.split("/", 1)[0];
      const name = id.slice(block.length + 1);
      if (body && blocks[block] && !(name in blocks[block])) this.put(block, name, "");
    }
    this.glide();
  }

  put(block, id, body) {
    const key = `${block}/${id}`;
    if (this.shown.get(key) === body) return;
    let part = this.part(id);
    if (!part) {
      part = shape("g", { id: `part-${id}` });
      // The mark of the last move stays above the cells.
      this.svg.querySelector("#block-map").insertBefore(part, this.part("last"));
    }
    // Keep the keyboard focus.
    const focusedId = part.contains(document.activeElement) && document.activeElement.id;
    const before = new Map([...part.querySelectorAll(PIECES)].map((piece) => [piece.id, piece.innerHTML]));
    part.innerHTML = body;
    if (focusedId) document.getElementById(focusedId)?.focus();
    if (block === "map") tidy(part);
    for (const piece of part.querySelectorAll(PIECES)) {
      if (before.get(piece.id) !== piece.innerHTML) this.changedPieces.push([piece, before.has(piece.id)]);
    }
    this.shown.set(key, body);
  }

  // New pieces glide from the board of their player to their place, changed ones fade in there. After
  // a jump to another position, which changes many, all stay still.
  glide() {
    const changed = this.changedPieces.splice(0).filter(([piece]) => piece.isConnected);
    if (changed.length > MOST_GLIDING || stillness.matches) return;
    const middle = ({ left, top, width, height }) => [left + width / 2, top + height / 2];
    for (const [piece, wasThere] of changed) {
      const board = this.seats[Number(piece.querySelector("text")?.textContent) - 1];
      const from = middle((board?.checkVisibility() ? board : this.layout.querySelector(".own")).getBoundingClientRect());
      const [x, y] = middle(piece.getBoundingClientRect()).map((to, k) => (from[k] - to) / this.zoom.scale());
      piece.animate([{ opacity: 0, transform: wasThere ? "none" : `translate(${x}px, ${y}px)` },
        { opacity: 1, transform: "none" }], { duration: GLIDE, easing: "ease-out" });
    }
  }

  // Show the board of this player as the own one; the others follow in turn order.
  seat(first) {
    const count = this.seats.length;
    this.first = ((first % count) + count) % count;
    const players = this.layout.decks.tabs.get("Players").panel;
    const inTurn = this.seats.map((_, k) => this.seats[(this.first + k) % count]);
    const inView = this.wide.matches ? count : 1;
    this.layout.querySelector(".own").replaceChildren(...inTurn.slice(0, inView));
    players.replaceChildren(...inTurn.slice(inView));
    // On a desktop the own board is unfolded.
    inTurn.forEach((seat, k) => unfold(seat, !k && this.desk.matches));
  }
}

// The help replaces tooltips; labels use the width that they need, on a small map that of their cell.
function tidy(part) {
  part.querySelectorAll("title").forEach((title) => {
    title.parentElement.dataset.words = title.textContent;
    title.remove();
  });
  part.querySelectorAll("text[textLength]").forEach((text) => {
    const box = Number(text.getAttribute("x")) + Number(text.getAttribute("textLength")) / 2;
    text.setAttribute("x", box);
    text.setAttribute("text-anchor", "middle");
    text.removeAttribute("textLength");
    const name = text.textContent;
    const length = /[^ -~]/.test(name) ? 2 : 3;
    text.replaceChildren(name.slice(0, length), shape("tspan", { class: "rest" }, name.slice(length)));
  });
}

function seatBoard(p, fill) {
  const board = element("div", { class: "seat-board", id: `block-seat-${p}` });
  board.style.setProperty("--fill", fill);
  board.append(element("div", { class: "seat-head" }, element("button", { type: "button", class: "fold",
    "aria-expanded": "false", "aria-label": say("whole-board"),
    onclick: () => {
      unfold(board, !board.classList.contains("open"));
      board.dispatchEvent(new Event("folded", { bubbles: true }));
    } }, "\u25be")));
  return board;
}

function unfold(board, isOpen) {
  board.classList.toggle("open", isOpen);
  const fold = board.querySelector(".fold");
  fold.setAttribute("aria-expanded", String(isOpen));
  fold.textContent = isOpen ? "\u25b4" : "\u25be";
}

// Players are numbered 1 to 4 on pages, from 0 on the server.
const seatNumber = (seat) => String(seat.player + 1);

// With the emblem of the faction where it introduces a player.
function disc(seat, withEmblem = false) {
  const out = element("span", { class: "disc", title: seat.name }, seatNumber(seat));
  if (withEmblem) {
    out.append(shape("svg", { class: "i", "aria-hidden": "true" }));
    out.lastChild.append(shape("use", { href: `#g-${seat.faction}` }));
  }
  out.style.background = seat.fill;
  out.style.color = seat.ink;
  return out;
}

// The cost and gain of a move, as a line; none for a move that changed nothing.
function effectsNote(move) {
  return move.effects_text ? [element("small", { class: "effects-text" }, move.effects_text)] : [];
}

