"use strict";
// The end of a game: places, points by source, round by round, the best moves, and what comes next.

let endOf = "";
let goneOn = ""; // the game that was seen before its end

function drawEnd() {
  byId("end").hidden = !game.end;
  if (!game.end) {
    endOf = "";
    goneOn = game.id;
    return;
  }
  const key = `${game.id} ${game.node}`;
  if (key === endOf) return;
  endOf = key;
  // Show the result whatever panel was in front.
  if (goneOn === game.id) view.decks.show("Play");
  const { places, rounds, best, left, verdict } = game.end;
  const seats = [...game.seats].sort((a, b) => places[a.player] - places[b.player]);
  const chart = element("div", { class: "chart-holder" });
  byId("end").replaceChildren(element("h2", {}, say("the-end")),
    ...(verdict ? [element("p", { class: "verdict" }, verdict)] : []),
    element("ol", { class: "ranking" }, ...seats.map((seat) => element("li", { value: places[seat.player] },
      disc(seat), element("b", {}, ` ${vpWords(seat.vp)} `), whoPlayed(seat)))),
    element("div", { class: "row" },
      element("button", { id: "again", title: say("again-about"), onclick: again }, say("again")),
      element("button", { id: "review", hidden: !game.advised, title: say("review-about"), onclick: review }, say("review")),
      element("button", { id: "review-off", hidden: true, onclick: () => callOff("review") }, say("cancel-review")),
      element("a", { class: "button", href: `/api/games/${game.id}/file/record.json`, download: "",
        title: say("record-about"), onclick: downloaded }, say("record")),
      element("a", { class: "button", href: `/api/games/${game.id}/file/replay.html`, download: "",
        title: say("replay-about"), onclick: downloaded }, say("replay-page"))),
    element("p", { id: "review-status", class: "keys" }),
    element("h2", {}, say("sources-title")), sourceTable(seats), element("p", { class: "keys" }, left),
    element("h2", {}, say("rounds-title")), chart,
    element("h2", {}, say("best-title")), bestMoves(best));
  lineChart(chart, {
    series: game.seats.map((seat) => ({ values: rounds.map(({ vp }) => vp[seat.player]),
      colour: seat.fill, name: seatNumber(seat) })),
    length: rounds.length - 1, at: rounds.length - 1, label: say("rounds-title"),
    bands: rounds.slice(1).map(({ round }, k) => ({ at: k + 1, name: round ? String(round) : "" })),
  });
}

// If several people share the screen, or the person is at another one, no one is "you".
function whoPlayed({ name, who, player, person }) {
  const others = who === offers.human
    && (game.seats.filter((item) => item.who === who).length > 1 || !game.mine.includes(player));
  const by = person || (others ? "" : called(who));
  return by ? `${name} (${by})` : name;
}

function sourceTable(seats) {
  const rows = game.sources.map(({ name }, i) => [name, seats.map((seat) => game.by_source[seat.player][i])])
    .filter(([, values]) => values.some((value) => value !== 0));
  return element("table", { class: "sources" },
    element("tr", {}, element("th", {}, ""), ...seats.map((seat) => element("th", {}, disc(seat)))),
    ...rows.map(([name, values]) => element("tr", {}, element("th", { scope: "row" }, name),
      ...values.map((value) => element("td", {}, spelled(value))))),
    element("tr", { class: "sum" }, element("th", { scope: "row" }, say("sum")),
      ...seats.map((seat) => element("td", {}, spelled(seat.vp)))));
}

function bestMoves(best) {
  return element("ol", { class: "best" }, ...best.map((item) => element("li", {},
    element("button", { type: "button", "data-node": item.node, "data-at": placeOf(item) || null,
      onclick: () => go(item.node) },
      disc(game.seats[item.player]), say("best-move", { vp: vpWords(`+${item.gain}`), when: roundName(item.round), move: item.words }),
      ...effectsNote(item)))));
}

const downloaded = () => showMessage(say("downloading"), "status");

async function again({ currentTarget: button }) {
  button.disabled = true;
  await openGame({ again: game.id, settings: settingsNow() });
  button.disabled = false;
}

// The review runs in the background; its page opens in another tab.
async function review() {
  const button = byId("review");
  if (button.dataset.ready === game.id) {
    window.open(`/api/games/${game.id}/file/review.html`, "_blank", "noopener");
    return;
  }
  button.disabled = true;
  const { id } = game;
  const answer = await followJob(jobAt(`/api/games/${id}/ask/review`), 1000, () => game?.id === id && game.end, drawReview);
  if (!answer) button.disabled = false;
}

function drawReview(report) {
  const { status, message } = report;
  byId("review-status").textContent = status === "running" ? say("review-running", { text: farOf(report) })
    : status === "failed" ? message : "";
  announce("review", status === "running" ? message : status === "ready" ? say("open-review") : byId("review-status").textContent);
  byId("review-off").hidden = status !== "running";
  byId("review").disabled = status === "running";
  if (status === "ready") {
    byId("review").dataset.ready = game.id;
    byId("review").textContent = say("open-review");
    byId("review").title = say("other-tab");
  }
}
