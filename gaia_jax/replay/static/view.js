"use strict";
// The picture of a table, and charts: shared by the replay page and the table in the browser. The
// picture is drawn on the Python side; here its parts are put in place.

const SVG_NS = "http://www.w3.org/2000/svg";

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

// What a page embeds: JSON that is compressed and in base 64.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Each part has the decisions after which it changed; the last one up to now holds.
function bodyAt(changes, n) {
  let [low, high] = [0, changes.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (changes[middle][0] <= n) low = middle; else high = middle - 1;
  }
  return changes[low][1];
}

class TableView {
  // `picture`: the whole SVG of some position of the game.
  constructor(holder, picture) {
    this.holder = holder;
    holder.innerHTML = picture;
    this.svg = holder.querySelector("svg");
    this.svg.removeAttribute("width");
    this.svg.removeAttribute("height");
    this.shown = new Map();
    this.places = [];
    for (let p = 0; this.block(p); p++) this.places.push(this.block(p).getAttribute("transform"));
    this.first = 0;
  }

  block(player) {
    return this.svg.querySelector(`#block-seat-${player}`);
  }

  part(id) {
    return this.svg.querySelector(`[id="part-${id}"]`);
  }

  // Parts by block and id; what a block no longer has is emptied.
  show(blocks) {
    for (const [block, parts] of Object.entries(blocks)) {
      for (const [id, body] of Object.entries(parts)) this.put(block, id, body);
    }
    for (const [id, body] of this.shown) {
      const block = id.split("/", 1)[0];
      const name = id.slice(block.length + 1);
      if (body && blocks[block] && !(name in blocks[block])) this.put(block, name, "");
    }
  }

  put(block, id, body) {
    const key = `${block}/${id}`;
    if (this.shown.get(key) === body) return;
    let part = this.part(id);
    if (!part) {
      part = shape("g", { id: `part-${id}` });
      const holder = this.svg.querySelector(`[id="block-${block}"]`);
      // The mark of the last move stays above the cells.
      holder.insertBefore(part, block === "map" ? this.part("last") : null);
    }
    part.innerHTML = body;
    this.shown.set(key, body);
  }

  // The board of this player comes first, the others in turn.
  seat(first) {
    const count = this.places.length;
    this.first = ((first % count) + count) % count;
    for (let p = 0; p < count; p++) {
      this.block(p).setAttribute("transform", this.places[(p - this.first + count) % count]);
    }
  }
}

// The buttons that hide the column and show it again; gives what switches between the two.
function wireWide() {
  const [layout, wide, narrow] = ["layout", "wide", "narrow"].map((id) => document.getElementById(id));
  const toggle = () => layout.classList.toggle("wide");
  wide.addEventListener("click", () => { toggle(); narrow.focus(); });
  narrow.addEventListener("click", () => { toggle(); wide.focus(); });
  return toggle;
}

