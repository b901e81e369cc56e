"use strict";
// Requests of a page to the server, and the game that other pages lead back to.

const LAST_GAME = "gaia_jax game"; // under which a tab keeps the id of the game that it showed last

const keepLastGame = (id) => store(LAST_GAME, id, () => sessionStorage);
const lastGame = () => stored(LAST_GAME, null, () => sessionStorage);

// How far work in the background is, in words.
const farOf = ({ message, done, total, seconds }) =>
  `${message}${done ? `, ${done} of ${total} games` : ""}, ${seconds} s`;

async function request(path, body, report) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  try {
    const response = await fetch(path, options);
    const data = await response.json();
    if (response.ok) return data;
    report(data.error || `error ${response.status}`);
  } catch (error) {
    report(`the server does not answer (${error.message})`);
  }
  return null;
}
