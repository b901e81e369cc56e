"use strict";
// The moves of the game, and the way along them.

// What made the decision instead of a person.
function byLine(move) {
  return move.by && move.by !== "one choice" ? [element("small", { class: "by" }, ` (by a setting: ${move.by})`)] : [];
}

function drawMoves() {
  const list = byId("moves");
  const here = game.line.indexOf(game.node);
  const rows = [];
  let round = -1;
  game.moves.forEach((move, k) => {
    if (move.round !== round) {
      round = move.round;
      rows.push(element("li", { class: "round" }, round ? `Round ${round}` : "Set-up"));
    }
    const state = k + 1 === here ? "now" : k + 1 > here ? "later" : "";
    rows.push(element("li", { class: state, "data-node": move.node, title: move.text,
      onclick: () => change("go", { node: move.node }) },
    element("span", { class: "number" }, String(k + 1)), disc(game.seats[move.player]),
    element("span", { class: "what" }, move.words, ...byLine(move), ...toldLine(move))));
    for (const other of move.others) {
      rows.push(element("li", { class: "branch", "data-branch": other.node, tabindex: 0,
        onclick: () => change("go", { node: other.node }) }, `or: ${other.words}`));
    }
  });
  list.replaceChildren(...rows);
  const now = list.querySelector(".now");
  list.scrollTop = now ? now.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
}

// The line: the position some steps further on.
function along(step) {
  const here = game.line.indexOf(game.node);
  const to = Math.max(0, Math.min(game.line.length - 1, here + step));
  if (to !== here) change("go", { node: game.line[to] });
}
