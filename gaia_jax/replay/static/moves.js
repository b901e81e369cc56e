"use strict";
// The moves of a game as turns: shared by the replay page and the table in the browser.

const ENDS = ["end_turn", "pass", "booster"];
const SILENT = ["end_turn", "skip"];

const verbOf = (text) => text.split(" ", 1)[0];

// Group decisions into turns: `{player, round, first, last, moves, answers}`, with decisions numbered
// from 1. An answer to an offer of power belongs to the turn that made the offer. The turns that the
// Automa takes after a decision have its number, `details` and `vp`.
function turnsOf(moves) {
  const out = [];
  let ended = true;
  const addAutoma = (move, number) => out.push(...(move.automa || []).map((turn) => ({ ...turn,
    first: number, last: number, answers: [],
    moves: turn.moves.map((part) => ({ ...part, player: turn.player, number, others: [] })) })));
  moves.forEach((move, k) => {
    const now = out[out.length - 1];
    const verb = verbOf(move.text);
    const row = { ...move, number: k + 1 };
    if (verb === "leech" && now) {
      now.answers.push(row);
      now.last = k + 1;
      addAutoma(move, k + 1);
      return;
    }
    if (now && !ended && now.player === move.player && now.round === move.round) {
      now.moves.push(row);
      now.last = k + 1;
    } else {
      out.push({ player: move.player, round: move.round, first: k + 1, last: k + 1, moves: [row],
        answers: [] });
    }
    ended = ENDS.includes(verb);
    addAutoma(move, k + 1);
  });
  return out;
}

const mainOf = (turn) => turn.moves.filter((move) => ![...SILENT, "free"].includes(verbOf(move.text)));

// A turn in one line: its main decisions, without the end of the turn and, if there are others,
// without conversions.
function turnWords(turn) {
  const main = mainOf(turn);
  const other = turn.moves.filter((move) => !SILENT.includes(verbOf(move.text)));
  const visible = main.length ? main : other.length ? other : turn.moves;
  return visible.map(moveWords).join("; ").replaceAll(`; ${say("choose")}`, `; ${say("at")}`);
}

// A decision in words without context: an upgrade includes the new structure.
function moveWords(move) {
  return move.built ? say("labelled", { label: move.words, text: move.built }) : move.words;
}

// The cells and ships that a decision names, for `data-at`.
const placeOf = ({ text }) => {
  const [verb, place] = text.split(" ");
  return verb === "explore" || (place && place.includes(",")) ? place : "";
};
const placesOf = (moves) => [...new Set(moves.map(placeOf).filter(Boolean))].join(" ") || null;

// The VP of the final scoring by player, in the turn that ends the game; null in all others.
const finalOf = (turn) => [...turn.moves, ...turn.answers].find((move) => move.final)?.final ?? null;

// VP of a player from a turn, without the final scoring. `vp`: of all players, by number of decisions.
function turnVp(turn, vp, player = turn.player) {
  if (turn.details) return turn.vp;
  if (!vp[turn.last] || !vp[turn.first - 1]) return 0;
  return vp[turn.last][player] - vp[turn.first - 1][player] - (finalOf(turn)?.[player] ?? 0);
}

const roundName = (round) => (round ? say("round", { n: round }) : say("set-up"));

const signed = (n) => (n ? vpWords(`${n > 0 ? "+" : "\u2212"}${Math.abs(n)}`) : "");

// The cost and gain of a decision, without the next choice.
const paid = (move) => move.paid ?? (move.effects_text || "");

// Merge equal neighbouring texts: "text (x3)".
function counted(texts) {
  const out = [];
  for (const text of texts) {
    const last = out[out.length - 1];
    if (last?.text === text) last.times += 1;
    else out.push({ text, times: 1 });
  }
  return out.map(({ text, times }) => (times > 1 ? say("times", { text, n: times }) : text));
}

// The cost and gain of a turn in a line, then the answers to its offers. A conversion's words are its
// price and gain; a turn without a main move already has them in its line.
function turnEffects(turn, seats) {
  const main = mainOf(turn).length > 0;
  const lines = counted(turn.moves.map((move) => (main && verbOf(move.text) === "free" ? move.words : paid(move)))
    .filter(Boolean));
  const answers = turn.answers.map((move) => element("small", { class: `effects-text answer${move.by ? " by" : ""}` },
    `${say("labelled", { label: seats[move.player].name, text: move.words })}${move.effects_text
      ? ` (${move.effects_text})` : ""}${move.by ? say("by-a-setting") : ""}`));
  return [...(lines.length ? [element("small", { class: "effects-text" }, lines.join("; "))] : []), ...answers];
}

// One turn as a button.
function turnRow(turn, seats, vp, go) {
  return element("button", { type: "button", class: "turn-row", "data-last": turn.last,
    "data-at": placesOf(turn.moves), onclick: (event) => go(turn.last, event) },
  disc(seats[turn.player]),
  element("span", { class: "what" }, turnWords(turn), ...turnEffects(turn, seats)),
  element("span", { class: `gain${turnVp(turn, vp) < 0 ? " lost" : ""}` }, signed(turnVp(turn, vp))));
}

