"use strict";
// Puzzles: a position and some first moves, one of which is best. After the answer the page shows
// the values of all, with the solved lines to step through. The score stays in the browser.

const ANY = "any";
const SECOND = "second"; // right at the second try
const resultText = (mark) => say(`answer-${mark === SECOND ? SECOND : mark ? "right" : "wrong"}`);
let [values, names, scoreKey] = [{}, {}, ""]; // the theme and level of each puzzle; their names
let [puzzle, result, view] = [null, null, null]; // result: the explanation of the answer
let isOpen = false; // whether the page accepts an answer
let frame = 0; // step of the lines, which all begin with the position
let visit = 0; // number of the last request for a puzzle or line: earlier responses are ignored
let answering = 0; // the visit that waits for its explanation
let latest = -1; // number of the last puzzle that was requested, from 0

const note = (text) => (text ? [element("span", { class: "brings" }, text)] : []); // below a move

// A text that depends on the goal of the puzzle.
const ofGoal = (id, values) => say(`${id}-${puzzle.goal.replace(" ", "-")}`, values);
const isForVp = () => puzzle.goal === "vp";

// The data of a request; null if it is refused, or if another one follows before the response.
// The text `status` is shown with the seconds meanwhile.
async function load(path, body, target, status) {
  const mine = visit;
  const report = (ariaLive) => (textContent) => { if (mine === visit) Object.assign(byId(target), { ariaLive, textContent }); };
  const data = await waiting(say(status), request(path, body, report("polite")), report("off"));
  byId(target).ariaLive = "polite";
  return mine === visit ? data : null;
}

// The score: by puzzle whether the first answer was right, or SECOND.
const readScore = () => stored(scoreKey, {});

function writeScore(number, mark) {
  store(scoreKey, { ...readScore(), [number]: mark });
  if (readScore()[number] === mark) drawScore();
  else byId("score").textContent = say("no-score");
}

function drawScore() {
  const score = readScore();
  const marks = Object.values(score);
  const second = marks.filter((mark) => mark === SECOND).length;
  const solved = marks.filter((mark) => mark === true).length;
  byId("score").textContent = say(second ? "score-second" : "score",
    { solved, tried: marks.length, second, total: values.theme.length });
  byId("again").hidden = !marks.length;
  byId("number").replaceChildren(element("option", { value: "", hidden: true }, ""), ...values.theme.map(
    (_, n) => element("option", { value: n }, n in score ? say("labelled", { label: n + 1, text: resultText(score[n]) }) : n + 1)));
  byId("number").value = puzzle ? String(puzzle.number) : "";
}

function clear() {
  visit += 1;
  [puzzle, result, isOpen, frame] = [null, null, false, 0];
  byId("explanation").hidden = byId("reveal").hidden = true;
  byId("verdict").textContent = "";
  byId("choices").replaceChildren();
}

async function open(number, prefix = "") {
  clear();
  latest = number;
  const data = await load(`/api/puzzles/${number}`, undefined, "asks", "puzzle-replaying");
  if (!data) return;
  [puzzle, isOpen] = [data, true];
  history.replaceState(null, "", `#${number + 1}`);
  const { seats, player, choices } = puzzle;
  const mark = readScore()[number];
  byId("asks").textContent = prefix + say("puzzle-question", {
    n: number + 1, round: puzzle.round, name: seats[player].name, vp: puzzle.vp[player],
    question: ofGoal("puzzle-asks"), choices: choices.length, moves: puzzle.moves,
  }) + (mark === undefined ? "" : say("puzzle-result", { result: resultText(mark) }));
  byId("choices").replaceChildren(...choices.map((choice, n) => element("button", {
    type: "button", "data-action": choice.action, "aria-pressed": "false",
    onclick: () => answer(choice.action), ...highlighting(choice),
  }, say("labelled", { label: n + 1, text: choice.words }))));
  view = new TableView(byId("table"), puzzle.picture);
  view.seat(player);
  const numbers = {};
  choices.forEach((choice, n) => {
    const place = placeOf(choice);
    if (place) numbers[place] = `${numbers[place] ? `${numbers[place].slice(0, -1)} ` : ""}${n + 1}:`;
  });
  view.mark(numbers);
  drawScore();
  document.body.dataset.ready = String(number + 1);
}

