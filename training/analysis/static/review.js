"use strict";
// The review page: the costliest moves of a game, each with its better line, embedded as JSON.

let review = null;
let view = null;
let chosen = 0;
let at = 0; // 0 is the position before the move, then the better line; -1 the played move
const revealed = new Set(); // moves whose better line is shown
const COSTLIEST = 5;

function show(place) {
  const move = review.moves[chosen];
  if (place > 0 && !revealed.has(chosen)) {
    revealed.add(chosen);
    drawLine();
  }
  at = place < 0 ? -1 : Math.min(place, move.line.length);
  view.draw(review.parts, at < 0 ? move.played : move.first + at);
  byId("place").textContent = at < 0 ? say("played-place") : `${at} / ${move.line.length}`;
  byId("played").setAttribute("aria-pressed", String(at < 0));
  byId("step").textContent = at < 0 ? say("played", { move: move.words })
    : at ? say("better", { move: move.line[at - 1] }) : say("which-is-better");
  for (const row of byId("line").children) {
    row.classList.toggle("now", Number(row.dataset.at) === at);
  }
}

function drawLine() {
  const move = review.moves[chosen];
  const isShown = revealed.has(chosen);
  byId("reveal").disabled = isShown;
  byId("line").replaceChildren(...(isShown ? [say("before-move"), ...move.line] : []).map((words, n) =>
    element("li", { "data-at": n, class: n === at ? "now" : "", onclick: () => show(n) }, words)));
}

// The moves in view: the costliest of the chosen player, or of all.
function filtered() {
  const player = Number(byId("filter").value);
  return review.moves.map((_, n) => n)
    .filter((n) => player < 0 || review.moves[n].player === player).slice(0, COSTLIEST);
}

function filter() {
  const numbers = filtered();
  document.querySelectorAll("#costly button").forEach((button, n) => {
    button.hidden = !numbers.includes(n);
  });
  byId("shown").hidden = byId("line").hidden = !numbers.length;
  if (numbers.length) choose(numbers[0]);
}

function choose(number) {
  chosen = number;
  at = 0;
  const move = review.moves[chosen];
  document.querySelectorAll("#costly button").forEach((button, n) => {
    button.setAttribute("aria-pressed", String(n === chosen));
  });
  byId("again").hidden = !move.link;
  if (move.link) byId("again").href = move.link;
  drawLine();
  view.seat(move.player);
  show(0);
}

const keys = {
  ArrowLeft: () => show(Math.max(0, at - 1)),
  ArrowRight: () => show(at + 1),
  p: () => show(at < 0 ? 0 : -1),
  ...Object.fromEntries([..."12345"].map((digit) => [digit, () => filtered().slice(digit - 1, digit).forEach(choose)])),
};

async function main() {
  review = await unpacked(byId("review").textContent);
  view = new TableView(byId("table"), review.picture);
  if (review.moves.length) {
    document.querySelectorAll("#costly button").forEach((button, n) => {
      button.addEventListener("click", () => choose(n));
    });
    byId("back").addEventListener("click", keys.ArrowLeft);
    byId("forward").addEventListener("click", keys.ArrowRight);
    byId("played").addEventListener("click", keys.p);
    onKeys(keys, ({ target }) => target.matches("select"));
    byId("filter").addEventListener("change", filter);
    byId("reveal").addEventListener("click", () => show(1));
    filter();
  }
  document.body.dataset.ready = "1";
}

main();