// The cards and what was considered in a turn of the Automa, folded.
function automaDetails(turn) {
  if (!turn.details?.length) return [];
  return [element("details", { class: "automa" }, element("summary", {}, say("cards-and-options")),
    ...turn.details.map((row) => element("p", { class: row.chosen ? "chosen" : "", "data-at": row.at || null }, row.words)))];
}

// The list of turns; with `each` the decisions of each turn below it.
class MoveLog {
  // `go(n)` shows the position after decision n; `branches(move)`: rows for other moves that were
  // tried there; `more(move)`: elements after the words of a decision.
  constructor(list, { go, branches = () => [], more = () => [] }) {
    Object.assign(this, { list, go, branches, more });
    this.drawn = "";
    this.at = 0;
    list.closest(".panel, [data-tab]").addEventListener("shown", () => this.mark(this.at));
  }

  fill(moves, seats, vp) {
    const key = JSON.stringify([moves, vp[vp.length - 1]]);
    if (key === this.drawn) return;
    this.drawn = key;
    let round = -1;
    const rows = [];
    const turns = turnsOf(moves);
    for (const turn of turns) {
      if (turn.round !== round) {
        round = turn.round;
        rows.push(element("li", { class: "round" }, roundName(round)));
      }
      const decisions = [...turn.moves, ...turn.answers].sort((a, b) => a.number - b.number);
      rows.push(element("li", { class: "turn-item", "data-first": turn.first, "data-last": turn.last },
        turnRow(turn, seats, vp, this.go), ...automaDetails(turn),
        element("ol", { class: "decisions" }, ...decisions.map((move) => element("li", {
          "data-n": move.number, "data-node": move.node ?? "", "data-at": placesOf([move]),
          onclick: () => this.go(move.number),
        }, element("span", { class: "number" }, String(move.number)), disc(seats[move.player]),
        element("span", { class: "what" }, move.words, ...this.more(move), ...effectsNote(move)))))));
      for (const move of decisions) rows.push(...this.branches(move));
    }
    // The Automa may still move after the decision that ends the game for its opponent.
    const final = turns.map(finalOf).find(Boolean);
    if (final) {
      rows.push(element("li", { class: "round final" }, say("final-scoring"),
        ...final.map((n, player) => element("span", {}, disc(seats[player]), ` ${signed(n)}`))));
    }
    this.list.replaceChildren(...rows);
  }

  // Mark the current turn and decision; later ones are paler.
  mark(n) {
    this.at = n;
    this.list.querySelectorAll(".turn-item").forEach((item) => {
      const [first, last] = [Number(item.dataset.first), Number(item.dataset.last)];
      item.classList.toggle("now", first <= n && n <= last);
      item.classList.toggle("later", first > n);
      item.querySelector("button").tabIndex = first <= n && n <= last ? 0 : -1;
    });
    this.list.querySelectorAll(".decisions li").forEach((item) =>
      item.classList.toggle("now", Number(item.dataset.n) === n));
    const now = this.list.querySelector(".decisions li.now");
    const row = now && now.offsetParent ? now : this.list.querySelector(".turn-item.now");
    const deck = this.list.closest(".deck");
    if (!deck || !row || !this.list.offsetParent) return;
    const [box, view_] = [row.getBoundingClientRect(), deck.getBoundingClientRect()];
    if (box.top < view_.top || box.bottom > view_.bottom) {
      deck.scrollTop += box.top - view_.top - view_.height / 2;
    }
  }
}

// The places of some turns on the map, each in the colour of its player.
function drawTurns(view, turns, seats) {
  view.svg.querySelectorAll(".over-turn").forEach((item) => item.remove());
  for (const turn of turns) {
    for (const move of turn.moves) {
      const cell = view.cellAt(placeOf(move));
      if (!cell) continue;
      for (const [width, colour] of [[6, "#000"], [3, seats[turn.player].fill]]) {
        view.svg.querySelector("#block-map").append(shape("polygon", {
          points: cell.getAttribute("points"), fill: "none", stroke: colour, "stroke-width": width,
          "stroke-dasharray": "7 4", class: "over-turn" }));
      }
    }
  }
}

function cellOfShip(view, ship) {
  const part = view.svg.querySelector(`[id="ship-${ship}"]`)?.closest('[id^="cell-"]');
  const cell = part && view.svg.querySelector(`#hex-${part.id.slice(5)}`);
  return cell ? cell.dataset.cell : "";
}

// Steps through a game: until `step()` is false. `pace`: a select of milliseconds.
class Playback {
  constructor(button, pace, step) {
    Object.assign(this, { button, pace, step, timer: null });
    button.addEventListener("click", () => this.toggle());
  }

  toggle() {
    if (this.timer) this.stop();
    else this.next();
  }

  next() {
    this.button.textContent = say("pause");
    const timer = setTimeout(async () => {
      const more = await this.step();
      if (this.timer !== timer) return; // stopped during the step, and perhaps started again
      if (more) this.next();
      else this.stop();
    }, Number(this.pace.value));
    this.timer = timer;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.button.textContent = say("play");
  }
}
