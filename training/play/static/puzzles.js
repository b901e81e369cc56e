"use strict";
// The puzzles: a position and some moves, of which one is clearly best; then why, and the score.

const find = (id) => document.getElementById(id);
let scoreKey = ""; // under which the browser keeps what was answered: by the file of the puzzles
const ANY = "any";
let themes = [];
let levels = []; // by puzzle: for whom it is
let puzzle = null;
let told = null;
let view = null;
let at = 0; // which step of the two lines: each begins with the position, which has no text
let shut = true; // whether no answer is wanted: none yet, or no more
const WORDS = ["no", "one", "two", "three", "four", "five", "six"];
const SECOND = "second"; // a wrong answer first, then the right one
const MARKS = new Map([[true, "right"], [false, "wrong"], [SECOND, "right at a second try"]]);

const vpText = (vp) => vp.toFixed(1);
const say = (text) => { find("asks").textContent = text; };
// Says nothing any more once another puzzle is asked for.
const sayWhile = (mine) => (text) => mine === opened && say(text);

// By the number of a puzzle from 0: whether its first answer was right, or a later one.
function score() {
  try {
    return JSON.parse(localStorage.getItem(scoreKey)) || {};
  } catch (error) {
    return {};
  }
}

function keep(number, mark) {
  try {
    localStorage.setItem(scoreKey, JSON.stringify({ ...score(), [number]: mark }));
    drawScore();
  } catch (error) {
    find("score").textContent = "this browser keeps no score";
  }
}

function drawScore() {
  const kept = score();
  const answered = Object.values(kept);
  const later = answered.filter((mark) => mark === SECOND).length;
  find("score").textContent = `solved ${answered.filter((mark) => mark === true).length} of `
    + `${answered.length} tried, ${later ? `${later} more at a second try, ` : ""}${themes.length} in all`;
  find("again").hidden = !answered.length;
  const options = themes.map((_, n) => element("option", { value: n },
    n in kept ? `${n + 1}: ${MARKS.get(kept[n])}` : String(n + 1)));
  find("number").replaceChildren(element("option", { value: "", hidden: true }, ""), ...options);
  find("number").value = puzzle ? String(puzzle.number) : "";
}

function draw(frame) {
  for (const [block, parts] of Object.entries(told.parts)) {
    for (const [id, changes] of Object.entries(parts)) view.put(block, id, bodyAt(changes, frame));
  }
}

function show(place) {
  if (!told || !shut) return;
  at = Math.max(0, Math.min(place, told.line.length - 1));
  draw(at);
  const step = told.line[at];
  find("place").textContent = `${at} / ${told.line.length - 1}`;
  find("said").textContent = wordsOf(step, at);
  ring(step);
  const list = find("line"); // it alone is scrolled, so that the table stays where it is
  [...list.children].forEach((row, n) => row.classList.toggle("now", n === at));
  const row = list.children[at];
  const above = row ? Math.max(0, (list.clientHeight - row.offsetHeight) / 2) : 0;
  if (row) list.scrollTop = row.offsetTop - list.offsetTop - above;
}

// Tells how far the game of a puzzle is played, until the function that is given back is called.
function playing(number, tell) {
  const from = Date.now();
  let played = null;
  const progress = () => {
    const seconds = Math.round((Date.now() - from) / 1000);
    tell("The game is played to the position"
      + (played ? `: ${played[0]} of ${played[1]} decisions` : "") + (seconds ? `, ${seconds} s.` : ".")
      + (seconds > 5 && !(played && played[0]) ? " The first one of a server takes longest." : ""));
  };
  progress();
  const timer = setInterval(async () => {
    progress();
    const found = await request("/api/puzzles", undefined, () => {});
    played = (found && found.playing[number]) || played;
  }, 1000);
  return () => clearInterval(timer);
}

// How many of the legal moves are shown.
function shown() {
  const main = puzzle.choices.filter((one) => !one.text.startsWith("free ")).length;
  const free = puzzle.choices.length - main;
  const some = main === puzzle.legal ? `all ${puzzle.legal}` : `${WORDS[main] || main} of ${puzzle.legal}`;
  const more = free ? `, and ${WORDS[free]} that a conversion begins` : puzzle.converts ? "; a conversion may open more" : "";
  return `Below: ${some} legal moves${more}.`;
}

let opened = 0; // which call of `open` is the last: an earlier one that comes late shows nothing
let latest = -1; // the number of the last puzzle that was asked for

