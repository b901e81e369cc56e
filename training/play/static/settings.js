"use strict";
// Decisions that settings make: stored in this browser, applied by the server.

const SETTINGS_KEY = "gaia_jax settings";
const DEFAULTS = { end_turn: "idle", take_power: 0, decline_rest: false, decline_last: true,
  only_choice: true, ask_pass: false, warn: false, sound: false };
// Applied by the page itself.
const OF_PAGE = ["ask_pass", "warn", "sound"];
const SETTINGS = [
  ["end_turn", "End my turn by itself", [["ask", "never"],
    ["idle", "unless it left no room for power"], ["always", "always"]]],
  ["take_power", "Take power that costs at most", [[-1, "ask each time"],
    ...[0, 1, 2, 3, 4, 5, 7].map((vp) => [vp, `${vp} VP`])]],
  ["decline_rest", "Decline power that costs more"],
  ["decline_last", "Decline power that costs VP after my last pass"],
  ["only_choice", "Take a move that is the only choice, and income if its order makes no difference"],
  ["ask_pass", "Ask before I pass"],
  ["warn", "Check my moves, and warn me before a mistake"],
  ["sound", "A sound when it is my turn"],
];
let current = null;

function allSettings() {
  if (current) return current;
  current = { ...DEFAULTS };
  for (const [key, value] of Object.entries(stored(SETTINGS_KEY, {}))) {
    if (typeof value === typeof DEFAULTS[key]) current[key] = value;
  }
  return current;
}

// The settings sent to the server.
function settingsNow() {
  return Object.fromEntries(Object.entries(allSettings()).filter(([key]) => !OF_PAGE.includes(key)));
}

function setSetting(key, value) {
  allSettings()[key] = value;
  store(SETTINGS_KEY, current);
  if (game && !OF_PAGE.includes(key)) change("settings", settingsNow());
}

function buildSettings() {
  byId("settings").replaceChildren(element("summary", {}, "Settings"), ...SETTINGS.map(([key, label, choices]) => {
    const value = allSettings()[key];
    if (!choices) {
      return element("label", { class: "setting" }, element("input", { type: "checkbox", id: `set-${key}`,
        checked: value, onchange: (event) => setSetting(key, event.target.checked) }), label);
    }
    return element("label", { class: "setting" }, `${label} `, element("select", { id: `set-${key}`,
      onchange: (event) => setSetting(key, choices[event.target.selectedIndex][0]) },
    ...choices.map(([option, words]) => element("option", { selected: option === value }, words))));
  }));
}
