"use strict";
// Puzzles: a position and some moves, one of which is clearly best. After the answer the page shows
// why, with two lines to step through. The score stays in the browser.

const ANY = "any";
const SECOND = "second"; // right at the second try
const LABELS = new Map([[true, "right"], [false, "wrong"], [SECOND, "right at the second try"]]);
let [themes, levels, scoreKey] = [[], [], ""];
let [puzzle, result, view] = [null, null, null]; // result: the explanation of the answer
let isOpen = false; // whether the page accepts an answer
let frame = 0; // step of the two lines, which both begin with the position
let visit = 0; // number of the last request for a puzzle or line: earlier responses are ignored
let answering = 0; // the visit that waits for its explanation
let latest = -1; // number of the last puzzle that was requested, from 0

const vpText = (vp) => vp.toFixed(1);
const note = (text) => (text ? [element("span", { class: "brings" }, text)] : []); // below a move

// The data of a request; null if it is refused, or if another one follows before the response.
async function load(path, body, target, status) {
  const [mine, start] = [visit, Date.now()];
  const say = (text) => { if (mine === visit) byId(target).textContent = text; };
  const tick = () => say(`${status}: ${Math.round((Date.now() - start) / 1000)} s.`);
  const timer = setInterval(tick, 1000);
  tick();
  const data = await request(path, body, say);
  clearInterval(timer);
  return mine === visit ? data : null;
}

// The score: by puzzle whether the first answer was right, or SECOND.
function readScore() {
  try {
    return JSON.parse(localStorage.getItem(scoreKey)) || {};
  } catch (error) {
    return {};
  }
}

function writeScore(number, mark) {
  try {
    localStorage.setItem(scoreKey, JSON.stringify({ ...readScore(), [number]: mark }));
    drawScore();
  } catch (error) {
    byId("score").textContent = "this browser stores no score";
  }
}

function drawScore() {
  const score = readScore();
  const marks = Object.values(score);
  const second = marks.filter((mark) => mark === SECOND).length;
  byId("score").textContent = `solved ${marks.filter((mark) => mark === true).length} of `
    + `${marks.length} tried, ${second ? `${second} more at the second try, ` : ""}${themes.length} in all`;
  byId("again").hidden = !marks.length;
  byId("number").replaceChildren(element("option", { value: "", hidden: true }, ""), ...themes.map(
    (_, n) => element("option", { value: n }, n in score ? `${n + 1}: ${LABELS.get(score[n])}` : String(n + 1))));
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
  const data = await load(`/api/puzzles/${number}`, undefined, "asks",
    "Replaying the game to the position (the first one of a server takes longest)");
  if (!data) return;
  [puzzle, isOpen] = [data, true];
  history.replaceState(null, "", `#${number + 1}`);
  const { seats, player, choices } = puzzle;
  const mark = readScore()[number];
  byId("asks").textContent = `${prefix}Puzzle ${number + 1}, round ${puzzle.round}: `
    + `${seats[player].name}, ${puzzle.vp[player]} VP, to move. Which move leads to the most VP by the `
    + `end? Below: ${choices.length} of ${puzzle.legal} legal moves.`
    + (mark === undefined ? "" : ` Your result so far: ${LABELS.get(mark)}.`);
  byId("choices").replaceChildren(...choices.map((choice, n) => element("button", {
    type: "button", "data-action": choice.action, "aria-pressed": "false",
    onclick: () => answer(choice.action), ...highlighting(choice),
  }, `${n + 1}: ${choice.words}`, ...note(choice.brings))));
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
  if (!isOpen || answering === visit || (result && result.tried === action)) return;
  const [mine, isFirst] = [visit, !result];
  answering = mine;
  // After a wrong try, the line of the right answer is compared with the line of that try.
  const compared = result && action === result.answer.action ? { compared: result.tried } : {};
  const data = await load(`/api/puzzles/${puzzle.number}`, { action, ...compared }, "verdict", "Playing the lines");
  if (mine === visit) answering = 0;
  if (!data) return;
  const mark = readScore()[puzzle.number];
  if (mark === undefined) writeScore(puzzle.number, data.right);
  else if (mark === false && data.right) writeScore(puzzle.number, SECOND);
  result = { ...data, tried: action };
  const button = byId("choices").querySelector(`[data-action="${action}"]`);
  button.setAttribute("aria-pressed", "true");
  if (isFirst && !data.right && puzzle.choices.length > 2) {
    button.disabled = true;
    byId("verdict").textContent = `${lessText(action)} Try again, or see the answer.`;
    byId("reveal").hidden = false;
    byId("reveal").focus();
  } else {
    explain(action);
    byId("next").focus();
  }
}

