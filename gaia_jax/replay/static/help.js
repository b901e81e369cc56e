"use strict";
// Help where one looks: what a piece is, at the pointer, at the focus of the keyboard, and under a
// finger that rests; and the rules in brief. Written here: it needs one box and no library.

const HELP_AFTER = 350; // ms that a pointer rests
const HELP_PRESS = 500; // ms that a finger rests

class Help {
  // `root`: where pieces lie; `pages()`: the help by id.
  constructor(root, pages) {
    Object.assign(this, { root, pages, timer: null, pressed: false });
    this.box = document.getElementById("help-box")
      || element("div", { id: "help-box", class: "panel", role: "tooltip", hidden: true });
    document.body.append(this.box);
    root.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.wait(event, HELP_AFTER));
    root.addEventListener("pointerout", (event) => event.pointerType === "mouse" && this.hide());
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
    // A finger that rested has asked, not chosen; one that taps what cannot be used asks too.
    root.addEventListener("click", (event) => {
      if (this.pressed) {
        event.preventDefault();
        event.stopPropagation();
        this.pressed = false;
      } else if (event.pointerType === "touch") this.tapped(event);
    }, true);
    root.addEventListener("contextmenu", (event) => this.pressed && event.preventDefault());
    root.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && this.show(event.target));
    root.addEventListener("focusout", () => this.hide());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  subject(target) {
    return target.closest("[data-of], .piece[aria-label], [data-words]");
  }

  wait(event, after, press = false) {
    clearTimeout(this.timer);
    const target = event.target;
    this.timer = setTimeout(() => {
      if (this.show(target) && press) this.pressed = true;
    }, after);
  }

  tapped(event) {
    const one = this.subject(event.target);
    if (one && one.matches(".piece:not(.legal-piece, .convertible)")) this.show(one);
  }

  // Whether there was anything to say.
  show(target) {
    const one = this.subject(target);
    if (!one) return false;
    const said = one.getAttribute("aria-label") || one.dataset.words || "";
    this.fill(this.pages()[one.dataset.of], said);
    this.box.hidden = false;
    this.place(one.getBoundingClientRect());
    return true;
  }

  fill(entry, said) {
    const known = entry || { title: said, lines: [], rulings: [] };
    const now = said && said !== known.title && !known.title.endsWith(said.split(": ").pop());
    this.box.replaceChildren(element("b", {}, known.title),
      ...(now ? [element("p", {}, said)] : []),
      ...known.lines.map((line) => element("p", {}, line)),
      ...(known.rulings.length ? [element("p", { class: "keys" }, `Rulings: ${known.rulings.join(", ")}`)] : []));
  }

  // Beside what it tells of, never over it where there is room.
  place(of) {
    const { offsetWidth: w, offsetHeight: h } = this.box;
    const left = Math.max(4, Math.min(window.innerWidth - w - 4, of.left + of.width / 2 - w / 2));
    const below = of.bottom + 6 + h <= window.innerHeight;
    this.box.style.left = `${left}px`;
    this.box.style.top = `${Math.max(4, below ? of.bottom + 6 : of.top - h - 6)}px`;
  }

  hide() {
    clearTimeout(this.timer);
    this.box.hidden = true;
  }
}

// The panel of the rules: in brief, and the sheets of the factions at the table.
function fillRules(holder, picture, seats) {
  const sheet = (seat) => Object.values(picture.help).find((entry) => entry.title === seat.name);
  const section = (name, lines) => element("details", {}, element("summary", {}, name),
    ...lines.map((line) => element("p", {}, line)));
  holder.replaceChildren(
    ...picture.rules.map(([name, lines]) => section(name, lines)),
    ...seats.filter(sheet).map((seat) => section(seat.name, sheet(seat).lines)));
}
