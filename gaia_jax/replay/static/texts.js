"use strict";
// The texts of a page in its language. `PAGE_TEXTS` has them by id, as the server or the page's maker
// writes it before this script.

const LANGUAGE = document.documentElement.lang || "en";
const SPELLED = new Map(); // number formats by their number of digits after the point

// A number as the language writes it, with so many digits after the point and one kind of minus sign.
function spelled(value, digits = 0) {
  if (!SPELLED.has(digits)) {
    SPELLED.set(digits, new Intl.NumberFormat(LANGUAGE, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  }
  return SPELLED.get(digits).format(value).replace("-", "\u2212");
}

// Whether a Korean word ends in a consonant, which decides the particle after it.
function endsClosed(text) {
  const last = text.slice(-1);
  return last >= "\uac00" && last <= "\ud7a3" ? (last.charCodeAt(0) - 0xac00) % 28 > 0 : "013678".includes(last);
}

// A text with its values: `{n}`, and `{n:token|tokens}` by number, `{name:\uc774|\uac00}` by its end.
function say(id, values = {}) {
  if (!(id in PAGE_TEXTS)) throw new Error(`there is no text ${id}`);
  return PAGE_TEXTS[id].replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (_, name, first, second) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the text ${id} needs ${name}`);
    if (second === undefined) return typeof value === "number" && Number.isInteger(value) ? spelled(value) : value;
    return (typeof value === "number" ? value === 1 : endsClosed(value)) ? first : second;
  });
}

// The VP of a change, with its sign.
const vpWords = (vp) => say("vp", { n: vp });