// VP that a candidate has less than the answer.
function deficit(action) {
  const { candidates, policy, loss } = result;
  return action === policy.action ? loss.mean
    : candidates[0].vp - candidates.find((candidate) => candidate.action === action).vp;
}

const lessText = (action) => `Not this one: it has ${vpText(deficit(action))} VP less.`;
const maker = () => (result.earlier ? `an earlier ${result.agent}` : result.agent);

function verdictText(action) {
  const { loss, policy, candidates: [, second] } = result;
  const range = loss.low === loss.high ? "" : ` (${vpText(loss.low)} to ${vpText(loss.high)})`;
  const nearest = second.action === policy.action ? "the second best"
    : `and ${vpText(deficit(second.action))} VP more than the second best, ${second.words}`;
  return `${result.right ? "Right." : lessText(action)} Best (theme: ${result.theme}): `
    + `${result.answer.words}. It has ${vpText(loss.mean)} VP more${range} than ${policy.words}, the `
    + `choice of ${result.beats || maker()}, ${nearest}.`;
}

// The idea: what the answer makes possible, or what it prevents.
function causeText() {
  const { cause, compared, answer } = result;
  if (!cause) return "";
  const [after, without] = cause.times;
  return cause.own
    ? `Idea: ${cause.words} follows ${after} times a game after the answer, ${without} times after ${compared.words}. `
    : `Idea: after ${compared.words} another player takes ${cause.words} ${without} times a game, `
      + `after ${answer.words} ${after} times. `;
}

function whyText() {
  const { why, compared } = result;
  const rest = Object.values(why).reduce((left, vp) => left - vp, deficit(compared.action));
  const parts = [...Object.entries(why), ["all else", rest]].filter(([, vp]) => vpText(vp) !== "0.0")
    .map(([source, vp]) => `${vp > 0 ? "+" : ""}${vpText(vp)} ${source}`);
  return parts.length ? `Why: VP of the answer compared with ${compared.words}: ${parts.join(", ")}.` : "";
}

function methodText() {
  const { chosen, by, rival, playouts, ahead, candidates } = result;
  const texts = [by ? `VP are means of ${playouts} games from each move: ${puzzle.seats[puzzle.player].name} `
    + `play as ${by}, all others as ${maker()}. The answer leads all other moves in ${ahead} of them.`
    : `VP are means of ${playouts} games of ${maker()} from each move.`];
  if (candidates.some((candidate) => candidate.answer_next)) {
    texts.push("A move that the answer may follow was played in both orders; the better one counts.");
  }
  if (rival) {
    texts.push(`${by ? `Of the ${rival.moves} other legal moves, the most promising were`
      : `All ${rival.moves} other legal moves were`} played too. `
      + (rival.less > 0 ? `The nearest, ${rival.words}, was ${vpText(rival.less)} VP less.`
        : `None had more; ${rival.words} had as much.`));
  }
  texts.push("Both lines are one game each, with the same random numbers.");
  const selected = [["solves", chosen?.solved_by], ["does not solve", chosen?.unsolved_by]]
    .filter(([, names]) => names?.length).map(([verb, names]) => `${names.join(" or ")} ${verb}`);
  if (selected.length) texts.push(`The set has puzzles that ${selected.join(" and ")}.`);
  return texts.join(" ");
}

// A step; the head of a line names its first move and the VP at its end.
function stepText({ text, words }, n) {
  if (text) return words;
  const after = result.line.slice(n + 1);
  const length = after.findIndex((step) => !step.text);
  const last = (length < 0 ? after : after.slice(0, length)).find((step) => step.over);
  return `${words}, then ${n ? result.compared.words : result.answer.words}${last ? `: ${last.vp} VP at the end` : ""}`;
}

function stepRow(step, n) {
  const vp = step.over ? `the end: ${puzzle.seats[puzzle.player].name} have ${step.vp} VP`
    : step.own ? `${step.vp} VP now` : "";
  return element("li", { onclick: () => show(n), class: step.own ? "own" : step.text ? "" : "head" },
    stepText(step, n), ...note(step.brings), ...note(vp));
}

