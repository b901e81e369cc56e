"use strict";
// Hints: rollouts of the most probable moves in the background, with their expected VP.

const HINT_EVERY = 1000; // ms between two looks at how far it is
const WARNED = ["mistake", "blunder"];
let hint = null; // what is known of the position in view
let hintGone = ""; // the decision at which a cancelled hint is reported, "" for none
let hintTurn = 0;
let hintAt = null; // where the page was scrolled to when a hint was asked for by hand

// The scroll positions of the page and the hint panel.
const scrolled = () => `${window.scrollY} ${byId("hints").closest(".deck").scrollTop}`;

const wantHint = () => askHint(scrolled());

async function askHint(at = null) {
  if (!game) return;
  const turn = ++hintTurn;
  hintGone = "";
  hintAt = at;
  let answer = await call(`/api/games/${game.id}/ask/hint?at=${game.node}`, {});
  while (answer && game && turn === hintTurn) {
    if (answer.node !== game.node) break;
    hint = answer;
    drawHint();
    if (answer.status !== "running") break;
    await new Promise((resolve) => setTimeout(resolve, HINT_EVERY));
    if (game && turn === hintTurn) answer = await call(`/api/games/${game.id}/ask/hint?at=${game.node}`);
  }
}

// A game and its number of decisions by people.
const decisionsOf = (candidate) => `${candidate.id} ${decided()}`;

// Positions of another game have the same numbers, so its hints must not be shown.
function forgetHint() {
  hint = null;
  hintGone = "";
  hintTurn++;
}

// The position changed: the hint is useless, and the server cancels it.
function hintMoved() {
  if (hint && (!game || hint.node !== game.node)) {
    hintGone = hint.status === "running" && game && !allSettings().warn ? decisionsOf(game) : "";
    hint = null;
    hintTurn++;
    if (game) call(`/api/games/${game.id}/ask/hint?at=${game.node}`);
  }
  const mine = game && game.legal.length > 1 && !game.thinking;
  byId("hint").disabled = !mine;
  if (mine && allSettings().warn && !hint) askHint();
  drawHint();
}

function drawHint() {
  const holder = byId("hints");
  if (!hint || !game) {
    holder.replaceChildren(...(game && hintGone === decisionsOf(game) ? [element("p", { class: "keys" },
      "The hint was cancelled when you left its position.")] : []));
    return;
  }
  const { candidates, message, done, total, seconds, status } = hint;
  const rows = candidates.map((candidate) => element("button", { type: "button", class: "candidate",
    "data-hint": candidate.text, title: candidate.text, onclick: () => act(candidate.text),
    "data-at": placeOf(candidate) || null },
  element("span", { class: "words" }, candidate.words),
  element("span", { class: "chance" }, `${candidate.vp[0].toFixed(0)} VP (${candidate.vp[1].toFixed(0)} to ${candidate.vp[2].toFixed(0)})`),
  element("span", { class: "effects" }, element("span", { class: "note" }, lossWords(candidate)),
    ...(candidate.line.length ? [element("span", { class: "note" }, `then ${candidate.line.join("; ")}`)] : []))));
  const progress = {
    running: `${message}, ${done ? `${done} of ${total} games, ` : ""}${seconds} s`,
    failed: message,
    "called off": "Cancelled. Its preparation finishes and is kept.",
  }[status] || `${candidates.length ? candidates[0].playouts : 0} games played for each, with the same random numbers`;
  const off = status === "running" ? [element("div", { class: "row" },
    element("button", { type: "button", id: "hint-off", onclick: () => callOff("hint") }, "Cancel"))] : [];
  const first = rows.length && !holder.querySelector(".candidate");
  holder.replaceChildren(...rows, element("p", { class: "keys" }, progress), ...off);
  // Never move the page for a user who has scrolled on.
  if (first && hintAt === scrolled()) holder.scrollIntoView({ block: "nearest" });
}

// Cancel a hint or a review.
async function callOff(what) {
  const answer = await call(`/api/games/${game.id}/ask/${what}?at=${game.node}`, { off: true });
  if (what === "hint" && answer && game && answer.node === game.node) {
    hint = answer;
    drawHint();
  }
}

function lossWords(candidate) {
  if (candidate.lost[0] === 0 && candidate.lost[1] === 0) return "the best of these";
  return `${candidate.lost[0].toFixed(1)} VP less than the best (${candidate.lost[1].toFixed(1)} to ${candidate.lost[2].toFixed(1)})`;
}

// Whether to take an action, after a confirmation if a setting requires it.
function confirmed(text) {
  const settings = allSettings();
  const last = text === "pass" || (text.startsWith("booster") && game.asks === "TURN");
  if (settings.ask_pass && last) return window.confirm("Pass? The round is over for you.");
  const judged = settings.warn && hint && hint.node === game.node
    && hint.candidates.find((candidate) => candidate.text === text);
  if (!judged || !WARNED.includes(judged.grade)) return true;
  return window.confirm(`${judged.words}: a ${judged.grade}, ${lossWords(judged)}. Play it?`);
}
