"use strict";
// Choices of several actions: whole moves and federations, and actions that conversions make possible.

// `turn`: above 0 once complete; `part`: the parts received.
const NOTHING_FURTHER = { turn: 0, part: "", two_step_moves: [], federations: [], reached: [], repeats: {}, tracks: {}, left: {} };
const PARTS = ["moves", "conversions"];
let furtherOf = "";
let further = NOTHING_FURTHER;
let furtherTurn = 0;

// The choices for the current position.
const furtherNow = () => (further.node === game.node && further.game === game.id ? further : NOTHING_FURTHER);

// Requested once for each position of a person, and again when prices are available. The quick parts
// come first.
async function drawFurther() {
  const priced = Boolean(game.legal[0]?.effects);
  const key = `${game.id} ${game.node} ${priced}`;
  const wanted = ["TURN", "AFTER", "TILE"].includes(game.asks) && game.legal.length > 0 && !game.thinking;
  markFederation(null);
  if (!wanted || key === furtherOf) return;
  furtherOf = key;
  let latest = { ...NOTHING_FURTHER, game: game.id };
  for (const part of PARTS) {
    const answer = await call(`/api/games/${latest.game}/further/${part}?at=${game.node}`);
    await released();
    if (!answer || !game || furtherOf !== key || answer.node !== game.node) {
      if (furtherOf === key) furtherOf = ""; // requested again when the position is in view
      return;
    }
    latest = { ...latest, ...answer, part };
    further = part === PARTS[PARTS.length - 1] ? { ...latest, turn: ++furtherTurn } : latest;
    drawLegal();
  }
}

// Nothing is redrawn between press and click.
let isPressed = false;
const wired = (name, now) => document.addEventListener(name, () => { isPressed = now; }, true);
wired("pointerdown", true);
["pointerup", "pointercancel", "dragend"].forEach((name) => wired(name, false));

async function released() {
  for (let n = 0; isPressed && n < 50; n += 1) await pause(20);
  await pause(0);
}

function federationWords(federation) {
  const { power, satellites, pieces } = federation;
  return say("federation-choice", { power, n: satellites.length, pieces });
}

// The pieces and satellites of a federation, drawn over the map.
function markFederation(federation) {
  const svg = view && view.svg;
  if (!svg) return;
  svg.querySelectorAll(".federation-mark").forEach((mark) => mark.remove());
  if (!federation) return;
  federation.cells.forEach((cell) => view.circle(cell, 0.48, { class: "federation-mark piece" }));
  federation.satellites.forEach((cell) => view.circle(cell, 0.2, { class: "federation-mark satellite" }));
}