async function open(number, note = "") {
  const mine = ++opened;
  const tell = sayWhile(mine);
  [puzzle, told, shut, at, latest] = [null, null, true, 0, number];
  find("told").hidden = true;
  find("verdict").textContent = "";
  find("reveal").hidden = true;
  find("choices").replaceChildren();
  const done = playing(number, tell);
  const found = await request(`/api/puzzles/${number}`, undefined, tell);
  done();
  if (!found || mine !== opened) return;
  [puzzle, shut] = [found, false];
  history.replaceState(null, "", `#${number + 1}`);
  const { seats, player } = puzzle;
  const mark = score()[number];
  // Its theme would say much about the answer: it is told with it.
  say(`${note}Puzzle ${number + 1}, round ${puzzle.round}: ${seats[player].name}`
    + `, ${puzzle.vp[player]} VP, is to move. Which move brings most VP by the end? ${shown()}`
    + (mark === undefined ? "" : ` You have tried it: ${MARKS.get(mark)}.`));
  find("choices").replaceChildren(...puzzle.choices.map((choice, n) => element("button",
    { type: "button", "data-action": choice.action, "aria-pressed": "false",
      onclick: () => answer(choice.action), ...ringing(choice) }, `${n + 1}: ${choice.words}`, ...brings(choice))));
  view = new TableView(find("table"), puzzle.picture);
  view.seat(player);
  view.mark(numbers());
  drawScore();
  document.body.dataset.ready = String(number + 1);
}

// By place on the map, the numbers of the choices that are there.
function numbers() {
  const found = {};
  puzzle.choices.forEach((choice, n) => {
    const place = placeOf(choice);
    if (place) (found[place] ??= []).push(n + 1);
  });
  return Object.fromEntries(Object.entries(found).map(([place, some]) => [place, `${some.join(" ")}:`]));
}

// What a move costs and brings, under its name; nothing for none.
const brings = (move) => (move.brings ? [element("span", { class: "brings" }, move.brings)] : []);

// The VP of who is asked, behind its own steps and at the end.
const vpBehind = ({ own, over, vp }) => (own || over
  ? [element("span", { class: "brings" }, over
    ? `the end: ${puzzle.seats[puzzle.player].name} have ${vp} VP` : `${vp} VP now`)] : []);

// The place of a move on the map; nothing for none.
function ring(move) {
  const place = move && placeOf(move);
  view.light(place ? place.split(" ") : []);
}

// It is told while the pointer or the keyboard is at what names the move, then that of the step.
function ringing(move) {
  const on = () => ring(move);
  const off = () => ring(told && shut ? told.line[at] : null);
  return { onpointerenter: on, onfocus: on, onpointerleave: off, onblur: off };
}

let answering = 0; // which `open` has an answer on its way

// The answer; what it is told is made while somebody thinks, and waited for where there was no time.
async function answered(action) {
  const [from, mine] = [Date.now(), opened];
  const tell = (text) => {
    if (mine === opened) find("verdict").textContent = text;
  };
  const timer = setInterval(
    () => tell(`The lines are played on: ${Math.round((Date.now() - from) / 1000)} s.`), 1000);
  answering = mine;
  // Behind a second try that is right stands the line of the first, which was not.
  const beside = told && action === told.answer.action ? { beside: told.tried } : {};
  const found = await request(`/api/puzzles/${puzzle.number}`, { action, ...beside }, sayWhile(mine));
  clearInterval(timer);
  if (answering === mine) answering = 0;
  tell("");
  return mine === opened ? found : null;
}

// A wrong one may be followed by a second try; the score tells the two apart.
async function answer(action) {
  const again = told && !told.right && told.tried === action;
  if (shut || again || answering === opened) return;
  const first = !told;
  const found = await answered(action);
  if (!found) return;
  const mark = score()[puzzle.number];
  if (mark === undefined) keep(puzzle.number, found.right);
  else if (mark === false && found.right) keep(puzzle.number, SECOND);
  told = { ...found, tried: action };
  const button = find("choices").querySelector(`[data-action="${action}"]`);
  button.setAttribute("aria-pressed", "true");
  if (first && !found.right && puzzle.choices.length > 2) {
    button.disabled = true;
    find("verdict").textContent = `${lessText(action)} Try once more, or see the answer.`;
    find("reveal").hidden = false;
    find("reveal").focus();
  } else reveal(action);
}

// What a move has less than the answer.
function behind(action) {
  const [best, mine] = [told.candidates[0], told.candidates.find((one) => one.action === action)];
  return action === told.policy.action ? told.loss.mean : best.vp - mine.vp;
}

function lessText(action) {
  return `Not this one, it has ${vpText(behind(action))} VP less.`;
}

// The agent that made the puzzles; the one of that name may have learnt on.
const maker = () => (told.earlier ? `an earlier ${told.agent}` : told.agent);

