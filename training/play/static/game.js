"use strict";
// One game: enter it, show its changes, leave it.

const VIEW = "gaia_jax view"; // under which a tab keeps what it shows of its game

async function enter(id) {
  const { id: before, at, board } = stored(VIEW, {}, () => sessionStorage);
  // Without `at`, a record opens at its beginning; an empty one is the present position.
  const isWanted = () => gameInAddress() === id; // another table may be chosen meanwhile
  const state = await waiting(say("opening-table"), call(`/api/games/${id}${before === id ? `?at=${at ?? ""}` : ""}`),
    (line) => isWanted() && showMessage(line, "none"));
  if (!isWanted()) return;
  if (!state) {
    const error = messageLine().textContent;
    history.replaceState(null, "", "#");
    leave();
    showMessage(error);
    return;
  }
  serverLostAt = 0;
  showMessage("");
  keepLastGame(id); // the puzzles lead back to it
  byId("lobby").hidden = byId("start").hidden = true;
  byId("preview").replaceChildren();
  byId("layout").hidden = false;
  game = null;
  tour.end();
  showLink("");
  byId("save-name").value = state.name;
  setOptions(byId("analyst"), state.agents.map((name) => [name, called(name, state.ruleset)]), byId("analyst").value,
    firstAnalyst(state.agents));
  view = new TableView(byId("layout"), state.picture);
  byId("layout").more = tooltipOf;
  byId("view-of").replaceChildren(...state.seats.map((seat) =>
    element("option", { value: seat.player }, `${seatNumber(seat)} ${seat.name}`)));
  analysis = analysis || new Analysis({
    game: () => game,
    go,
    ask: (agent, wholeLine, search) => call(`/api/games/${game.id}/analysis?agent=`
      + `${encodeURIComponent(agent)}&whole=${wholeLine ? 1 : 0}&search=${search ? 1 : 0}&at=${game.node}`),
  });
  fillRules(byId("rules"), state.picture, state.seats);
  drawnLegal = openKind = chosenFrom = "";
  analysis.forget();
  forgetHint();
  view.decks.show("Play");
  shown = state.node === state.now ? null : state.node;
  seatInView(before === id ? board
    : state.mine.includes(state.player) ? state.player : state.mine[0] ?? 0);
  update(state);
  follow(id);
}

function update(state) {
  const before = game;
  const moved = !game || game.node !== state.node || game.line.length !== state.line.length;
  game = state;
  view.show(state.parts);
  if (moved) view.light([]);
  const seat = state.seats[state.player];
  drawPast();
  drawWelcome();
  byId("asks").textContent = askLine(state);
  drawTurn(state);
  progressAt = performance.now();
  drawProgress();
  showMessage(state.message);
  byId("undo").disabled = !state.can_undo;
  byId("cancel").hidden = !state.half_made || !state.can_undo;
  byId("resume").hidden = seat.who === offers.human || state.over || !state.alone
    || !(state.paused || shown !== null);
  byId("place").textContent = `${state.line.indexOf(state.node)} / ${state.line.length - 1}`;
  // A browser that has taken or left a seat has another board.
  if (before && String(before.mine) !== String(state.mine) && state.mine.length && !state.mine.includes(view.first)) {
    seatInView(state.mine[0]);
  }
  // With several people at this screen, show the board of the deciding one.
  if (before && moved && state.mine.length > 1 && state.mine.includes(seat.player)) seatInView(seat.player);
  keepView();
  drawLegal();
  drawFurther();
  drawSeats();
  drawChat(before);
  drawMoves();
  drawEnd();
  lineChart(byId("scores"), {
    series: state.seats.map((s) => ({ values: state.vp.map((vp) => vp[s.player]),
      colour: s.fill, name: seatNumber(s) })),
    length: state.line.length - 1, at: state.line.indexOf(state.node), label: say("vp-title"),
    pick: (n) => go(game.line[n]),
  });
  // Where no agent plays such games there is nothing to ask one.
  for (const part of [byId("hint-panel"), byId("set-warn").parentElement]) part.hidden = !state.advised;
  view.decks.tabs.get("Analysis").tab.hidden = state.seats.some(({ who: name }) => name === AUTOMA);
  if (state.advised) hintMoved();
  tour.moved();
  if (analysis.on && moved) analysis.refresh();
  else analysis.draw();
}

