"use strict";
// The puzzles: a position and some moves, of which one is clearly best; then why, and the score.

const find = (id) => document.getElementById(id);
const SCORE = "gaia_jax puzzles"; // under which the browser keeps what was answered
const ANY = "any";
let themes = [];
let puzzle = null;
let told = null;
let view = null;
let at = 0; // 0 is the position, then the line

const ask = (path, body = undefined) =>
  request(path, body, (text) => { find("asks").textContent = text; });

// By the number of a puzzle, whether its first answer was right.
function score() {
  try {
    return JSON.parse(localStorage.getItem(SCORE)) || {};
  } catch (error) {
    return {};
  }
}

function drawScore() {
  const answered = Object.values(score());
  find("score").textContent = `solved ${answered.filter(Boolean).length} of ${answered.length} tried, `
    + `${themes.length} in all`;
  find("again").hidden = !answered.length;
}

function draw(frame) {
  for (const [block, parts] of Object.entries(told.parts)) {
    for (const [id, changes] of Object.entries(parts)) view.put(block, id, bodyAt(changes, frame));
  }
}

function show(place) {
  if (!told) return;
  at = Math.max(0, Math.min(place, told.line.length));
  draw(at);
  find("place").textContent = `${at} / ${told.line.length}`;
  find("said").textContent = at ? told.line[at - 1] : "the position";
  [...find("line").children].forEach((row, n) => row.classList.toggle("now", n === at));
}

async function open(number) {
  [puzzle, told] = [null, null];
  find("told").hidden = true;
  find("choices").replaceChildren();
  find("asks").textContent = "The game is played to the position.";
  const found = await ask(`/api/puzzles/${number}`);
  if (!found) return;
  puzzle = found;
  history.replaceState(null, "", `#${number}`);
  const { seats, player } = puzzle;
  // Its theme would say much about the answer: it is told with it.
  find("asks").textContent = `Puzzle ${number + 1}, round ${puzzle.round}: ${seats[player].name}`
    + `, ${puzzle.vp[player]} VP, is to move. Which move brings most VP by the end?`;
  find("choices").replaceChildren(...puzzle.choices.map((choice, n) => element("button",
    { type: "button", "data-action": choice.action, "aria-pressed": "false",
      onclick: () => answer(choice.action), onpointerenter: () => ring(choice),
      onfocus: () => ring(choice) }, `${n + 1}: ${choice.words}`)));
  view = new TableView(find("table"), puzzle.picture);
  view.seat(player);
  document.body.dataset.ready = String(number);
}

// The place of a choice on the map.
function ring(choice) {
  const place = placeOf(choice);
  view.light(place ? place.split(" ") : []);
}

async function answer(action) {
  if (!puzzle || told) return;
  const found = await ask(`/api/puzzles/${puzzle.number}`, { action });
  if (!found) return;
  told = found;
  const kept = score();
  if (!(puzzle.number in kept)) {
    kept[puzzle.number] = told.right;
    try {
      localStorage.setItem(SCORE, JSON.stringify(kept));
    } catch (error) {
      find("score").textContent = "this browser keeps no score";
    }
  }
  drawScore();
  explain(action);
}

function explain(action) {
  const { loss, policy, candidates } = told;
  for (const button of find("choices").children) {
    button.disabled = true;
    button.setAttribute("aria-pressed", String(Number(button.dataset.action) === action));
    button.classList.toggle("answer", Number(button.dataset.action) === told.answer.action);
  }
  const mine = candidates.find((one) => one.action === action);
  const less = (candidates[0].vp - mine.vp).toFixed(1);
  const verdict = told.right ? "Right" : `Not this one, it has ${less} VP less`;
  const range = loss.low === loss.high ? "" : ` (${loss.low} to ${loss.high})`;
  find("verdict").textContent = `${verdict}. Best (theme: ${puzzle.theme}): ${told.answer.words}. It has `
    + `${loss.mean} VP more${range} than ${policy.words}, which ${told.agent} likes best.`;
  find("candidates").replaceChildren(
    element("tr", {}, ...["move", "VP at the end", "policy"].map((text) => element("th", {}, text))),
    ...candidates.map((one) => element("tr", {}, element("td", {}, one.words),
      element("td", {}, one.vp.toFixed(1)), element("td", {}, `${(100 * one.policy).toFixed(1)} %`))));
  const why = Object.entries(told.why).map(([name, vp]) => `${name} ${vp > 0 ? "+" : ""}${vp}`);
  find("why").textContent = why.length ? `Where the difference comes from, VP: ${why.join(", ")}.` : "";
  const agent = told.agent + (told.sha256 ? ` (${told.sha256.slice(0, 8)})` : "");
  find("how").textContent = `Means of ${told.playouts} games that ${agent} played on from each move.`
    + (told.chosen ? " These puzzles were chosen by which agents solve them." : "");
  find("line").replaceChildren(...["The position", ...told.line].map((words, n) =>
    element("li", { onclick: () => show(n) }, words)));
  find("told").hidden = false;
  show(0);
  find("next").focus();
}

// The next one of the theme that has not been answered; after the last, from the first on.
function next() {
  const kept = score();
  const wanted = find("theme").value;
  const numbers = themes.map((_, n) => n).filter((n) => wanted === ANY || themes[n] === wanted);
  const from = puzzle ? puzzle.number : -1;
  const order = [...numbers.filter((n) => n > from), ...numbers.filter((n) => n <= from)];
  open(order.find((n) => !(n in kept)) ?? order[0]);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const choice = puzzle && !told && puzzle.choices[Number(event.key) - 1];
  const keys = { ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1), n: next };
  const act = choice ? () => answer(choice.action) : keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

async function main() {
  const found = await ask("/api/puzzles");
  if (!found) return;
  ({ themes } = found);
  find("theme").replaceChildren(element("option", { value: ANY }, ANY),
    ...[...new Set(themes)].sort().map((name) => element("option", { value: name }, name)));
  find("theme").addEventListener("change", next);
  find("next").addEventListener("click", next);
  find("again").addEventListener("click", () => {
    localStorage.removeItem(SCORE);
    drawScore();
  });
  find("back").addEventListener("click", () => show(at - 1));
  find("forward").addEventListener("click", () => show(at + 1));
  document.addEventListener("keydown", pressed);
  drawScore();
  const left = lastGame();
  find("game").href = `/#${left}`;
  find("game").hidden = !left;
  const number = Number(location.hash.slice(1) || NaN);
  if (Number.isInteger(number) && number >= 0 && number < themes.length) open(number);
  else next();
}

main();