// Whether a stronger agent has played on at the seat that is asked.
const isHeld = () => Boolean(told.by);

function verdict(action) {
  const { loss, policy, candidates } = told;
  const second = candidates[1];
  const range = loss.low === loss.high ? "" : ` (${vpText(loss.low)} to ${vpText(loss.high)})`;
  const favourite = `${policy.words}, which ${told.beats || maker()} would play`;
  const ahead = `${vpText(loss.mean)} VP more${range} than ${favourite}`;
  const nearest = second.action === policy.action ? " and which is the second best" : ", and "
    + `${vpText(behind(second.action))} VP more than the second best, ${second.words}`;
  const best = [told.answer.words, ...told.then].join(", then ");
  return `${told.right ? "Right." : lessText(action)} Best (theme: ${told.theme}): `
    + `${best}. It has ${ahead}${nearest}.`;
}

function madeBy() {
  const { chosen } = told;
  const kept = [["solves", chosen?.solved_by || []], ["does not", chosen?.unsolved_by || []]]
    .filter(([, names]) => names.length).map(([verb, names]) => `${names.join(" or ")} ${verb}`);
  const order = isHeld() ? " Behind each near move they also did what they do from the answer on;"
    + " the better of the two ways counts." : told.candidates.some((one) => one.answer_next)
    ? " A move that the answer may follow was played on in both ways, and has the VP of the better one." : "";
  const { rival } = told;
  const nearest = () => rival.less > 0 ? `the nearest, ${rival.words}, was ${vpText(rival.less)} VP behind`
    : `none had more, and one has as much: ${rival.words}`;
  const others = rival ? ` Of the ${rival.moves} other legal moves the most promising were played on`
    + ` in a few games each: ${nearest()}.` : "";
  const from = `Means of ${told.playouts} games`;
  const means = isHeld() ? `${from} from each move: ${puzzle.seats[puzzle.player].name} play on as`
    + ` ${told.by}, all others as ${maker()}. The answer is ahead of all in ${told.ahead}.` : `${from} that ${maker()} played on from each move.`;
  return `${means}${order}${others}`
    + " Each line is one such game, all on one luck: one where they differ much as the means do."
    + (kept.length ? ` Kept are puzzles that ${kept.join(" and ")}.` : "");
}

// Where the answer has more VP than the move beside it, and where less, in one sentence.
function whyText() {
  const rest = Object.values(told.why).reduce((left, vp) => left - vp, behind(told.beside.action));
  const sources = [...Object.entries(told.why), ["all else", rest]].filter(([, vp]) => vpText(vp) !== "0.0");
  const listed = (word, some) => some.map(([name, vp], n) =>
    `${vpText(Math.abs(vp))}${n ? "" : ` VP ${word}`} from ${name}`).join(", ");
  const parts = [["more", (vp) => vp > 0], ["less", (vp) => vp < 0]]
    .map(([word, wanted]) => listed(word, sources.filter(([, vp]) => wanted(vp)))).filter(Boolean);
  return parts.length ? `Why: beside ${told.beside.words} the answer brings ${parts.join(", but ")}.` : "";
}

// What others take in the second line and not in the first; nothing for nothing.
function raceText() {
  const head = told.line.findIndex(({ text }, n) => n && !text);
  const taken = told.taken.map(({ name, words, step }) => `${words} (${name}, step ${head + step})`);
  return taken.length ? `What the first line takes goes to others in the second: ${taken.join("; ")}.` : "";
}

// A step of the lines; their heads say which move they are of and how they end.
function wordsOf({ text, words }, n) {
  if (text) return words;
  const after = told.line.slice(n + 1);
  const other = after.findIndex((step) => !step.text); // where the second line begins
  const line = other < 0 ? after : after.slice(0, other);
  const last = line.find((step) => step.over); // a line may be cut before the end
  const end = last ? `: ${last.vp} VP at the end` : "";
  if (!n) return `${words}, and then ${told.answer.words}${end}`;
  const later = line.some((step) => step.own && step.text === told.answer.text);
  return `${words}, and then ${told.beside.words}${later ? ", with the answer later on" : ""}${end}`;
}

function reveal(action) {
  explain(action);
  find("next").focus();
}

