"use strict";
// The log of the game at the table, and the way along it.

let log = null;
let playback = null;

function wireLog() {
  log = new MoveLog(byId("moves"), {
    go: (n) => change("go", { node: game.line[n] }), more: byLine,
    branches: (move) => move.others.map((other) => element("li", { class: "branch",
      "data-branch": other.node, tabindex: 0, onclick: () => change("go", { node: other.node }) },
    `or: ${other.words}`)),
  });
  byId("each").addEventListener("change", (event) => {
    byId("moves").classList.toggle("each", event.target.checked);
    if (game) drawMoves();
  });
  // A turn that is being ended is not worth a look of its own.
  playback = new Playback(byId("playback"), byId("pace"), async () => {
    if (!game) return false;
    const here = game.line.indexOf(game.node);
    const quiet = game.moves[here] && verbOf(game.moves[here]) === "end_turn";
    await along(quiet ? 2 : 1);
    return game && game.line.indexOf(game.node) < game.line.length - 1;
  });
}

// What made the decision instead of a person.
function byLine(move) {
  return move.by && move.by !== "one choice" ? [element("small", { class: "by" }, ` (by a setting: ${move.by})`)] : [];
}

function drawMoves() {
  const here = game.line.indexOf(game.node);
  log.fill(game.moves, game.seats, game.vp);
  log.mark(here);
  drawSince(here);
}

// What the others did since the last turn of who sees this; on the map too.
function drawSince(here) {
  const turns = turnsOf(game.moves.slice(0, here));
  const own = turns.findLastIndex((turn) => turn.player === view.first);
  const since = turns.slice(own + 1).filter((turn) => turn.player !== view.first);
  drawTurns(view, since, game.seats);
  const rows = since.map((turn) => turnRow(turn, game.seats, game.vp,
    (n) => change("go", { node: game.line[n] })));
  byId("since").replaceChildren(...(rows.length ? [element("h2", {}, "Since your last turn"), ...rows] : []));
}

// The line: the position some steps further on.
function along(step) {
  const here = game.line.indexOf(game.node);
  const to = Math.max(0, Math.min(game.line.length - 1, here + step));
  return to === here ? requests : change("go", { node: game.line[to] });
}
