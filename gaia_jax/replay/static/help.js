"use strict";
// Help: describes a piece at the pointer, at the keyboard focus and under a resting finger; and the
// rules in brief.

const HELP_AFTER = 350; // ms that a pointer rests
const HELP_SOON = 40; // ms where a page has something to say of its own
const HELP_PRESS = 500; // ms that a finger rests
const HELP_GOES = 30; // ms from one part of a place to the next

class Help {
  // `root`: contains the pieces; `pages()`: the help by id; `more(target, event)`: additions of the
  // page, `at`, an element, and `lines`, elements; null for none.
  constructor(root, pages, more = () => null) {
    Object.assign(this, { root, pages, more, timer: null, pressed: false, at: null });
    this.box = document.getElementById("help-box")
      || element("div", { id: "help-box", class: "panel", role: "tooltip", hidden: true });
    document.body.append(this.box);
    root.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.over(event));
    root.addEventListener("pointerout", (event) => event.pointerType === "mouse" && this.leave());
    root.addEventListener("pointerdown", (event) => {
      this.hide();
      this.pressed = false;
      if (event.pointerType !== "mouse") this.wait(event, HELP_PRESS, true);
    });
    for (const name of ["pointerup", "pointercancel", "pointermove"]) {
      root.addEventListener(name, (event) => event.pointerType !== "mouse"
        && (name !== "pointermove" || Math.hypot(event.movementX, event.movementY) > 6)
        && clearTimeout(this.timer));
    }
    // A resting finger shows help and makes no choice; so does a tap on an unusable piece.
    root.addEventListener("click", (event) => {
      if (this.pressed) {
        event.preventDefault();
        event.stopPropagation();
        this.pressed = false;
      } else if (event.pointerType === "touch") this.tapped(event);
      else {
        this.hide();
        this.clicked = [event.clientX, event.clientY];
      }
    }, true);
    root.addEventListener("contextmenu", (event) => this.pressed && event.preventDefault());
    root.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && this.show(event.target));
    root.addEventListener("focusout", () => this.hide());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  subject(target) {
    return target.closest("[data-of], .piece[aria-label], [data-words]");
  }

  // Moving from a planet to its cell keeps the box. Elements that a click has redrawn below a resting
  // pointer show no help.
  over(event) {
    const [x, y] = this.clicked || [NaN, NaN]; // of a click these are whole pixels
    if (Math.hypot(event.clientX - x, event.clientY - y) < 2) return;
    this.clicked = null;
    const more = this.more(event.target, event);
    const at = more ? more.at : this.subject(event.target);
    clearTimeout(this.timer);
    if (at && at === this.at) return;
    this.hide();
    this.wait(event, more ? HELP_SOON : HELP_AFTER);
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), HELP_GOES);
  }

  wait(event, after, press = false) {
    clearTimeout(this.timer);
    const target = event.target;
    this.timer = setTimeout(() => {
      if (this.show(target, event) && press) this.pressed = true;
    }, after);
  }

  tapped(event) {
    const piece = this.subject(event.target);
    if (piece && piece.matches(".piece:not(.legal-piece, .convertible)")) this.show(piece);
  }

  // Returns whether there is help.
  show(target, event = null) {
    const piece = this.subject(target);
    const more = this.more(target, event);
    if (!piece && !more) return false;
    const words = piece ? piece.getAttribute("aria-label") || piece.dataset.words || "" : "";
    this.fill(piece && this.pages()[piece.dataset.of], words, more ? more.lines : []);
    this.box.hidden = false;
    this.at = more ? more.at : piece;
    // The neighbours of a place on the map stay visible.
    const of = this.at.getBoundingClientRect();
    this.place(of, this.at.dataset.cell ? of.height + 6 : 6);
    return true;
  }

  fill(entry, words, more) {
    const content = entry || { title: words, lines: [], rulings: [] };
    const now = words && words !== content.title && !content.title.endsWith(words.split(": ").pop());
    this.box.replaceChildren(...(content.title ? [element("b", {}, content.title)] : []),
      ...(now ? [element("p", {}, words)] : []), ...more,
      ...content.lines.map((line) => element("p", {}, line)),
      ...(content.rulings.length ? [element("p", { class: "keys" }, say("rulings", { list: content.rulings.join(", ") }))] : []));
  }

  // Next to its subject, without covering it if there is room: below, above, right, left.
  place(of, gap) {
    const { offsetWidth: w, offsetHeight: h } = this.box;
    const [middle, level] = [of.left + of.width / 2 - w / 2, of.top + of.height / 2 - h / 2];
    const sides = (room) => [[middle, of.bottom + room], [middle, of.top - h - room],
      [of.right + room, level, "x"], [of.left - w - room, level, "x"]];
    placeBox(this.box, [...sides(gap), ...sides(6), [middle, of.bottom + 6]]);
  }

  hide() {
    clearTimeout(this.timer);
    this.box.hidden = true;
    this.at = null;
  }
}

// The rules panel: rules in brief, and the sheets of the factions in the game.
function fillRules(holder, picture, seats) {
  const sheet = (seat) => picture.help[seat.faction];
  const section = (name, lines) => element("details", {}, element("summary", {}, name),
    ...lines.map((line) => element("p", {}, line)));
  holder.replaceChildren(
    ...picture.rules.map(([name, lines]) => section(name, lines)),
    ...seats.filter(sheet).map((seat) => section(seat.name, sheet(seat).lines)));
}
