"use strict";
// Charts over the decisions of a game.

const CHART = { width: 300, height: 150, left: 32, top: 8, bottom: 134 };

// An empty chart over the decisions 0 to `length`: `x` and `y` give positions, from `low` to `high`.
// Screen readers read its `label` alone.
function chartFrame({ length, low, high, right, bands, marks, label }) {
  const { width, height, left, top, bottom } = CHART;
  const x = (n) => left + (n / Math.max(length, 1)) * (width - left - right);
  const y = (value) => bottom - ((value - low) / (high - low || 1)) * (bottom - top);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  for (const value of [low, (low + high) / 2, high]) {
    if (marks) svg.append(shape("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), stroke: "#8d94a5", "stroke-opacity": 0.35 }));
    svg.append(shape("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, spelled(value)));
  }
  const addBands = () => bands.forEach(({ at, name }) => svg.append(
    shape("line", { x1: x(at), x2: x(at), y1: top, y2: bottom, stroke: "#8d94a5", "stroke-dasharray": "2 2" }),
    shape("text", { x: x(at) + 2, y: height - 3 }, name)));
  return { svg, x, y, addBands };
}

// Lines over the decisions of a game. `series`: [{values, colour, name}]; values may be null.
// `bands`: [{at, name}] marks, such as the rounds. `tight`: the axis need not contain 0.
function lineChart(holder, { series, length, at, label, bands = [], pick = null, tight = false }) {
  const values = series.flatMap((line) => line.values).filter((value) => value !== null);
  const [least, most] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  const low = tight ? Math.floor(least) : Math.min(0, least);
  const { svg, x, y, addBands } = chartFrame({ length, low, high: Math.max(low + 1, Math.ceil(most)), right: 14, bands, marks: true, label });
  addBands();
  const ends = [];
  for (const line of series) {
    let path = "";
    line.values.forEach((value, n) => {
      if (value !== null) path += `${path && line.values[n - 1] !== null ? "L" : "M"}${x(n).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    svg.append(shape("path", { d: path, fill: "none", stroke: "#1d2433", "stroke-width": 3.4, "stroke-opacity": 0.55 }),
      shape("path", { d: path, fill: "none", stroke: line.colour, "stroke-width": 2 }));
    const last = line.values.findLastIndex((value) => value !== null);
    if (last >= 0) ends.push({ x: x(last), y: y(line.values[last]), name: line.name });
  }
  nameEnds(svg, ends, CHART.top, CHART.bottom);
  addCursor(svg, x, at, length, pick);
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

// Stacked areas: `series` as above; values below 0 are left out.
function areaChart(holder, { series, length, at, label, bands = [], pick = null }) {
  const totals = Array.from({ length: length + 1 }, (_, n) =>
    series.reduce((sum, { values }) => sum + Math.max(0, values[n]), 0));
  const { svg, x, y, addBands } = chartFrame({ length, low: 0, high: Math.max(1, ...totals), right: 4, bands, label });
  const point = (value, n) => `${x(n).toFixed(1)},${y(value).toFixed(1)}`;
  let base = totals.map(() => 0);
  for (const { values, colour, name } of series) {
    const upper = base.map((value, n) => value + Math.max(0, values[n]));
    const points = [...upper.map(point), ...base.map(point).reverse()].join(" ");
    const area = shape("polygon", { points, fill: colour });
    area.append(shape("title", {}, name));
    svg.append(area);
    base = upper;
  }
  addBands();
  addCursor(svg, x, at, length, pick);
  holder.replaceChildren(svg);
}

function addCursor(svg, x, at, length, pick) {
  svg.append(shape("line", { x1: x(at), x2: x(at), y1: CHART.top, y2: CHART.bottom, stroke: "#c8372d",
    "stroke-width": 1.4 }));
  if (!pick) return;
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * CHART.width;
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
      return element("span", {}, mark, `${s.name} ${spelled(s.value)}`);
    });
  holder.replaceChildren(...items);
}
