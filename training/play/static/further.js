"use strict";
// Beyond the next click: whole moves and federations, and what conversions would make possible.

const NOTHING_FURTHER = { turn: 0, ways: [], federations: [], reached: [], repeats: {}, tracks: {}, left: {} };
let furtherOf = "";
let further = NOTHING_FURTHER;
let furtherTurn = 0;

// What is known of the position in view.
const furtherNow = () => (further.node === game.node && further.game === game.id ? further : NOTHING_FURTHER);

// Asked for once a position, where it is a person's turn, and again when there are prices.
async function drawFurther() {
  const priced = Boolean(game.legal[0]?.effects);
  const key = `${game.id} ${game.node} ${priced}`;
  const wanted = ["TURN", "AFTER", "TILE"].includes(game.asks) && game.legal.length > 0 && !game.thinking;
  markFederation(null);
  if (!wanted || key === furtherOf) return;
  furtherOf = key;
  const found = await call(`/api/games/${game.id}/further`);
  if (!found || !game || furtherOf !== key || found.node !== game.node) return;
  further = { ...found, game: game.id, turn: ++furtherTurn };
  drawLegal();
}

function federationWords(one) {
  const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  return `Power ${one.power}, ${many(one.satellites.length, "satellite")}: ${one.pieces}`;
}

// The pieces and satellites of a federation, drawn over the map.
function markFederation(one) {
  const svg = view && view.svg;
  if (!svg) return;
  svg.querySelectorAll(".federation-mark").forEach((mark) => mark.remove());
  if (!one) return;
  const map = svg.querySelector("#block-map");
  for (const [kind, cells] of [["piece", one.cells], ["satellite", one.satellites]]) {
    for (const cell of cells) {
      const box = svg.querySelector(`[data-cell="${cell}"]`).getBBox();
      map.append(shape("circle", { cx: box.x + box.width / 2, cy: box.y + box.height / 2,
        r: box.width * (kind === "piece" ? 0.48 : 0.2), class: `federation-mark ${kind}` }));
    }
  }
}