// Lines over the decisions of a game. `series`: [{values, colour, name, dash}], values may have
// holes (null). `bands`: [{at, name}] marks, such as the rounds. `tight`: the axis need not have 0.
function lineChart(holder, { series, length, at, bands = [], pick = null, tight = false }) {
  const [width, height, left, top, bottom, right] = [300, 130, 30, 6, 14, 12];
  const all = series.flatMap((s) => s.values).filter((v) => v !== null);
  const [least, most] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  const low = tight ? Math.floor(least) : Math.min(0, least);
  const high = Math.max(low + 1, Math.ceil(most));
  const x = (n) => left + (n / Math.max(length, 1)) * (width - left - right);
  const y = (v) => top + (1 - (v - low) / (high - low || 1)) * (height - top - bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart" });
  for (const v of [low, (low + high) / 2, high]) {
    svg.append(shape("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: "#dfe2ea" }));
    svg.append(shape("text", { x: left - 4, y: y(v) + 3.5, "font-size": 9, "text-anchor": "end",
      fill: "#5a6275" }, v.toFixed(0)));
  }
  for (const band of bands) {
    svg.append(shape("line", { x1: x(band.at), x2: x(band.at), y1: top, y2: height - bottom,
      stroke: "#c9cdd8", "stroke-dasharray": "2 2" }));
    svg.append(shape("text", { x: x(band.at) + 2, y: height - 3, "font-size": 9,
      fill: "#5a6275" }, band.name));
  }
  const ends = [];
  for (const one of series) {
    let path = "";
    one.values.forEach((v, n) => {
      if (v !== null) path += `${path && one.values[n - 1] !== null ? "L" : "M"}${x(n).toFixed(1)} ${y(v).toFixed(1)}`;
    });
    svg.append(shape("path", { d: path, fill: "none", stroke: "#1d2433", "stroke-width": 3.4,
      "stroke-opacity": 0.55 }));
    svg.append(shape("path", { d: path, fill: "none", stroke: one.colour, "stroke-width": 2,
      "stroke-dasharray": one.dash || "" }));
    const last = one.values.findLastIndex((v) => v !== null);
    if (last >= 0) ends.push({ x: x(last), y: y(one.values[last]), name: one.name });
  }
  nameEnds(svg, ends, top, height - bottom);
  addCursor(svg, x, at, length, top, height - bottom, pick);
  holder.replaceChildren(svg);
}

// The names of lines at their ends, none over another.
function nameEnds(svg, ends, top, bottom) {
  const size = 9;
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => { end.at = Math.max(end.y, i ? ends[i - 1].at + size : top); });
  let below = bottom;
  for (const end of [...ends].reverse()) {
    end.at = Math.min(end.at, below);
    below = end.at - size;
  }
  for (const end of ends) {
    svg.append(shape("text", { x: end.x + 3, y: end.at + 3, "font-size": size,
      "font-weight": "bold", fill: "#1d2433" }, end.name));
  }
}

// Areas that lie on one another: `series` as above; values below 0 are left out.
function areaChart(holder, { series, length, at, bands = [], pick = null }) {
  const [width, height, left, top, bottom] = [300, 130, 30, 6, 14];
  const totals = Array.from({ length: length + 1 }, (_, n) =>
    series.reduce((sum, s) => sum + Math.max(0, s.values[n]), 0));
  const high = Math.max(1, ...totals);
  const x = (n) => left + (n / Math.max(length, 1)) * (width - left - 4);
  const y = (v) => top + (1 - v / high) * (height - top - bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart" });
  for (const v of [0, high / 2, high]) {
    svg.append(shape("text", { x: left - 4, y: y(v) + 3.5, "font-size": 9, "text-anchor": "end",
      fill: "#5a6275" }, Math.round(v)));
  }
  const base = totals.map(() => 0);
  for (const one of series) {
    const upper = base.map((b, n) => b + Math.max(0, one.values[n]));
    const there = upper.map((v, n) => `${x(n).toFixed(1)},${y(v).toFixed(1)}`);
    const back = base.map((v, n) => `${x(n).toFixed(1)},${y(v).toFixed(1)}`).reverse();
    const area = shape("polygon", { points: [...there, ...back].join(" "), fill: one.colour,
      stroke: "#fff", "stroke-width": 0.4 });
    area.append(shape("title", {}, one.name));
    svg.append(area);
    upper.forEach((v, n) => { base[n] = v; });
  }
  for (const band of bands) {
    svg.append(shape("line", { x1: x(band.at), x2: x(band.at), y1: top, y2: height - bottom,
      stroke: "#1d2433", "stroke-opacity": 0.25, "stroke-dasharray": "2 2" }));
    svg.append(shape("text", { x: x(band.at) + 2, y: height - 3, "font-size": 9,
      fill: "#5a6275" }, band.name));
  }
  addCursor(svg, x, at, length, top, height - bottom, pick);
  holder.replaceChildren(svg);
}

function addCursor(svg, x, at, length, top, bottom, pick) {
  svg.append(shape("line", { x1: x(at), x2: x(at), y1: top, y2: bottom, stroke: "#c8372d",
    "stroke-width": 1.4, class: "cursor" }));
  if (!pick) return;
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * 300;
    const n = Math.round(((place - x(0)) / (x(length) - x(0) || 1)) * length);
    pick(Math.max(0, Math.min(length, n)));
  });
}

function disc(seat) {
  const out = element("span", { class: "disc", title: seat.name }, String(seat.player));
  out.style.background = seat.fill;
  out.style.color = seat.ink;
  return out;
}

// What a move cost and brought, as a line of its own; none for a move that changed nothing.
function toldLine(move) {
  return move.told ? [element("small", { class: "told" }, move.told)] : [];
}

// The legend of VP by source of one player: amounts at present, those that are not 0.
function sourceLegend(holder, sources, values) {
  const items = sources.map((source, i) => ({ ...source, value: values[i] }))
    .filter((s) => s.value !== 0)
    .map((s) => {
      const mark = element("i");
      mark.style.background = s.colour;
      return element("span", {}, mark, `${s.name} ${s.value}`);
    });
  holder.replaceChildren(...items);
}
