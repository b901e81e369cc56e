"use strict";
// One game: entered, shown as it changes, left.

async function enter(id) {
  const found = await call(`/api/games/${id}`);
  if (!found) {
    location.hash = "";
    return;
  }
  keepLastGame(id); // the puzzles lead back to it
  byId("lobby").hidden = byId("start").hidden = true;
  byId("preview").replaceChildren();
  byId("layout").hidden = false;
  game = null;
  byId("save-name").value = found.name;
  setOptions(byId("analyst"), found.agents.map((name) => [name, called(name)]), byId("analyst").value,
    firstAnalyst(found.agents));
  view = new TableView(byId("layout"), found.picture);
  byId("layout").more = toldOf;
  byId("view-of").replaceChildren(...found.seats.map((seat) =>
    element("option", { value: seat.player }, `${seatNumber(seat)} ${seat.name}`)));
  analysis = analysis || new Analysis({
    game: () => game,
    go: (node) => change("go", { node }),
    ask: (agent, whole, search) => call(`/api/games/${game.id}/analysis?agent=`
      + `${encodeURIComponent(agent)}&whole=${whole ? 1 : 0}&search=${search ? 1 : 0}`),
  });
  fillRules(byId("rules"), found.picture, found.seats);
  drawnLegal = openKind = chosenFrom = "";
  analysis.forget();
  forgetHint();
  view.decks.show("Play");
  const person = found.seats.find((seat) => seat.who === offers.human);
  seatInView(person ? person.player : 0);
  update(found);
  follow(id);
}

function update(found) {
  const moved = !game || game.node !== found.node || game.line.length !== found.line.length;
  game = found;
  view.show(found.parts);
  if (moved) view.light([]);
  if (takenBack !== `${found.id} ${found.node}`) takenBack = "";
  const seat = found.seats[found.player];
  const who = seat.who === offers.human ? seat.name : `${seat.name} (${called(seat.who)})`;
  drawPast();
  drawWelcome();
  byId("asks").textContent = found.over ? "The game is over." : found.thinking
    ? `${who} is thinking.` : `${who}: ${found.half_made ? "complete your move" : "your decision"}`;
  progressAt = performance.now();
  drawProgress();
  byId("message").textContent = found.message;
  byId("undo").disabled = !found.can_undo;
  byId("cancel").hidden = !found.half_made || Boolean(found.thinking);
  const agent = found.paused && seat.who !== offers.human && !found.over;
  byId("resume").hidden = !agent;
  byId("place").textContent = `${found.line.indexOf(found.node)} / ${found.line.length - 1}`;
  // Where several people play, the board of who decides is in view.
  const people = found.seats.filter((one) => one.who === offers.human);
  if (moved && people.length > 1 && people.includes(seat)) seatInView(seat.player);
  drawLegal();
  drawFurther();
  drawSeats();
  drawMoves();
  drawEnd();
  lineChart(byId("scores"), {
    series: found.seats.map((s) => ({ values: found.vp.map((vp) => vp[s.player]),
      colour: s.fill, name: seatNumber(s) })),
    length: found.line.length - 1, at: found.line.indexOf(found.node),
    pick: (n) => change("go", { node: game.line[n] }),
  });
  hintMoved();
  tour.moved();
  if (analysis.on && moved) analysis.refresh();
  else analysis.draw();
}

// Who looks at an earlier position is told so, and how to come back.
function drawPast() {
  const here = game.line.indexOf(game.node);
  const past = here < game.line.length - 1;
  byId("past").hidden = !past;
  if (!past) return;
  const { round } = game.moves[here];
  const turn = turnsOf(game.moves.slice(0, here + 1)).filter((one) => one.round === round).length;
  const back = takenBack === `${game.id} ${game.node}`;
  const more = back ? " Choose again." : game.legal.length ? " What you choose here is played instead of what followed." : "";
  byId("past-said").textContent = `${back ? "Taken back to" : "You look at"} ${round
    ? `round ${round}` : "the set-up"}, turn ${turn}.${more}`;
  byId("present").classList.toggle("main", !back);
  byId("present").textContent = back ? "Leave it as played" : game.ended ? "To the end" : "Back to the game";
}

// What is being compiled, the seconds running.
function drawProgress() {
  if (!game) return;
  const more = (performance.now() - progressAt) / 1000;
  byId("progress").textContent = game.progress.map(({ text, seconds }) =>
    (seconds === null ? text : `${text}, ${Math.round(seconds + more)} s`)).join("; ");
}

// The rows stay while the game goes on: an open list of names must not close under the hand.
function drawSeats() {
  if (byId("seats").dataset.game !== game.id) buildSeats();
  for (const seat of game.seats) {
    const row = byId("seats").querySelector(`[data-seat="${seat.player}"]`);
    row.classList.toggle("now", seat.player === game.player && !game.over);
    row.querySelector(".vp").textContent = `${seat.vp} VP`;
    const select = row.querySelector("select");
    if (select.dataset.who !== seat.who) {
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
      element("span", { class: "name", title: seat.name }, seat.name), select,
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

let takenBack = ""; // the position that a decision was taken back to

async function takeBack() {
  if (!game.can_undo) {
    say("there is no decision of a person to take back");
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
