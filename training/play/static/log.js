"use strict";
// The log of the game, and navigation in it.

let log = null;
let playback = null;

function wireLog() {
  log = new MoveLog(byId("moves"), {
    go: (n) => go(game.line[n]), more: byLine,
    branches: (move) => move.others.map((other) => element("li", { class: "branch" },
      element("button", { type: "button", class: "turn-row", onclick: () => go(other.node) },
        say("or-move", { move: other.words })))),
  });
  byId("each").addEventListener("change", (event) => {
    byId("moves").classList.toggle("each", event.target.checked);
    if (game) drawMoves();
  });
  // Skip positions where a turn is only ended.
  playback = new Playback(byId("playback"), byId("pace"), async () => {
    if (!game) return false;
    const current = game.line.indexOf(game.node);
    const quiet = game.moves[current] && verbOf(game.moves[current].text) === "end_turn";
    await along(quiet ? 2 : 1);
    return game && game.line.indexOf(game.node) < game.line.length - 1;
  });
}

// The setting that made a decision.
function byLine(move) {
  if (!move.by || move.by === "one choice") return [];
  const [id, vp] = move.by.split(" ");
  return [element("small", { class: "by" }, say("by-setting", { text: say(`by-${id}`, { n: Number(vp) }) }))];
}

function drawMoves() {
  const current = game.line.indexOf(game.node);
  log.fill(game.moves, game.seats, game.vp);
  log.mark(current);
  drawSince(current);
}

const SINCE_SHOWN = 6; // turns, the last ones; all of them where more is asked for

// The others' turns since the last turn of the board in view, one line each, and on the map.
function drawSince(current) {
  const turns = turnsOf(game.moves.slice(0, current));
  const own = turns.findLastIndex((turn) => turn.player === view.first);
  const since = turns.slice(own + 1).filter((turn) => turn.player !== view.first);
  drawTurns(view, since, game.seats);
  const holder = byId("since");
  const isExpanded = holder.classList.contains("whole");
  const visible = isExpanded ? since : since.slice(-SINCE_SHOWN);
  const left = since.length - visible.length;
  const fold = element("button", { type: "button", class: "fold", "aria-expanded": String(isExpanded),
    onclick: () => {
      holder.classList.toggle("whole");
      drawSince(current);
      holder.querySelector(".fold").focus();
    } }, isExpanded ? say("less") : left ? say("more-before", { n: left }) : say("more"));
  const rows = visible.flatMap((turn) => [turnRow(turn, game.seats, game.vp,
    (n, { currentTarget: row }) => row.setAttribute("aria-expanded", String(row.classList.toggle("open")))),
  ...automaDetails(turn)]);
  holder.replaceChildren(...(rows.length
    ? [element("div", { class: "since-head" }, element("h2", {}, say("since-title")), fold), ...rows] : []));
}

// Move along the line of the game.
function along(step) {
  const current = game.line.indexOf(game.node);
  const to = Math.max(0, Math.min(game.line.length - 1, current + step));
  return to === current ? requests : go(game.line[to]);
}
