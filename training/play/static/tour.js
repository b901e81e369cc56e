"use strict";
// An introduction in ten steps: the parts of the page, and how to play a turn. Steps that ask for a
// move wait for it, so you play the opening while it is explained.

const NOT = -1; // a step waits for no decision
// Decisions by people, without those of agents and settings.
const decided = () => (game ? game.moves.filter(({ player, by }) =>
  !by && game.seats[player].who === offers.human).length : 0);

const TOUR = [
  { at: ".stage", say: say("tour-1") },
  { at: ".own", say: say("tour-2") },
  { at: "#block-rounds", tab: "Supply", say: say("tour-3") },
  { at: ["#legal-panel", "#status"], tab: "Play", say: say("tour-4"), move: true },
  { at: ["#since:not(:empty)", "#status"], tab: "Play", say: say("tour-5") },
  { at: ["#legal-panel", "#status"], tab: "Play", say: say("tour-6"), move: true, until: () => game.asks === "TURN" },
  { at: "#block-research", tab: "Research", say: say("tour-7") },
  { at: "#block-actions", tab: "Actions", say: say("tour-8") },
  { at: ["#legal-panel", "#status"], tab: "Play", say: say("tour-9"), move: true },
  { at: "#moves", tab: "Log", say: say("tour-10") },
];

const tour = {
  step: -1,
  waits: NOT,
  box: null,

  begin() {
    this.step = -1;
    this.box = this.box || element("div", { id: "tour-box", class: "panel", role: "dialog",
      "aria-label": say("tour") });
    document.body.append(this.box);
    welcomed();
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
      say("tour-step", { n: this.step + 1, total: TOUR.length, text: now.say })),
    element("div", { class: "row" },
      element("button", { type: "button", class: "main", onclick: () => this.next() },
        say(last ? "play-on" : this.waits > NOT ? "skip-this" : "next")),
      element("button", { type: "button", onclick: () => this.end() }, say("end-tour"))));
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
    if (this.step >= 0 && game) view.decks.show("Play");
    this.step = -1;
    if (hadFocus) firstButton().focus();
  },
};

// Offer the introduction once in each browser.
const SEEN_KEY = "gaia_jax seen";
let seen = false;

function drawWelcome() {
  seen = seen || stored(SEEN_KEY) !== null;
  byId("welcome").hidden = seen || game.over;
}

function welcomed() {
  seen = true;
  store(SEEN_KEY, 1);
  byId("welcome").hidden = true;
}