// A click on the map answers with the only move of a cell, or moves the focus to the first of several that is open.
function clickedOnMap(event) {
  if (!isOpen || !event.target.closest(".stage > svg")) return;
  const cell = document.elementsFromPoint(event.clientX, event.clientY).find(({ dataset }) => dataset?.cell);
  const choices = cell ? puzzle.choices.filter((choice) => view.cellAt(placeOf(choice)) === cell) : [];
  if (choices.length === 1) answer(choices[0].action);
  else if (choices.length) byId("choices").querySelector(choices.map(({ action }) => `[data-action="${action}"]:enabled`).join()).focus();
}

function highlight(move) {
  const place = move && placeOf(move);
  view.light(place ? place.split(" ") : []);
}

// Shows the cell of a move while the pointer or the focus is on it, then that of the step again.
function highlighting(move) {
  const [on, off] = [() => highlight(move), () => highlight(result && !isOpen ? result.line[frame] : null)];
  return { onpointerenter: on, onfocus: on, onpointerleave: off, onblur: off };
}

// A wrong first answer may be followed by a second one; the score tells them apart.
async function answer(action) {
  if (!isOpen || answering === visit || (result && result.choice === action)) return;
  const [mine, isFirst] = [visit, !result];
  answering = mine;
  // After a wrong try, the line of the right answer is compared with the line of that try.
  const compared = result && action === result.answer ? { compared: result.choice } : {};
  const data = await load(`/api/puzzles/${puzzle.number}`, { action, ...compared }, "verdict", "puzzle-playing");
  if (mine === visit) answering = 0;
  if (!data) return;
  const mark = readScore()[puzzle.number];
  if (mark === undefined) writeScore(puzzle.number, data.right);
  else if (mark === false && data.right) writeScore(puzzle.number, SECOND);
  result = { ...data, choice: action };
  const button = byId("choices").querySelector(`[data-action="${action}"]`);
  button.setAttribute("aria-pressed", "true");
  if (isFirst && !data.right && puzzle.choices.length > 2) {
    button.disabled = true;
    byId("verdict").textContent = `${lessText(action)} ${say("puzzle-retry")}`;
    byId("reveal").hidden = false;
    byId("reveal").focus();
  } else {
    explain(action);
    byId("next").focus();
  }
}

const candidateOf = (action) => result.candidates.find((candidate) => candidate.action === action);
const deficit = (action) => candidateOf(result.answer).value - candidateOf(action).value;
const lessText = (action) => ofGoal("puzzle-less", { vp: deficit(action) });
const maker = () => (result.earlier ? say("earlier-agent", { agent: result.maker }) : result.maker);
// A move with its VP at the end; without them where the goal is another one.
const withVp = (text, { value }) => (isForVp() ? say("vp-at-end-of", { text, vp: value }) : text);

function verdictText(action) {
  const [best] = result.candidates;
  const values = { agent: maker(), move: candidateOf(result.agent).words, vp: deficit(result.agent) };
  return [
    result.right ? say("puzzle-right") : lessText(action),
    say("puzzle-best", { theme: names.theme[result.theme], move: withVp(best.words, best) }),
    ofGoal("puzzle-agent", values),
  ].join(" ");
}

function proofText() {
  const { sources, candidates: [, second] } = result;
  const proof = ofGoal("puzzle-proof", { vp: deficit(second.action) });
  return sources ? `${proof} ${say("puzzle-why", { list: sources })}` : proof;
}

function solversText() {
  const agents = [["puzzle-solved-by", result.chosen?.solved_by], ["puzzle-unsolved-by", result.chosen?.unsolved_by]];
  return agents.flatMap(([id, own]) => (own?.length ? [say(id, { agents: own.join(", ") })] : [])).join(" ");
}

// A step; the head of a line names its first move and the VP at its end.
function stepText({ text, words }, n) {
  if (text) return words;
  const candidate = candidateOf(n ? result.compared : result.answer);
  return withVp(say("position-then", { move: candidate.words }), candidate);
}

function stepRow(step, n) {
  const name = puzzle.seats[puzzle.player].name;
  const vp = step.over ? say("name-at-end", { name, vp: step.vp }) : say("vp-now", { vp: step.vp });
  return element("li", { onclick: () => show(n), class: step.text ? "" : "start" },
    stepText(step, n), ...note(step.brings), ...note(vp));
}