function explain(action) {
  shut = true;
  find("reveal").hidden = true;
  for (const button of find("choices").children) {
    button.disabled = true;
    button.classList.toggle("answer", Number(button.dataset.action) === told.answer.action);
  }
  find("verdict").textContent = verdict(action);
  const cell = (vp, next) => element("td", {}, vpText(vp) + (next ? ", with the answer behind it" : ""));
  const heads = ["move (click: its line)", "VP at the end", `how often ${maker()} would play it`];
  find("candidates").replaceChildren(
    element("tr", {}, ...heads.map((text) => element("th", {}, text))),
    ...told.candidates.map((one) => element("tr", ringing(one),
      element("td", {}, one.action === told.answer.action ? one.words : lineButton(one)),
      cell(one.vp, one.answer_next),
      element("td", {}, `${(100 * one.policy).toFixed(1)} %`))));
  find("why").textContent = [whyText(), raceText()].filter(Boolean).join(" ");
  ["first", "second"].forEach((id, n) => {
    const moves = told.only[n];
    find(id).textContent = moves.length ? `Only in the ${id} line: ${moves.join("; ")}.` : "";
  });
  find("how").textContent = madeBy();
  find("line").replaceChildren(...told.line.map((step, n) => element("li",
    { onclick: () => show(n), class: step.own ? "own" : step.text ? "" : "head" }, wordsOf(step, n),
    ...brings(step), ...vpBehind(step))));
  find("told").hidden = false;
  show(0);
}

// Shows the line of another candidate beside the answer's; of several clicks the last one counts.
function lineButton(candidate) {
  const { action, words } = candidate;
  const beside = async () => {
    if (action === told.beside.action) return;
    const [mine, { tried }, { number }] = [++opened, told, puzzle];
    const tell = (text) => {
      if (mine === opened) find("said").textContent = text;
    };
    tell("Its line is drawn.");
    const found = await request(`/api/puzzles/${number}`, { action: tried, beside: action }, tell);
    if (!found || mine !== opened) return;
    const here = document.activeElement.dataset.action === String(action);
    draw(0); // what the old lines change is as it was
    told = { ...found, tried };
    explain(tried);
    if (here) find("candidates").querySelector(`[data-action="${action}"]`).focus({ preventScroll: true });
  };
  return element("button", { type: "button", "data-action": action, onclick: beside,
    "aria-pressed": String(action === told.beside.action), ...ringing(candidate) }, words);
}

// The next one of the theme that has not been answered; after the last, from the first on.
function next() {
  const kept = score();
  const fits = (id, of) => [ANY, of].includes(find(id).value);
  const numbers = themes.map((_, n) => n).filter((n) => fits("theme", themes[n]) && fits("level", levels[n]));
  const order = [...numbers.filter((n) => n > latest), ...numbers.filter((n) => n <= latest)];
  const left = order.find((n) => !(n in kept));
  const what = "of this theme and level";
  if (!numbers.length) {
    opened++;
    [puzzle, told, shut] = [null, null, true];
    find("told").hidden = true;
    find("reveal").hidden = true;
    find("verdict").textContent = "";
    find("choices").replaceChildren();
    say(`There is no puzzle ${what}.`);
    return;
  }
  const all = numbers.length > 1 ? `All ${numbers.length} ${what} are tried.` : `It is the only one ${what}.`;
  open(left ?? order[0], left === undefined ? `${all} ` : "");
}

// The puzzle of the address, which counts from 1; without any the next one.
function route() {
  const text = location.hash.slice(1);
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (!text) next();
  else if (number >= 1 && number <= themes.length) open(number - 1);
  else say(`There is no puzzle ${text}: they are 1 to ${themes.length}.`);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const choice = !shut && puzzle.choices[Number(event.key) - 1];
  const keys = { ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1), n: next };
  const act = choice ? () => answer(choice.action) : keys[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

async function main() {
  const found = await request("/api/puzzles", undefined, say);
  if (!found) return;
  ({ themes, levels } = found);
  scoreKey = `gaia_jax puzzles ${found.mark}`;
  for (const [id, all] of [["theme", themes], ["level", levels]]) {
    find(id).replaceChildren(element("option", { value: ANY }, `${ANY} (${all.length})`),
      ...[...new Set(all)].sort().map((name) => element("option", { value: name },
        `${name} (${all.filter((one) => one === name).length})`)));
    find(id).addEventListener("change", next);
  }
  find("next").addEventListener("click", next);
  find("number").addEventListener("change", () => open(Number(find("number").value)));
  find("reveal").addEventListener("click", () => reveal(told.tried));
  find("again").addEventListener("click", () => {
    localStorage.removeItem(scoreKey);
    drawScore();
  });
  find("back").addEventListener("click", () => show(at - 1));
  find("forward").addEventListener("click", () => show(at + 1));
  document.addEventListener("keydown", pressed);
  drawScore();
  const left = lastGame();
  if (left) find("game").href = `/#${left}`;
  find("game").hidden = !left;
  window.addEventListener("hashchange", route);
  route();
}

main();
