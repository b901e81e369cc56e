"use strict";
// Shared by the scripts of the table: the state of the page, and requests to the server.

let offers = null;
let game = null;
let view = null;
let shown = null; // the position that this browser shows, null for the present one of the game
let analysis = null;
let busy = false;
let progressAt = 0;
let requestSentAt = 0; // when the request under way was sent, 0 for none
let serverLostAt = 0; // since when the server has not answered, 0 while it does
let drawnLegal = "";
let requests = Promise.resolve();
let polls = 0; // long polls begun; only the last one goes on
let pressedOn = null; // what the click under way is on
const NOBODY = "";

// The player in a word: the level of an agent that has one in these games.
const called = (who, ruleset = game.ruleset) => {
  if (who === offers.human) return say("you");
  if (who === AUTOMA) return say("the-automa");
  return offers.agents.find(({ name }) => name === who)?.level_names[ruleset] || who;
};

// A request; null and a message if it is rejected.
const call = (path, body = undefined) => request(path, body, showMessage);

const messageLine = () => byId(game ? "message" : "start-message");

// An error, a "status", or a text with running seconds that is not announced ("none").
function showMessage(text, role = "alert") {
  const line = messageLine();
  line.setAttribute("role", role);
  line.textContent = text;
  line.classList.toggle("quiet", role !== "alert");
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const POLL_TRIES = 5;

// The requests of a job for `followJob`: the first one starts it.
const jobAt = (path) => (isFirst) => call(path, isFirst ? {} : undefined);

// Follow work in the background: request its status, `ask(isFirst)`, and show each answer until the
// work ends or `isCurrent` is false. Work whose requests fail several times in a row has failed.
// Returns the last answer.
async function followJob(ask, every, isCurrent, show) {
  let answer = await ask(true);
  while (answer && isCurrent(answer)) {
    show(answer);
    if (answer.status !== "running") break;
    let next = null;
    for (let tries = 0; !next && tries < POLL_TRIES && isCurrent(answer); tries++) {
      await pause(every);
      if (isCurrent(answer)) next = await ask(false);
    }
    if (!next && !isCurrent(answer)) break; // no longer in view
    answer = next ?? { ...answer, status: "failed", message: messageLine().textContent };
  }
  return answer;
}

// Long polling: the server answers when the game changes.
async function follow(id) {
  const poll = ++polls; // the same game may be left and entered meanwhile
  const isCurrent = () => poll === polls && game?.id === id;
  while (isCurrent()) {
    const [at, began] = [shown, performance.now()];
    const since = game.version - (serverLostAt ? 1 : 0); // an answer at once from a server that is back
    let answer = null;
    try {
      const response = await fetch(`/api/games/${id}?since=${since}&at=${at ?? ""}`);
      serverLostAt = 0;
      if (response.status >= 400 && response.status < 500) {
        const { error } = await response.json().catch(() => ({})); // a proxy's page is no JSON
        if (!isCurrent()) break;
        game.progress = [];
        drawProgress();
        return showMessage(error && response.status !== 404 ? error : say("no-game"));
      }
      answer = await response.json();
    } catch (error) {
      serverLostAt ||= performance.now();
      await pause(2000);
      continue;
    }
    if (at !== shown) continue;
    if (answer && isCurrent() && answer.version > game.version) update(answer);
    else if (performance.now() - began < 5000) await pause(1000); // a busy server answers immediately
  }
}

document.addEventListener("click", ({ target }) => { pressedOn = target.closest("button, li"); }, true);
window.addEventListener("click", () => { pressedOn = null; });

// Requests run one after another; a second click on an action during the first is ignored. The
// pressed element is busy until the server answers.
function change(what, body = {}) {
  if (busy && what === "act") return requests;
  const pressedElement = byId("choice").contains(pressedOn) ? chosenPlace : pressedOn;
  pressedElement?.setAttribute("aria-busy", "true");
  return queue(() => `/${what}?at=${shown ?? ""}`, body).finally(() => pressedElement?.removeAttribute("aria-busy"));
}

// Show a position of the game, in this browser alone.
const go = (node) => queue(() => `?since=1&at=${node}`);

function queue(path, body) {
  requests = requests.catch(() => null).then(() => send(path, body)); // whatever the last one threw
  return requests;
}

async function send(path, body) {
  if (!game) return null;
  closeChoice();
  byId("message").textContent = "";
  busy = true;
  requestSentAt = performance.now();
  document.body.classList.add("busy");
  const answer = await call(`/api/games/${game.id}${path()}`, body);
  busy = false;
  requestSentAt = 0;
  document.body.classList.remove("busy");
  if (answer) serverLostAt = 0;
  drawProgress();
  if (answer && game && answer.id === game.id && answer.version >= game.version) {
    shown = answer.node === answer.now ? null : answer.node;
    update(answer);
  }
  if (!answer && game) {
    // Reset the form after a rejected request.
    byId("seats").dataset.key = "";
    drawSeats();
  }
  return answer;
}