function explain(action) {
  isOpen = false;
  byId("reveal").hidden = true;
  for (const button of byId("choices").children) {
    button.disabled = true;
    button.classList.toggle("answer", Number(button.dataset.action) === result.answer);
  }
  byId("verdict").textContent = verdictText(action);
  const heads = [say(isForVp() ? "move-column" : "puzzle-first-move"), ofGoal("puzzle-value")];
  byId("candidates").replaceChildren(
    element("tr", {}, ...heads.map((text) => element("th", {}, text))),
    ...result.candidates.map((candidate) => element("tr", highlighting(candidate),
      element("td", {}, candidate.action === result.answer || !isForVp() ? candidate.words : lineButton(candidate)),
      element("td", {}, isForVp() ? spelled(candidate.value) : say(candidate.value ? "puzzle-yes" : "puzzle-no")))));
  byId("why").textContent = proofText();
  byId("how").textContent = solversText();
  byId("line").replaceChildren(...result.line.map(stepRow));
  byId("explanation").hidden = false;
  byId("verdict").scrollIntoView({ block: "start" }); // the steps and the lines in view
  show(0);
}

// Compares the answer with the line of another candidate.
function lineButton({ action, words, ...candidate }) {
  const compare = async () => {
    if (action === result.compared) return;
    visit += 1;
    const { choice } = result;
    const data = await load(`/api/puzzles/${puzzle.number}`, { action: choice, compared: action }, "step", "puzzle-playing");
    if (!data) return;
    const hadFocus = document.activeElement.dataset.action === String(action);
    view.draw(result.parts, 0); // undoes what only the old lines change
    result = { ...data, choice };
    explain(choice);
    if (hadFocus) byId("candidates").querySelector(`[data-action="${action}"]`).focus({ preventScroll: true });
  };
  return element("button", { type: "button", "data-action": action, onclick: compare,
    "aria-pressed": String(action === result.compared), ...highlighting({ action, words, ...candidate }) }, words);
}

function show(number) {
  if (!result || isOpen) return;
  frame = Math.max(0, Math.min(number, result.line.length - 1));
  view.draw(result.parts, frame);
  const [list, step] = [byId("line"), result.line[frame]];
  byId("place").textContent = `${frame} / ${result.line.length - 1}`;
  byId("step").textContent = stepText(step, frame);
  highlight(step);
  [...list.children].forEach((row, n) => row.classList.toggle("now", n === frame));
  const row = list.children[frame]; // only the list scrolls; the table stays in place
  list.scrollTop = row.offsetTop - list.offsetTop - Math.max(0, (list.clientHeight - row.offsetHeight) / 2);
}

// The next unanswered puzzle of the theme and level; the next one if all are answered.
function next() {
  const score = readScore();
  const fits = (id, n) => [ANY, values[id][n]].includes(byId(id).value);
  const numbers = [...values.theme.keys()].filter((n) => fits("theme", n) && fits("level", n));
  const order = [...numbers.filter((n) => n > latest), ...numbers.filter((n) => n <= latest)];
  const unanswered = order.find((n) => !(n in score));
  if (numbers.length) open(unanswered ?? order[0], unanswered === undefined ? say("all-tried") : "");
  else {
    clear();
    byId("asks").textContent = say("no-puzzle-of-theme");
  }
}

// Opens the puzzle in the address, counted from 1; without one, the next puzzle.
function route() {
  const text = location.hash.slice(1);
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (!text) next();
  else if (number >= 1 && number <= values.theme.length) open(number - 1);
  else byId("asks").textContent = say("no-puzzle", { n: text, total: values.theme.length });
}

async function main() {
  const index = await load("/api/puzzles", undefined, "asks", "puzzle-reading");
  if (!index) return;
  ({ values, names } = index);
  wireLanguages();
  scoreKey = `gaia_jax puzzles ${index.mark}`;
  for (const id of ["theme", "level"]) {
    byId(id).replaceChildren(...Object.entries({ [ANY]: say("any-theme"), ...names[id] }).map(([value, name]) => element("option",
      { value }, `${name} (${values[id].filter((own) => [own, ANY].includes(value)).length})`)));
    byId(id).addEventListener("change", next);
  }
  const clicks = {
    next, reveal: () => explain(result.choice), back: () => show(frame - 1), forward: () => show(frame + 1),
    again: () => { localStorage.removeItem(scoreKey); drawScore(); },
  };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
  byId("table").addEventListener("click", clickedOnMap);
  byId("number").addEventListener("change", () => open(Number(byId("number").value)));
  const press = (number) => isOpen && byId("choices").children[number - 1]?.click();
  onKeys({ ArrowLeft: () => show(frame - 1), ArrowRight: () => show(frame + 1), n: next,
    ...Object.fromEntries([..."123456789"].map((digit) => [digit, () => press(digit)])) },
  ({ target }) => target.tagName === "SELECT");
  drawScore();
  const game = lastGame();
  byId("game").hidden = !game;
  if (game) byId("game").href = `/#${game}`;
  window.addEventListener("hashchange", route);
  route();
}

main();
