"use strict";
// The review page: the costliest moves of a game, each with its better line, embedded as JSON.

const find = (id) => document.getElementById(id);
let review = null;
let view = null;
let chosen = 0;
let at = 0; // 0 is the position before the move, then the better line; -1 the played move

function draw(frame) {
  for (const [block, parts] of Object.entries(review.parts)) {
    for (const [id, changes] of Object.entries(parts)) view.put(block, id, bodyAt(changes, frame));
  }
}

function show(place) {
  const move = review.moves[chosen];
  at = place < 0 ? -1 : Math.min(place, move.line.length);
  draw(at < 0 ? move.played : move.first + at);
  find("place").textContent = at < 0 ? "played" : `${at} / ${move.line.length}`;
  find("played").setAttribute("aria-pressed", String(at < 0));
  find("step").textContent = at < 0 ? `Played: ${move.words}` : at ? `Better: ${move.line[at - 1]}`
    : "The position before the move";
  for (const row of find("line").children) {
    row.classList.toggle("now", Number(row.dataset.at) === at);
  }
}

function choose(number) {
  chosen = number;
  const move = review.moves[chosen];
  document.querySelectorAll("#costly button").forEach((button, n) => {
    button.setAttribute("aria-pressed", String(n === chosen));
  });
  find("line").replaceChildren(...["Before the move", ...move.line].map((words, n) =>
    element("li", { "data-at": n, onclick: () => show(n) }, words)));
  view.seat(move.player);
  show(0);
}

const keys = {
  ArrowLeft: () => show(Math.max(0, at - 1)),
  ArrowRight: () => show(at + 1),
  p: () => show(at < 0 ? 0 : -1),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const number = Number(event.key) - 1;
  const act = keys[event.key] || (review.moves[number] && (() => choose(number)));
  if (act) {
    event.preventDefault();
    act();
  }
}

async function main() {
  review = await unpacked(find("review").textContent);
  if (review.moves.length) {
    view = new TableView(find("table"), review.picture);
    document.querySelectorAll("#costly button").forEach((button, n) => {
      button.addEventListener("click", () => choose(n));
    });
    find("back").addEventListener("click", keys.ArrowLeft);
    find("forward").addEventListener("click", keys.ArrowRight);
    find("played").addEventListener("click", keys.p);
    document.addEventListener("keydown", pressed);
    find("shown").hidden = false;
    choose(0);
  }
  document.body.dataset.ready = "1";
}

main();
