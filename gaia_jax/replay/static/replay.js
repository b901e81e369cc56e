"use strict";
// The replay page: one game, embedded as compressed JSON in base 64.

let game = null;
let count = 0;
let view = null;
let bySource = [];
const bands = [];
let rounds = [];
let now = 0;
let log = null;
let playback = null;

function go(n) {
  now = Math.max(0, Math.min(count, n));
  view.draw(game.parts, now);
  byId("slider").value = now;
  byId("place").textContent = `${now} / ${count}`;
  log.mark(now);
  const turns = turnsOf(game.moves.slice(0, now));
  drawTurns(view, turns.slice(-game.seats.length), game.seats);
  charts();
}

function charts() {
  const viewed = view.first;
  lineChart(byId("scores"), {
    series: game.seats.map((seat) => ({
      values: game.vp.map((vp) => vp[seat.player]), colour: seat.fill, name: seatNumber(seat),
    })),
    length: count, at: now, bands: rounds, pick: go, label: say("vp-title"),
  });
  byId("sources-title").textContent = say("vp-by-source", { name: game.seats[viewed].name });
  areaChart(byId("sources"), {
    series: game.sources.map((s, i) => ({ ...s, values: bySource[viewed][i] })),
    length: count, at: now, bands: rounds, pick: go, label: byId("sources-title").textContent,
  });
  sourceLegend(byId("sources-legend"), game.sources, bySource[viewed].map((v) => v[now]));
}

function seat(player) {
  view.seat(player);
  byId("seat").value = view.first;
  charts();
}

function jumpRound(step) {
  const current = rounds.filter((band) => band.at <= now).length - 1;
  if (step < 0 && current >= 0 && rounds[current].at < now) return go(rounds[current].at);
  const target = rounds[current + step];
  return go(target ? target.at : step < 0 ? 0 : count);
}

function prepare() {
  count = game.moves.length;
  view = new TableView(byId("layout"), game.picture);
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
  fillRules(byId("rules"), game.picture, game.seats);
  log = new MoveLog(byId("moves"), { go });
  log.fill(game.moves, game.seats, game.vp);
  byId("each").addEventListener("change", (event) => {
    byId("moves").classList.toggle("each", event.target.checked);
    log.mark(now);
  });
  playback = new Playback(byId("play"), byId("pace"), () => {
    go(now + 1);
    return now < count;
  });
  byId("slider").max = count;
  byId("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  const buttons = { first: () => go(0), back: () => go(now - 1), forward: () => go(now + 1),
    last: () => go(count) };
  for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
  for (const band of rounds) {
    byId("rounds").append(element("button", { "data-round": band.round,
      onclick: () => go(band.at) }, band.name));
  }
  for (const entry of game.seats) {
    byId("seat").append(element("option", { value: entry.player }, `${seatNumber(entry)} ${entry.name}`));
  }
  byId("seat").addEventListener("change", (event) => seat(Number(event.target.value)));
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
  " ": () => playback.toggle(),
  v: () => seat(view.first + 1),
};
async function main() {
  game = await unpacked(byId("game").textContent);
  prepare();
  build();
  go(0);
  seat(0);
  onKeys(keys, ({ key, target }) =>
    target.tagName === "SELECT" || (key === " " && target.closest("button, summary, [type=checkbox]")));
  document.body.dataset.ready = "1";
}

main();
