"use strict";
// Charts over the decisions of a game.

// Lines over the decisions of a game. `series`: [{values, colour, name, dash}], values may have
// holes (null). `bands`: [{at, name}] marks, such as the rounds. `tight`: the axis need not have 0.
function lineChart(holder, { series, length, at, bands = [], pick = null, tight = false }) {
  const [width, height, left, top, bottom, right] = [300, 150, 32, 8, 16, 14];
  const all = series.flatMap((s) => s.values).filter((v) => v !== null);
  const [least, most] = all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  const low = tight ? Math.floor(least) : Math.min(0, least);
  const high = Math.max(low + 1, Math.ceil(most));
  const x = (n) => left + (n / Math.max(length, 1)) * (width - left - right);
  const y = (v) => top + (1 - (v - low) / (high - low || 1)) * (height - top - bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart" });
  for (const v of [low, (low + high) / 2, high]) {
    svg.append(shape("line", { x1: left, x2: width - right, y1: y(v), y2: y(v), stroke: "#8d94a5", "stroke-opacity": 0.35 }));
    svg.append(shape("text", { x: left - 4, y: y(v) + 4, "text-anchor": "end",
    }, v.toFixed(0)));
  }
  for (const band of bands) {
    svg.append(shape("line", { x1: x(band.at), x2: x(band.at), y1: top, y2: height - bottom,
      stroke: "#c9cdd8", "stroke-dasharray": "2 2" }));
    svg.append(shape("text", { x: x(band.at) + 2, y: height - 3 }, band.name));
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
  const size = 12;
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => { end.at = Math.max(end.y, i ? ends[i - 1].at + size : top); });
  let below = bottom;
  for (const end of [...ends].reverse()) {
    end.at = Math.min(end.at, below);
    below = end.at - size;
  }
  for (const end of ends) {
    svg.append(shape("text", { x: end.x + 3, y: end.at + 3, "font-weight": "bold" }, end.name));
  }
}

// Areas that lie on one another: `series` as above; values below 0 are left out.
function areaChart(holder, { series, length, at, bands = [], pick = null }) {
  const [width, height, left, top, bottom] = [300, 150, 32, 8, 16];
  const totals = Array.from({ length: length + 1 }, (_, n) =>
    series.reduce((sum, s) => sum + Math.max(0, s.values[n]), 0));
  const high = Math.max(1, ...totals);
  const x = (n) => left + (n / Math.max(length, 1)) * (width - left - 4);
  const y = (v) => top + (1 - v / high) * (height - top - bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart" });
  for (const v of [0, high / 2, high]) {
    svg.append(shape("text", { x: left - 4, y: y(v) + 4, "text-anchor": "end" }, Math.round(v)));
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
      stroke: "#8d94a5", "stroke-dasharray": "2 2" }));
    svg.append(shape("text", { x: x(band.at) + 2, y: height - 3 }, band.name));
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
