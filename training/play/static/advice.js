"use strict";
// Advice on a set-up: computed in the background, opened in another tab.

const ADVICE_EVERY = 1000; // ms between two looks at how far it is
let adviceNow = null; // the set-up in view and the status of its advice
let adviceAsked = ""; // what this page has asked for last
let adviceTurn = 0;
let isAdviceWanted = false; // asked for while a set-up was dealt

// Show the advice for a set-up; without arguments hide it.
function adviceOn(setup, answer) {
  // A running request is more recent.
  if (answer && adviceNow && adviceNow.id === answer.id && adviceNow.status === "running") return;
  adviceTurn++;
  adviceNow = answer && { ...answer, setup };
  byId("advice").hidden = !answer;
  if (!answer) return;
  drawAdvice();
  if (answer.status === "running") followAdvice();
}

// Follow the advice on the set-up in view, after its start if it `begins`.
function followAdvice(begins = false) {
  const { id, setup } = adviceNow;
  const turn = ++adviceTurn;
  return followJob((isFirst) => (isFirst && begins ? call("/api/advice", setup) : call(`/api/advice/${id}`)),
    ADVICE_EVERY, () => turn === adviceTurn && !game, showAdvice);
}

function showAdvice(answer) {
  adviceNow = { ...adviceNow, ...answer };
  drawAdvice();
}

function drawAdvice() {
  const { status, message } = adviceNow;
  const running = status === "running";
  const [button, off] = [byId("advise"), byId("advise-off")];
  const hadFocus = [button, off].includes(document.activeElement);
  button.textContent = say(status === "ready" ? "open-advice" : "advice");
  button.title = say(status === "ready" ? "other-tab" : "advice-about");
  button.disabled = running;
  off.hidden = !running;
  // Keep the keyboard focus on the visible button.
  if (hadFocus) (running ? off : button).focus();
  tellAdvice({
    running: say("advice-running"), ready: say("advice-ready"), failed: message,
    "called off": say("cancelled"),
  }[status] || "", running ? ` ${farOf(adviceNow)}` : "");
}

function tellAdvice(text, far = "") {
  byId("advice-status").textContent = text + far;
  announce("advice", text);
}

function advise() {
  isAdviceWanted = isDealing;
  if (isDealing) return;
  const { id, refusal, status } = adviceNow;
  if (status === "ready") window.open(`/api/advice/${id}/page`, "_blank", "noopener");
  else if (refusal) tellAdvice(say("no-advice", { reason: refusal }));
  else {
    if (adviceAsked !== id) adviceLeft();
    adviceAsked = id;
    adviceNow.status = "running"; // an earlier look may answer before the start does
    followAdvice(true).then((answer) => { if (!answer && adviceNow?.id === id) adviceNow.status = "none"; });
  }
}

async function adviceOff() {
  const { id } = adviceNow;
  const answer = await call(`/api/advice/${id}`, { off: true });
  if (!answer || adviceNow?.id !== id || game) return;
  adviceTurn++; // an earlier answer may still be under way
  showAdvice(answer);
}

// Cancel the previous request.
function adviceLeft() {
  if (adviceAsked) call(`/api/advice/${adviceAsked}`, { off: true });
  adviceAsked = "";
}
