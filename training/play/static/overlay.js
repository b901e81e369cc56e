"use strict";
// The analysis: what an agent with a policy thinks of the present position and of the line.

class Analysis {
  // `ask(whole)` gets the report; `game()` is the present game; `go(node)` moves the table.
  constructor({ ask, game, go }) {
    Object.assign(this, { ask, game, go });
    this.report = null;
    this.turn = 0;
    this.on = false;
    byId("analysis").addEventListener("change", (event) => this.switch(event.target.checked));
    byId("analyst").addEventListener("change", () => this.refresh());
    byId("whole").addEventListener("click", () => this.refresh(true));
    byId("search-here").addEventListener("click", () => this.refresh(false, true));
    byId("costly").addEventListener("click", () => this.costly());
  }

  switch(on) {
    this.on = on;
    byId("insight").hidden = !on;
    if (on) this.refresh();
    else {
      this.report = null;
      this.draw();
    }
  }

  async refresh(whole = false, search = false) {
    if (!this.on) return;
    const turn = ++this.turn;
    if (whole || search) tell(whole ? "The line is looked at." : "The search runs.");
    const report = await this.ask(byId("analyst").value, whole, search);
    if (turn !== this.turn || !this.on || !report) return;
    // What is being compiled is asked for again, each second.
    if (report.again) setTimeout(() => turn === this.turn && this.refresh(whole, search), 1000);
    tell(report.waiting || report.searching || "");
    this.report = report.waiting ? null : report;
    this.draw();
  }

  // The move of the line that cost its player at least 2 VP, after the present position.
  async costly() {
    if (this.report && this.report.missing) await this.refresh(true);
    if (!this.report) return;
    const game = this.game();
    const here = game.line.indexOf(game.node);
    const next = this.report.cost.findIndex((cost, k) => k >= here && cost !== null && cost >= 2);
    if (next >= 0) this.go(game.line[next + 1]);
    else tell("No later move of the line costs 2 VP or more.");
  }

  draw() {
    const game = this.game();
    drawHeat(this.report, game);
    const { report } = this;
    if (!report) {
      for (const id of ["policy", "search", "values"]) byId(id).replaceChildren();
      byId("search-here").hidden = true;
      byId("verdict").textContent = "";
      return;
    }
    byId("policy").replaceChildren(...report.policy.map(([text, words, chance]) => {
      const bar = element("i");
      bar.style.width = `${(chance * 100).toFixed(1)}%`;
      return element("div", { class: "bar", title: `${words} (${text})` }, bar, element("span", {}, words),
        element("span", {}, `${(chance * 100).toFixed(1)} %`));
    }));
    byId("search-here").hidden = !report.searches;
    byId("search-here").disabled = Boolean(report.searching);
    drawSearch(report.at === game.node ? report.search : null, game);
    const here = game.line.indexOf(game.node);
    lineChart(byId("values"), {
      series: game.seats.map((seat) => ({
        values: report.lines[seat.player], colour: seat.fill, name: String(seat.player),
      })),
      length: game.line.length - 1, at: here, tight: true, pick: (n) => this.go(game.line[n]),
    });
    byId("verdict").textContent = [verdict("The last move", report, here - 1),
      verdict("The next move", report, here)].join(" ");
    markCosts(report, game);
  }
}

function tell(text) {
  byId("insight-said").textContent = text;
}

function verdict(which, report, k) {
  if (k < 0 || k >= report.cost.length || report.cost[k] === null) return "";
  const rank = report.rank[k] ? `choice ${report.rank[k]} of the policy` : "no choice of the policy";
  return `${which}: ${rank}, cost ${report.cost[k].toFixed(1)} VP.`;
}

// The chances of the legal cells, as discs over the map.
function drawHeat(report, game) {
  const svg = document.querySelector("#table svg");
  if (!svg) return;
  svg.querySelectorAll(".over-cell").forEach((one) => one.remove());
  if (!report) return;
  const sums = new Map();
  for (const [text, chance] of Object.entries(report.all)) {
    const cell = text.split(" ")[1] || "";
    if (cell.includes(",")) sums.set(cell, (sums.get(cell) || 0) + chance);
  }
  const map = svg.querySelector("#block-map");
  for (const [cell, chance] of sums) {
    if (chance < 0.005) continue;
    const box = svg.querySelector(`[data-cell="${cell}"]`).getBBox();
    map.append(shape("circle", { cx: box.x + box.width / 2, cy: box.y + box.height / 2,
      r: box.width * 0.5 * Math.sqrt(chance), fill: "#00e0ff", "fill-opacity": 0.5,
      stroke: "#003a57", class: "over-cell" }));
  }
}

// The candidates of a search: `*` its move, `>` the played one; the VP that it expects of each seat
// at the end, and the line that it expects to follow.
function drawSearch(table, game) {
  if (!table) {
    byId("search").replaceChildren();
    return;
  }
  const head = element("tr", {}, ...["", "candidate", "policy", "visits"].map((text) =>
    element("th", {}, text)), ...game.seats.map((seat) => element("th", {}, disc(seat))));
  const rows = table.candidates.flatMap((row) => [
    element("tr", { title: row.action },
      element("td", {}, `${row.best ? "*" : ""}${row.played ? ">" : ""}`),
      element("td", {}, row.words), element("td", {}, `${(row.prior * 100).toFixed(0)} %`),
      element("td", {}, String(row.visits)),
      ...row.final_vp.map((vp) => element("td", {}, vp.toFixed(0)))),
    ...(row.line.length ? [element("tr", { class: "then" }, element("td"),
      element("td", { colspan: 3 + game.seats.length }, `then ${row.line.join("; ")}`))] : []),
  ]);
  const place = table.candidates.findIndex((row) => row.played) + 1;
  const rank = place ? `candidate ${place} of ${table.candidates.length}` : "no candidate";
  const cost = table.cost === null ? "" : `The played move is ${rank}; ${table.unlike
    ? "the end is known after one of the two, so the cost is not told." : `it cost ${table.cost.toFixed(1)} VP.`}`;
  byId("search").replaceChildren(element("table", { class: "candidates" }, head, ...rows),
    element("p", { class: "keys" }, `* the search's move, > the played one. ${cost}`));
}

function markCosts(report, game) {
  game.line.slice(1).forEach((node, k) => {
    const row = document.querySelector(`.moves [data-node="${node}"] .cost`);
    if (row) row.textContent = report.cost[k] !== null && report.cost[k] >= 2 ? `-${report.cost[k].toFixed(1)}` : "";
  });
}
