"use strict";
// The replay page: one game, embedded as JSON that is compressed and in base 64.

const find = (id) => document.getElementById(id);
let game = null;
let count = 0;
let view = null;
let bySource = [];
const bands = [];
let rounds = [];
let now = 0;
let timer = null;

function go(n) {
  now = Math.max(0, Math.min(count, n));
  for (const [block, parts] of Object.entries(game.parts)) {
    for (const [id, changes] of Object.entries(parts)) view.put(block, id, bodyAt(changes, now));
  }
  find("slider").value = now;
  find("place").textContent = `${now} / ${count}`;
  const old = document.querySelector(".moves .now");
  if (old) old.classList.remove("now");
  const row = document.querySelector(`.moves [data-n="${now}"]`);
  if (row) {
    row.classList.add("now");
    const list = find("moves");
    const top = row.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) {
      list.scrollTop = top - list.clientHeight / 2;
    }
  }
  charts();
}

function charts() {
  const viewed = view.first;
  lineChart(find("scores"), {
    series: game.seats.map((seat) => ({
      values: game.vp.map((vp) => vp[seat.player]), colour: seat.fill, name: String(seat.player),
    })),
    length: count, at: now, bands: rounds, pick: go,
  });
  areaChart(find("sources"), {
    series: game.sources.map((s, i) => ({ ...s, values: bySource[viewed][i] })),
    length: count, at: now, bands: rounds, pick: go,
  });
  find("sources-title").textContent = `VP by source: ${game.seats[viewed].name}`;
  sourceLegend(find("sources-legend"), game.sources, bySource[viewed].map((v) => v[now]));
}

function seat(player) {
  view.seat(player);
  find("seat").value = view.first;
  charts();
}

function jumpRound(step) {
  const here = rounds.filter((band) => band.at <= now).length - 1;
  if (step < 0 && here >= 0 && rounds[here].at < now) return go(rounds[here].at);
  const target = rounds[here + step];
  return go(target ? target.at : step < 0 ? 0 : count);
}

function stop() {
  clearInterval(timer);
  timer = null;
  find("play").textContent = "Play";
}

function toggle() {
  if (timer) return stop();
  if (now >= count) go(0);
  find("play").textContent = "Pause";
  timer = setInterval(() => (now >= count ? stop() : go(now + 1)), 600);
  return null;
}

function prepare() {
  count = game.moves.length;
  view = new TableView(find("table"), game.picture);
  // VP by source are sent as changes: [decision, player, source, value].
  bySource = game.seats.map(() => game.sources.map(() => new Array(count + 1).fill(0)));
  for (const [n, player, source, value] of game.vp_source) {
    bySource[player][source].fill(value, n);
  }
  game.moves.forEach((move, n) => {
    if (!bands.length || bands[bands.length - 1].round !== move.round) {
      bands.push({ at: n, name: String(move.round), round: move.round });
    }
  });
  rounds = bands.filter((band) => band.round > 0);
}

function build() {
  const list = find("moves");
  let round = -1;
  game.moves.forEach((move, n) => {
    if (move.round !== round) {
      round = move.round;
      const name = round ? `Round ${round}` : "Set-up";
      list.append(element("li", { class: "round" }, name));
    }
    const gained = game.vp[n + 1][move.player] - game.vp[n][move.player];
    list.append(element("li", { "data-n": n + 1, title: move.text, onclick: () => go(n + 1) },
      element("span", { class: "number" }, String(n + 1)), disc(game.seats[move.player]),
      element("span", { class: "what" }, move.words, ...toldLine(move)),
      element("span", { class: "gain" }, gained ? `${gained > 0 ? "+" : ""}${gained}` : "")));
  });
  find("slider").max = count;
  find("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  const buttons = { first: () => go(0), back: () => go(now - 1), forward: () => go(now + 1),
    last: () => go(count), play: toggle };
  for (const [id, act] of Object.entries(buttons)) find(id).addEventListener("click", act);
  for (const band of rounds) {
    find("rounds").append(element("button", { "data-round": band.round,
      onclick: () => go(band.at) }, band.name));
  }
  for (const one of game.seats) {
    find("seat").append(element("option", { value: one.player }, `${one.player} ${one.name}`));
  }
  find("seat").addEventListener("change", (event) => seat(Number(event.target.value)));
  keys.m = wireWide();
}

const keys = {
  ArrowLeft: () => go(now - 1),
  ArrowRight: () => go(now + 1),
  ArrowUp: () => jumpRound(-1),
  ArrowDown: () => jumpRound(1),
  PageUp: () => jumpRound(-1),
  PageDown: () => jumpRound(1),
  Home: () => go(0),
  End: () => go(count),
  " ": toggle,
  v: () => seat(view.first + 1),
};
function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const act = keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

async function main() {
  game = await unpacked(find("game").textContent);
  prepare();
  build();
  go(0);
  seat(0);
  document.addEventListener("keydown", pressed);
  document.body.dataset.ready = "1";
}

main();
