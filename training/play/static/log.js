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
    const current = game.line.indexOf(game.node);
    const quiet = game.moves[current] && verbOf(game.moves[current]) === "end_turn";
    await along(quiet ? 2 : 1);
    return game && game.line.indexOf(game.node) < game.line.length - 1;
  });
}

// What made the decision instead of a person.
function byLine(move) {
  return move.by && move.by !== "one choice" ? [element("small", { class: "by" }, ` (by a setting: ${move.by})`)] : [];
}

function drawMoves() {
  const current = game.line.indexOf(game.node);
  log.fill(game.moves, game.seats, game.vp);
  log.mark(current);
  drawSince(current);
}

const SINCE_SHOWN = 6; // turns, the last ones; all of them where more is asked for

// What the others did since the last turn of who sees this, a line a turn; on the map too.
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
    } }, isExpanded ? "Less" : left ? `More, and ${left} before` : "More");
  const rows = visible.map((turn) => turnRow(turn, game.seats, game.vp,
    (n, event) => toggleRow(event.currentTarget)));
  holder.replaceChildren(...(rows.length
    ? [element("div", { class: "since-head" }, element("h2", {}, "Since your last turn"), fold), ...rows] : []));
}

// A turn of the others is told in full; the table stays where it is.
function toggleRow(row) {
  row.setAttribute("aria-expanded", String(row.classList.toggle("open")));
}

// The line: the position some steps further on.
function along(step) {
  const current = game.line.indexOf(game.node);
  const to = Math.max(0, Math.min(game.line.length - 1, current + step));
  return to === current ? requests : change("go", { node: game.line[to] });
}
