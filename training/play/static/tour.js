"use strict";
// An introduction in ten steps: the parts of the page, and how to play a turn. Steps that ask for a
// move wait for it, so you play the opening while it is explained.

const NOT = -1; // a step waits for no decision
// Decisions by people, without those of agents and settings.
const decided = () => (game ? game.moves.filter(({ player, by }) =>
  !by && game.seats[player].who === offers.human).length : 0);

const TOUR = [
  { at: ".stage", say: "This is the map. Zoom with the wheel, two fingers or the buttons, drag to move,"
    + " and double-click to see the whole map. Hover over anything to see what it is." },
  { at: ".own", say: "Your board is always here: VP, credits, ore, knowledge and QIC with what the next"
    + " round brings, and your power in the bowls I, II and III." },
  { at: "#block-rounds", tab: "Supply", say: "Six rounds. The tile of a round pays VP for one kind of event;"
    + " two final missions pay 18, 12 and 6 at the end." },
  { at: ["#legal-panel", "#status"], tab: "Play", say: "Your legal moves are listed here with their costs and gains, and"
    + " highlighted on the map: click there or here. Make your first decision now: in the set-up, a place for"
    + " a mine near planets of few terraforming steps.", move: true },
  { at: ["#since:not(:empty)", "#status"], tab: "Play", say: "After the others' turns, their moves since yours are listed here"
    + " and marked on the map. You only act on them when they offer you power." },
  { at: ["#legal-panel", "#status"], tab: "Play", say: "Continue: place the remaining mines, then take a booster, which brings"
    + " income for a round.", move: true, until: () => game.asks === "TURN" },
  { at: "#block-research", tab: "Research", say: "Six tracks. A step costs 4 knowledge; a new lab or academy"
    + " brings a tile and a step with it." },
  { at: "#block-actions", tab: "Actions", say: "Power actions and ships: each may be used once a round, by"
    + " one player. What you can use now is highlighted." },
  { at: ["#legal-panel", "#status"], tab: "Play", say: "A turn is one main action, with conversions before and after it."
    + " Open a kind of action here, or click a highlighted place. A mine and then a trading station are a sound"
    + " opening. Take an action.", move: true },
  { at: "#moves", tab: "Log", say: "The log has one line for each turn. You can go back and try something"
    + " else. Pass when you are done for this round. Help has a summary of the rules." },
];

const tour = {
  step: -1,
  waits: NOT,
  box: null,

  begin() {
    this.step = -1;
    this.box = this.box || element("div", { id: "tour-box", class: "panel", role: "dialog",
      "aria-label": "introduction" });
    document.body.append(this.box);
    this.next();
  },

  next() {
    this.unmark();
    this.step++;
    const now = TOUR[this.step];
    if (!now || !game) return this.end();
    if (now.tab) view.decks.show(now.tab);
    this.mark();
    this.waits = now.move && !game.over && !now.until?.() ? decided() : NOT;
    this.place();
    const last = this.step === TOUR.length - 1;
    this.box.replaceChildren(element("p", { "aria-live": "polite" },
      `${this.step + 1} of ${TOUR.length}. ${now.say}`),
    element("div", { class: "row" },
      element("button", { type: "button", class: "main", onclick: () => this.next() },
        last ? "Play on" : this.waits > NOT ? "Skip this" : "Next"),
      element("button", { type: "button", onclick: () => this.end() }, "End the tour")));
    this.box.querySelector("button").focus();
    return null;
  },

  // Ring what a step is about: the first of its parts that is in view.
  mark() {
    this.unmark();
    [TOUR[this.step].at].flat().map((item) => document.querySelector(item)).find((item) => item?.checkVisibility())
      ?.classList.add("toured");
  },

  // On the map, so that tabs and choices stay free; next to it in steps that require a place on it.
  place() {
    const beside = TOUR[this.step].move && [...document.querySelectorAll(".deck.board, .own")]
      .find((item) => item.checkVisibility());
    const { left, top, width } = (beside || document.querySelector(".stage")).getBoundingClientRect();
    Object.assign(this.box.style, { left: `${left + 8}px`, top: `${top + 8}px`,
      width: `${Math.min(520, width - 16)}px` });
  },

  // The game changed: a step that waited for a move continues.
  moved() {
    if (this.step >= 0) this.mark(); // the others' turns come into view after the step has begun
    if (this.waits > NOT && decided() > this.waits && (TOUR[this.step].until?.() ?? true)) this.next();
  },

  unmark() {
    document.querySelectorAll(".toured").forEach((item) => item.classList.remove("toured"));
  },

  // Keyboard users continue at the choices.
  end() {
    const hadFocus = this.box?.contains(document.activeElement);
    this.box?.remove();
    this.unmark();
    this.waits = NOT;
    if (this.step >= 0) {
      welcomed();
      if (game) view.decks.show("Play");
    }
    this.step = -1;
    if (hadFocus) firstButton().focus();
  },
};

// Offer the introduction once in each browser.
const SEEN_KEY = "gaia_jax seen";
let seen = false;

function drawWelcome() {
  seen = seen || stored(SEEN_KEY) !== null;
  byId("welcome").hidden = seen || game.over || tour.step >= 0;
}

function welcomed() {
  seen = true;
  store(SEEN_KEY, 1);
  byId("welcome").hidden = true;
}
