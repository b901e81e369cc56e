"use strict";
// Requests of a page to the server, its language, and the game that other pages lead back to.

const LAST_GAME = "gaia_jax game"; // under which a tab keeps the id of the game that it showed last

const keepLastGame = (id) => store(LAST_GAME, id, () => sessionStorage);
const lastGame = () => stored(LAST_GAME, null, () => sessionStorage);

// How far work in the background is, in words.
const farOf = ({ message, done, total, seconds }) =>
  say("seconds", { text: done ? say("games-of", { text: message, done, total }) : message, n: seconds });

// Screen readers announce what is awaited, for each kind of work when it changes: not its seconds.
document.body.append(element("p", { id: "announced", class: "unseen", role: "status" }));
const announced = {};
function announce(kind, text) {
  if (text && text !== announced[kind]) byId("announced").textContent = text;
  announced[kind] = text;
}

// The answer of a request; reports a text with running seconds meanwhile.
async function waiting(text, answer, report = (line) => showMessage(line, "none")) {
  const began = performance.now();
  const showSeconds = () => {
    const n = Math.round((performance.now() - began) / 1000);
    report(say("seconds-running", { text, n }));
    announce("wait", n ? text : "");
  };
  showSeconds();
  const timer = setInterval(showSeconds, 1000);
  return answer.finally(() => clearInterval(timer));
}

async function request(path, body, report) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  try {
    const response = await fetch(path, options);
    const data = await response.json();
    if (response.ok) return data;
    report(data.error || say("error-number", { n: response.status }));
  } catch (error) {
    report(say("no-answer", { error: error.message }));
  }
  return null;
}

// Choose the language of this browser: a cookie that the server reads.
function wireLanguages() {
  for (const select of document.querySelectorAll("select.language")) {
    select.replaceChildren(...Object.entries(LANGUAGES).map(([code, name]) =>
      element("option", { value: code, lang: code, selected: code === LANGUAGE }, name)));
    select.addEventListener("change", () => {
      document.cookie = `language=${select.value}; path=/; max-age=31536000; samesite=lax`;
      const address = new URL(location);
      address.searchParams.delete("lang");
      history.replaceState(null, "", address);
      location.reload();
    });
  }
}