function explain(action) {
  isOpen = false;
  byId("reveal").hidden = true;
  for (const button of byId("choices").children) {
    button.disabled = true;
    button.classList.toggle("answer", Number(button.dataset.action) === result.answer.action);
  }
  byId("verdict").textContent = verdictText(action);
  const heads = ["move (click: its line)", "VP at the end", `probability for ${maker()}`];
  byId("candidates").replaceChildren(
    element("tr", {}, ...heads.map((text) => element("th", {}, text))),
    ...result.candidates.map((candidate) => element("tr", highlighting(candidate),
      element("td", {}, candidate.action === result.answer.action ? candidate.words : lineButton(candidate)),
      element("td", {}, vpText(candidate.vp) + (candidate.answer_next ? ", followed by the answer" : "")),
      element("td", {}, `${(100 * candidate.policy).toFixed(1)} %`))));
  byId("why").textContent = causeText() + whyText();
  byId("how").textContent = methodText();
  byId("line").replaceChildren(...result.line.map(stepRow));
  byId("explanation").hidden = false;
  byId("verdict").scrollIntoView({ block: "start" }); // the steps and the lines in view
  show(0);
}

// Compares the answer with the line of another candidate.
function lineButton({ action, words, ...candidate }) {
  const compare = async () => {
    if (action === result.compared.action) return;
    visit += 1;
    const { tried } = result;
    const data = await load(`/api/puzzles/${puzzle.number}`, { action: tried, compared: action }, "step", "Playing the line");
    if (!data) return;
    const hadFocus = document.activeElement.dataset.action === String(action);
    draw(0); // undoes what only the old lines change
    result = { ...data, tried };
    explain(tried);
    if (hadFocus) byId("candidates").querySelector(`[data-action="${action}"]`).focus({ preventScroll: true });
  };
  return element("button", { type: "button", "data-action": action, onclick: compare,
    "aria-pressed": String(action === result.compared.action), ...highlighting({ action, words, ...candidate }) }, words);
}

function draw(number) {
  for (const [block, parts] of Object.entries(result.parts)) {
    for (const [id, changes] of Object.entries(parts)) view.put(block, id, bodyAt(changes, number));
  }
}

function show(number) {
  if (!result || isOpen) return;
  frame = Math.max(0, Math.min(number, result.line.length - 1));
  draw(frame);
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
  const fits = (id, value) => [ANY, value].includes(byId(id).value);
  const numbers = [...themes.keys()].filter((n) => fits("theme", themes[n]) && fits("level", levels[n]));
  const order = [...numbers.filter((n) => n > latest), ...numbers.filter((n) => n <= latest)];
  const unanswered = order.find((n) => !(n in score));
  if (numbers.length) open(unanswered ?? order[0], unanswered === undefined ? "You have tried all of this theme and level. " : "");
  else {
    clear();
    byId("asks").textContent = "There is no puzzle of this theme and level.";
  }
}

// Opens the puzzle in the address, counted from 1; without one, the next puzzle.
function route() {
  const text = location.hash.slice(1);
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (!text) next();
  else if (number >= 1 && number <= themes.length) open(number - 1);
  else byId("asks").textContent = `There is no puzzle ${text}: they are 1 to ${themes.length}.`;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const choice = isOpen && puzzle.choices[Number(event.key) - 1];
  const keys = { ArrowLeft: () => show(frame - 1), ArrowRight: () => show(frame + 1), n: next };
  const act = choice ? () => answer(choice.action) : keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

async function main() {
  const index = await load("/api/puzzles", undefined, "asks", "Reading the puzzles");
  if (!index) return;
  ({ themes, levels } = index);
  scoreKey = `gaia_jax puzzles ${index.mark}`;
  for (const [id, values] of [["theme", themes], ["level", levels]]) {
    byId(id).replaceChildren(...[ANY, ...[...new Set(values)].sort()].map((name) => element("option",
      { value: name }, `${name} (${values.filter((value) => [value, ANY].includes(name)).length})`)));
    byId(id).addEventListener("change", next);
  }
  const clicks = {
    next, reveal: () => explain(result.tried), back: () => show(frame - 1), forward: () => show(frame + 1),
    again: () => { localStorage.removeItem(scoreKey); drawScore(); },
  };
  for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);
  byId("number").addEventListener("change", () => open(Number(byId("number").value)));
  document.addEventListener("keydown", pressed);
  drawScore();
  const game = lastGame();
  byId("game").hidden = !game;
  if (game) byId("game").href = `/#${game}`;
  window.addEventListener("hashchange", route);
  route();
}

main();
