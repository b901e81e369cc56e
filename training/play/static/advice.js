"use strict";
// Advice on a set-up: computed in the background, opened in another tab.

const ADVICE_EVERY = 1000; // ms between two looks at how far it is
let adviceNow = null; // the set-up in view and the status of its advice
let adviceAsked = ""; // what this page has asked for last
let adviceTimer = 0;
let isAdviceWanted = false; // asked for while a set-up was dealt

// Show the advice for a set-up; without arguments hide it.
function adviceOn(setup, answer) {
  // A running request is more recent.
  if (answer && adviceNow && adviceNow.id === answer.id && adviceNow.status === "running") return;
  clearTimeout(adviceTimer);
  adviceNow = answer && { ...answer, setup };
  byId("advice").hidden = !answer;
  if (answer) drawAdvice();
}

function drawAdvice() {
  const { id, status, message } = adviceNow;
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
  clearTimeout(adviceTimer);
  if (running) adviceTimer = setTimeout(() => askAdvice(`/api/advice/${id}`), ADVICE_EVERY);
}

function tellAdvice(text, far = "") {
  byId("advice-status").textContent = text + far;
  announce("advice", text);
}

async function askAdvice(path, body) {
  const { id } = adviceNow;
  const answer = await call(path, body);
  if (adviceNow?.id !== id || game) return;
  adviceNow = { ...adviceNow, ...(answer || { status: "none" }) };
  drawAdvice();
}

function advise() {
  isAdviceWanted = isDealing;
  if (isDealing) return;
  const { id, refusal, status, setup } = adviceNow;
  if (status === "ready") window.open(`/api/advice/${id}/page`, "_blank", "noopener");
  else if (refusal) tellAdvice(say("no-advice", { reason: refusal }));
  else {
    if (adviceAsked !== id) adviceLeft();
    adviceAsked = id;
    askAdvice("/api/advice", setup);
  }
}

const adviceOff = () => askAdvice(`/api/advice/${adviceNow.id}`, { off: true });

// Cancel the previous request.
function adviceLeft() {
  if (adviceAsked) call(`/api/advice/${adviceAsked}`, { off: true });
  adviceAsked = "";
}
