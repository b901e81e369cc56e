"use strict";
// Hints in three steps (where, what, why), and the check of a move before it is played.

const HINT_EVERY = 1000; // ms between two looks at how far it is
const CHECK_EVERY = 300;
const HIDDEN = 0, WHERE = 1, WHAT = 2, WHY = 3;
let hint = null; // what is known of the position in view
let hintStep = HIDDEN; // how much of it is shown
let checkedMove = ""; // the address of the check of a move, while it runs
let hintGone = ""; // the decision at which a cancelled hint is reported, "" for none
let hintTurn = 0;
let hintAt = null; // where the page was scrolled to when a hint was asked for by hand

// The scroll positions of the page and the hint panel.
const scrolled = () => `${window.scrollY} ${byId("hints").closest(".deck").scrollTop}`;

// A hint from its first step on, or the whole of it to explain what was played.
function wantHint(step = WHERE) {
  hintStep = Math.max(hintStep, step);
  if (hint && hint.status === "ready" && game && hint.node === game.node) drawHint();
  else askHint(scrolled());
}

function askHint(at = null) {
  const turn = ++hintTurn;
  hintGone = "";
  hintAt = at;
  return followJob(jobAt(`/api/games/${game.id}/ask/hint?at=${game.node}`), HINT_EVERY,
    (answer) => turn === hintTurn && game?.node === answer.node, (answer) => {
      hint = answer;
      drawHint();
    });
}

// A game and its number of decisions by people.
const decisionsOf = (candidate) => `${candidate.id} ${decided()}`;

// Positions of another game have the same numbers, so its hints must not be shown.
function forgetHint() {
  hint = null;
  hintStep = HIDDEN;
  checkedMove = "";
  hintGone = "";
  hintTurn++;
}

// The position changed: the hint is useless and is cancelled.
function hintMoved() {
  if (hint && (!game || hint.node !== game.node)) {
    const runs = hint.status === "running" && game;
    const reports = runs && hintStep !== HIDDEN && !allSettings().warn;
    hintGone = reports ? decisionsOf(game) : "";
    if (runs && game.line.includes(hint.node)) {
      request(`/api/games/${game.id}/ask/hint?at=${hint.node}`, { off: true }, () => {}); // a move has done so already
    }
    hint = null;
    hintStep = HIDDEN;
    hintTurn++;
  }
  const mine = game && game.legal.length > 1 && !game.thinking;
  byId("hint").disabled = !mine;
  byId("hint").hidden = game.over;
  const isLast = game.node === game.line[game.line.length - 1];
  byId("explain").hidden = !game.explained || game.thinking !== "" || (mine && isLast);
  if (mine && allSettings().warn && !hint) askHint();
  drawHint();
}

function drawHint() {
  const holder = byId("hints");
  if (!hint || !game || hintStep === HIDDEN) {
    announce("hint", "");
    holder.replaceChildren(...(game && hintGone === decisionsOf(game) ? [element("p", { class: "keys" },
      say("hint-cancelled"))] : []));
    return;
  }
  const { candidates, message, status, tried } = hint;
  const first = candidates.length && !holder.querySelector(".hint-step");
  const next = { [WHERE]: say("what"), [WHAT]: say("why") }[hintStep];
  const progress = {
    running: status === "running" ? farOf(hint) : "",
    failed: message,
    "called off": say("cancelled"),
  }[status] || (candidates.length && hintStep === WHY
    ? say("plans-tried", { n: tried, games: candidates[0].playouts }) : "");
  const off = status === "running" ? [element("div", { class: "row" },
    element("button", { type: "button", id: "hint-off", onclick: () => callOff("hint") }, say("cancel")))] : [];
  const ready = status === "ready" && candidates.length;
  announce("hint", ready ? say("look", { place: candidates[0].place }) : status === "running" ? message : progress);
  holder.replaceChildren(
    ...(ready ? [element("p", { class: "hint-step" }, say("look", { place: candidates[0].place }))] : []),
    ...(hintStep >= WHAT ? candidates.map(candidateButton) : []),
    ...(ready && hintStep >= WHAT && hint.nothing_near ? [element("p", {}, hint.nothing_near)] : []),
    ...(ready && next ? [element("div", { class: "row" }, element("button", { type: "button", id: "hint-next",
      onclick: () => { hintStep += 1; drawHint(); } }, next))] : []),
    element("p", { class: "keys" }, progress), ...off);
  // Never move the page for a user who has scrolled on.
  if (first && hintAt === scrolled()) holder.scrollIntoView({ block: "nearest" });
}

