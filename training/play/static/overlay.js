"use strict";
// The analysis: an agent's policy, values and search at the position and along the line.

const ANALYSIS_EVERY = 1000; // ms between two requests during a compilation

class Analysis {
  // `ask(whole)` requests the report; `game()` is the current game; `go(node)` shows a position.
  constructor({ ask, game, go }) {
    Object.assign(this, { ask, game, go });
    this.report = null;
    this.turn = 0;
    this.on = false;
    byId("analysis").addEventListener("change", (event) => this.switch(event.target.checked));
    byId("analyst").addEventListener("change", () => this.refresh());
    byId("whole").addEventListener("click", () => this.refresh(true));
    byId("search-here").addEventListener("click", () => this.refresh(false, true));
  }

  switch(on) {
    this.on = on;
    byId("analysis-panel").hidden = !on;
    if (on) this.refresh();
    else this.forget();
  }

  // Discard the report of another game; pending requests are ignored.
  forget() {
    this.turn++;
    this.report = null;
    showStatus("");
    this.draw();
  }

  refresh(wholeLine = false, search = false) {
    if (!this.on || !this.game()) return;
    const turn = ++this.turn;
    if (wholeLine || search) showStatus(say(wholeLine ? "analysing" : "searching"));
    followJob(() => this.ask(byId("analyst").value, wholeLine, search), ANALYSIS_EVERY, () => turn === this.turn,
      (report) => {
        showStatus(report.message || report.waiting || report.searching || "");
        this.report = report.waiting ? null : report;
        this.draw();
      });
  }

  draw() {
    const game = this.game();
    drawHeat(this.report, game);
    const { report } = this;
    if (!report) {
      for (const id of ["expected", "policy", "search", "values"]) byId(id).replaceChildren();
      byId("search-here").hidden = true;
      return;
    }
    byId("expected").replaceChildren(...game.seats.map((seat) =>
      element("span", { title: seat.name }, disc(seat), ` ${spelled(report.vp[seat.player])}`)));
    drawPolicy(report);
    byId("search-here").hidden = !report.searches;
    byId("search-here").disabled = Boolean(report.searching);
    drawSearch(report.at === game.node ? report.search : null, game);
    const current = game.line.indexOf(game.node);
    lineChart(byId("values"), {
      series: game.seats.map((seat) => ({
        values: report.lines[seat.player], colour: seat.fill, name: seatNumber(seat),
      })),
      length: game.line.length - 1, at: current, label: say("vp-along"), tight: true, pick: (n) => this.go(game.line[n]),
    });
  }
}

const showStatus = (text) => { byId("analysis-status").textContent = text; };

const LEAST_SHOWN = 0.001;

// The policy: a bar for each action, the rest as a number.
function drawPolicy(report) {
  const visible = report.policy.filter(([, , chance], k) => !k || chance >= LEAST_SHOWN);
  const rest = Object.keys(report.all).length - visible.length;
  byId("policy").replaceChildren(...visible.map(([text, words, chance]) => {
    const bar = element("i");
    bar.style.width = `${(chance * 100).toFixed(1)}%`;
    return element("div", { class: "bar", title: `${words} (${text})` }, bar, element("span", {}, words),
      element("span", {}, percent(chance, rest || visible.length > 1)));
  }));
  if (rest <= 0) return;
  // The server sends only the most probable actions.
  const threshold = visible.length < report.policy.length ? LEAST_SHOWN : visible[visible.length - 1][2];
  byId("policy").append(element("p", { class: "keys" }, say("more-choices", { n: rest, chance: percent(threshold, true) })));
}

// Never 100 % while another action has a chance, nor 0 % for that one.
function percent(chance, others) {
  if (chance < 0.0005) return `<${say("percent", { n: spelled(0.1, 1) })}`;
  if (chance < 0.9995) return say("percent", { n: spelled(chance * 100, 1) });
  return others ? `>${say("percent", { n: spelled(99.9, 1) })}` : say("percent", { n: 100 });
}

// The probabilities of cells, as discs on the map.
function drawHeat(report, game) {
  const svg = view && view.svg;
  if (!svg) return;
  svg.querySelectorAll(".over-cell").forEach((item) => item.remove());
  if (!report) return;
  const sums = new Map();
  for (const [text, chance] of Object.entries(report.all)) {
    const cell = text.split(" ")[1] || "";
    if (cell.includes(",")) sums.set(cell, (sums.get(cell) || 0) + chance);
  }
  for (const [cell, chance] of sums) {
    if (chance >= 0.005) view.circle(cell, 0.5 * Math.sqrt(chance), { fill: "#00e0ff", "fill-opacity": 0.5,
      stroke: "#003a57", class: "over-cell" });
  }
}

// The candidates of a search: `*` its move, `>` the played one; the expected final VP of each seat,
// and the expected line.
function drawSearch(table, game) {
  if (!table) {
    byId("search").replaceChildren();
    return;
  }
  const head = element("tr", {}, ...["", say("candidate"), say("policy-column"), say("visits")].map((text) =>
    element("th", {}, text)), ...game.seats.map((seat) => element("th", {}, disc(seat))));
  const rows = table.candidates.flatMap((row) => [
    element("tr", { title: row.action },
      element("td", {}, `${row.best ? "*" : ""}${row.played ? ">" : ""}`),
      element("td", {}, row.words), element("td", {}, percent(row.prior, game.legal.length !== 1)),
      element("td", {}, String(row.visits)),
      ...row.final_vp.map((vp) => element("td", {}, spelled(vp)))),
    ...(row.line.length ? [element("tr", { class: "then" }, element("td"),
      element("td", { colspan: 3 + game.seats.length }, say("then-line", { list: row.line.join("; ") })))] : []),
  ]);
  byId("search").replaceChildren(element("table", { class: "candidates" }, head, ...rows),
    element("p", { class: "keys" }, say("search-notes")));
}