// Who decides, and whether that is for this browser.
function askLine(state) {
  const seat = state.seats[state.player];
  const isPerson = seat.who === offers.human;
  const who = isPerson ? (seat.person ? `${seat.person} (${seat.name})` : seat.name) : `${seat.name} (${called(seat.who)})`;
  const label = (id) => say("labelled", { label: who, text: say(id) });
  if (state.over) return say("game-over");
  if (state.thinking) return say("thinking", { who });
  if (state.legal.length) return label(state.half_made ? "complete-move" : "your-decision");
  if (!isPerson) return label("agent-decides");
  return label(seat.free ? "seat-is-free" : "other-decides");
}

// The own turn in the title of the page, by a sound and by a notification if these are set.
function drawTurn(state) {
  const isTurn = state.your_turn && state.mine.length < state.seats.length;
  const begins = isTurn && document.title === TITLE;
  document.title = isTurn ? `\u25cf ${say("your-turn", { title: TITLE })}` : TITLE;
  if (begins && allSettings().sound) beep();
  if (begins && allSettings().notify && document.hidden) {
    try {
      const { name } = state.seats[state.decides];
      const notification = new Notification(say("your-turn", { title: name }), { tag: state.id });
      notification.onclick = () => { window.focus(); notification.close(); };
    } catch (error) { /* Chrome on Android allows them to service workers alone */ }
  }
}

const TITLE = document.title;

function beep() {
  const audio = new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  volume.gain.value = 0.1;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.2);
  tone.onended = () => audio.close();
}

// At an earlier position: name it, and offer the way back.
function drawPast() {
  const current = game.line.indexOf(game.node);
  const past = game.node !== game.now;
  const back = !past && current < game.line.length - 1; // the game was taken back to it
  byId("past").hidden = !past && !back;
  if (byId("past").hidden) return;
  const { round } = game.moves[Math.min(current, game.moves.length - 1)];
  const turn = turnsOf(game.moves.slice(0, current + 1)).filter((item) => item.round === round).length;
  const more = back ? say("choose-again") : game.legal.length ? say("move-replaces") : "";
  byId("past-status").textContent = say(`${back ? "taken-back" : "viewing"}-${round
    ? "round" : "setup"}`, { n: round, turn }) + more;
  byId("to-review").hidden = !game.reviewed;
  byId("to-review").href = `/api/games/${game.id}/file/review.html`;
  byId("present").hidden = back && !game.alone;
  byId("present").classList.toggle("main", !back);
  byId("present").textContent = say(back ? "leave-as-played" : game.ended ? "to-the-end" : "back-to-game");
}

const present = () => (game.node === game.now ? change("resume", { node: game.line[game.line.length - 1] }) : go(game.now));

// What is awaited, with running seconds: compilations, the answer to a request, or the server.
function drawProgress() {
  if (!game) return;
  const now = performance.now();
  const lines = serverLostAt ? [] : game.progress.map(({ text, seconds }) => [text, seconds === null ? NaN : seconds + (now - progressAt) / 1000]);
  const since = (now - (serverLostAt || requestSentAt || now)) / 1000;
  if (!lines.length && since > 1) lines.push([say(serverLostAt ? "server-away" : "awaiting-answer"), since]);
  announce("progress", lines.map(([text]) => text).join("; "));
  byId("progress").textContent = lines.map(([text, seconds]) =>
    (seconds >= 0 ? say("seconds", { text, n: Math.round(seconds) }) : text)).join("; ");
}

function seatInView(player) {
  view.seat(player);
  byId("view-of").value = view.first;
  if (game) keepView();
}

const keepView = () => store(VIEW, { id: game.id, at: shown, board: view.first }, () => sessionStorage);

async function save() {
  const saved = await call(`/api/games/${game.id}/save`, { name: byId("save-name").value.trim() });
  if (saved) showMessage(say("saved-as", { name: saved.name, n: saved.moves }), "status");
}

async function takeBack() {
  if (game.can_undo) await change("undo");
  else showMessage(say("nothing-to-take-back"));
}

function leave() {
  game = null;
  document.title = TITLE;
  tour.end();
  if (analysis) analysis.forget();
  byId("layout").hidden = true;
  closeChoice();
  showStart();
}