function candidateButton(candidate, number) {
  const { orders, line, why } = candidate;
  const loss = number ? range("vp-less", candidate.lost, 1) : say("best-of-plans");
  const notes = [...(candidate.played ? [say("was-played")] : []), loss,
    ...(orders.length ? [say("same-plan", { list: orders.join("; ") })] : []),
    ...(hintStep >= WHY && Object.keys(why).length ? [reasonWords(why, number)] : []),
    ...(hintStep >= WHY && line.length ? [say("then-line", { list: line.join("; ") })] : [])];
  return element("button", { type: "button", class: "candidate", "data-hint": candidate.text,
    title: candidate.text, disabled: !game.legal.length, onclick: () => act(candidate.text), "data-at": placeOf(candidate) || null },
  element("span", { class: "words" }, candidate.words),
  element("span", { class: "chance" }, range("vp-range", candidate.vp, 0)),
  element("span", { class: "effects" }, ...notes.map((text) => element("span", { class: "note" }, text))));
}

// The difference in VP by source: of the best compared with the next, of the others with the best.
function reasonWords(why, number) {
  const parts = ["ahead-in", "behind-in"].flatMap((id, side) => {
    const list = Object.entries(why).filter(([, vp]) => (vp < 0) === (side === 1))
      .map(([source, vp]) => say("source-vp", { source, vp: spelled(Math.abs(vp), 1) })).join(", ");
    return list ? [say(id, { list })] : [];
  });
  return say(number ? "compared-best" : "compared-next", { list: parts.join("; ") });
}

// Cancel a hint or a review.
async function callOff(what) {
  const answer = await call(`/api/games/${game.id}/ask/${what}?at=${game.node}`, { off: true });
  if (what === "hint" && answer && game && answer.node === game.node) {
    hint = answer;
    drawHint();
  }
}

// A value with its interval, with so many digits after the point.
function range(id, [vp, low, high], digits) {
  return say(id, { vp: spelled(vp, digits), low: spelled(low, digits), high: spelled(high, digits) });
}

// Whether to take a move, after a confirmation if a setting requires it.
async function confirmed(texts) {
  const text = texts[texts.length - 1];
  const settings = allSettings();
  const last = text === "pass" || (text.startsWith("booster") && game.asks === "TURN");
  if (settings.ask_pass && last && !window.confirm(say("ask-pass"))) return false;
  if (!settings.warn || !game.advised || game.legal.length < 2) return true;
  const checked = await check(texts);
  if (!checked || !checked.warned) return checked !== false;
  return window.confirm(range(`ask-${checked.grade}`, checked.lost, 0));
}

// The check of a move; null without a result, false if it is not to be played.
async function check(texts) {
  const { id, node } = game;
  const path = `/api/games/${id}/ask/check?at=${node}${texts.map((text) => `&action=${encodeURIComponent(text)}`).join("")}`;
  const before = checkedMove;
  if (before) call(before, { off: true });
  if (before === path) { // chosen again: play it unchecked
    checkedMove = "";
    return null;
  }
  checkedMove = path;
  const isCurrent = () => checkedMove === path && game?.id === id && game.node === node;
  const answer = await followJob(jobAt(path), CHECK_EVERY, isCurrent,
    (report) => {
      if (report.status === "running") showMessage(say("checking-move", { text: farOf(report) }), "none");
      announce("check", report.message);
    });
  if (!isCurrent()) return false;
  checkedMove = "";
  showMessage("");
  return answer?.status === "called off" ? false : answer && answer.checked;
}
