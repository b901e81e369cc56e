"use strict";
// One game: enter it, show its changes, leave it.

async function enter(id) {
  const state = await call(`/api/games/${id}`);
  if (!state) {
    location.hash = "";
    return;
  }
  keepLastGame(id); // the puzzles lead back to it
  byId("lobby").hidden = byId("start").hidden = true;
  byId("preview").replaceChildren();
  byId("layout").hidden = false;
  game = null;
  byId("save-name").value = state.name;
  setOptions(byId("analyst"), state.agents.map((name) => [name, called(name)]), byId("analyst").value,
    firstAnalyst(state.agents));
  view = new TableView(byId("layout"), state.picture);
  byId("layout").more = tooltipOf;
  byId("view-of").replaceChildren(...state.seats.map((seat) =>
    element("option", { value: seat.player }, `${seatNumber(seat)} ${seat.name}`)));
  analysis = analysis || new Analysis({
    game: () => game,
    go: (node) => change("go", { node }),
    ask: (agent, wholeLine, search) => call(`/api/games/${game.id}/analysis?agent=`
      + `${encodeURIComponent(agent)}&whole=${wholeLine ? 1 : 0}&search=${search ? 1 : 0}`),
  });
  fillRules(byId("rules"), state.picture, state.seats);
  drawnLegal = openKind = chosenFrom = "";
  analysis.forget();
  forgetHint();
  view.decks.show("Play");
  const person = state.seats.find((seat) => seat.who === offers.human);
  seatInView(person ? person.player : 0);
  update(state);
  follow(id);
}

function update(state) {
  const moved = !game || game.node !== state.node || game.line.length !== state.line.length;
  game = state;
  view.show(state.parts);
  if (moved) view.light([]);
  if (takenBack !== `${state.id} ${state.node}`) takenBack = "";
  const seat = state.seats[state.player];
  const who = seat.who === offers.human ? seat.name : `${seat.name} (${called(seat.who)})`;
  drawPast();
  drawWelcome();
  byId("asks").textContent = state.over ? "The game is over." : state.thinking
    ? `${who} is thinking.` : `${who}: ${state.half_made ? "complete your move" : "your decision"}`;
  progressAt = performance.now();
  drawProgress();
  byId("message").textContent = state.message;
  byId("undo").disabled = !state.can_undo;
  byId("cancel").hidden = !state.half_made || Boolean(state.thinking);
  const agent = state.paused && seat.who !== offers.human && !state.over;
  byId("resume").hidden = !agent;
  byId("place").textContent = `${state.line.indexOf(state.node)} / ${state.line.length - 1}`;
  // With several people, show the board of the deciding one.
  const people = state.seats.filter((item) => item.who === offers.human);
  if (moved && people.length > 1 && people.includes(seat)) seatInView(seat.player);
  drawLegal();
  drawFurther();
  drawSeats();
  drawMoves();
  drawEnd();
  lineChart(byId("scores"), {
    series: state.seats.map((s) => ({ values: state.vp.map((vp) => vp[s.player]),
      colour: s.fill, name: seatNumber(s) })),
    length: state.line.length - 1, at: state.line.indexOf(state.node),
    pick: (n) => change("go", { node: game.line[n] }),
  });
  // Where no agent plays such games there is nothing to ask one.
  for (const part of [byId("hint-panel"), byId("set-warn").parentElement, view.decks.tabs.get("Analysis").tab]) {
    part.hidden = !state.advised;
  }
  if (state.advised) hintMoved();
  tour.moved();
  if (analysis.on && moved) analysis.refresh();
  else analysis.draw();
}

// At an earlier position: name it, and offer the way back.
function drawPast() {
  const current = game.line.indexOf(game.node);
  const past = current < game.line.length - 1;
  byId("past").hidden = !past;
  if (!past) return;
  const { round } = game.moves[current];
  const turn = turnsOf(game.moves.slice(0, current + 1)).filter((item) => item.round === round).length;
  const back = takenBack === `${game.id} ${game.node}`;
  const more = back ? " Choose again." : game.legal.length ? " A move here replaces the moves that followed." : "";
  byId("past-status").textContent = `${back ? "Taken back to" : "You are viewing"} ${round
    ? `round ${round}` : "the set-up"}, turn ${turn}.${more}`;
  byId("present").classList.toggle("main", !back);
  byId("present").textContent = back ? "Leave it as played" : game.ended ? "To the end" : "Back to the game";
}

// Compilation in progress, with running seconds.
function drawProgress() {
  if (!game) return;
  const more = (performance.now() - progressAt) / 1000;
  byId("progress").textContent = game.progress.map(({ text, seconds }) =>
    (seconds === null ? text : `${text}, ${Math.round(seconds + more)} s`)).join("; ");
}

// Rows stay during a game: an open list must not close.
function drawSeats() {
  if (byId("seats").dataset.game !== game.id) buildSeats();
  for (const seat of game.seats) {
    const row = byId("seats").querySelector(`[data-seat="${seat.player}"]`);
    row.classList.toggle("now", seat.player === game.player && !game.over);
    row.querySelector(".vp").textContent = `${seat.vp} VP`;
    const select = row.querySelector("select");
    if (select && select.dataset.who !== seat.who) {
      select.dataset.who = seat.who;
      select.value = seat.who;
    }
  }
}

function buildSeats() {
  const names = [offers.human, ...game.agents];
  byId("seats").dataset.game = game.id;
  byId("seats").replaceChildren(...game.seats.map((seat) => {
    const select = element("select", { "aria-label": `who plays ${seat.name}`,
      onchange: (event) => change("seat", { player: seat.player, who: event.target.value }) },
    ...names.map((name) => element("option", { value: name, selected: name === seat.who }, called(name))));
    return element("div", { class: "seat", "data-seat": seat.player }, disc(seat),
      element("span", { class: "name", title: seat.name }, seat.name),
      seat.who === AUTOMA ? element("span", {}, seat.who) : select,
      element("span", { class: "vp" }));
  }));
}

function seatInView(player) {
  view.seat(player);
  byId("view-of").value = view.first;
}

async function save() {
  const saved = await call(`/api/games/${game.id}/save`, { name: byId("save-name").value.trim() });
  if (saved) byId("message").textContent = `saved as ${saved.name}, ${saved.moves} moves`;
}

const AUTOMA = "the Automa"; // a seat that no player can take

let takenBack = ""; // the position that a decision was taken back to

async function takeBack() {
  if (!game.can_undo) {
    showMessage("there is no decision of a person to take back");
    return;
  }
  const before = game.node;
  await change("undo");
  if (!game || game.node === before) return;
  takenBack = `${game.id} ${game.node}`;
  drawPast();
}

function leave() {
  game = null;
  tour.end();
  if (analysis) analysis.forget();
  byId("layout").hidden = true;
  closeChoice();
  showStart();
}
