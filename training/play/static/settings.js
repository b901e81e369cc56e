"use strict";
// Decisions that settings make: stored in this browser, applied by the server.

const SETTINGS_KEY = "gaia_jax settings";
const DEFAULTS = { end_turn: "idle", take_power: 0, decline_rest: false, decline_last: true,
  only_choice: true, ask_pass: false, warn: false, sound: false, notify: false };
// Applied by the page itself.
const OF_PAGE = ["ask_pass", "warn", "sound", "notify"];
// Each with its choices, if it is no switch.
const SETTINGS = [
  ["end_turn", [["ask", say("never")], ["idle", say("unless-room")], ["always", say("always")]]],
  ["take_power", [[-1, say("ask-each")], ...[0, 1, 2, 3, 4, 5, 7].map((vp) => [vp, vpWords(vp)])]],
  ["decline_rest"], ["decline_last"], ["only_choice"], ["ask_pass"], ["warn"],
  ["sound"], ["notify"],
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

// A switch; that of notifications stays off where the browser does not allow them.
async function switched(key, { target }) {
  if (key === "notify" && target.checked && await globalThis.Notification?.requestPermission() !== "granted") {
    target.checked = false;
    showMessage(say("notify-refused"));
  }
  setSetting(key, target.checked);
}

function buildSettings() {
  byId("settings").replaceChildren(element("summary", {}, say("settings")), ...SETTINGS.map(([key, choices]) => {
    const [value, label] = [allSettings()[key], say(`set-${key}`)];
    if (!choices) {
      return element("label", { class: "setting" }, element("input", { type: "checkbox", id: `set-${key}`,
        checked: value, onchange: (event) => switched(key, event) }), label);
    }
    return element("label", { class: "setting" }, `${label} `, element("select", { id: `set-${key}`,
      onchange: (event) => setSetting(key, choices[event.target.selectedIndex][0]) },
    ...choices.map(([option, words]) => element("option", { selected: option === value }, words))));
  }));
}
