"use strict";
// What costs a player most over the ended games of this server, each kind of move with an example.

const HABITS_EVERY = 2000; // ms between two looks at how far it is
let habitsTurn = 0;
let isHabitsStarting = false; // a look meanwhile would say that nothing runs

function fillHabits() {
  byId("habits").hidden = !offers.players.length;
  if (!offers.players.length) return;
  const holder = byId("habits-of");
  setOptions(holder, offers.players.map((name) => [name]), holder.value || ownName());
}

// `what`: "start", "off", or nothing to look how far it is.
async function askHabits(what = "") {
  if (isHabitsStarting && !what) return;
  const turn = ++habitsTurn;
  const name = byId("habits-of").value;
  const isCurrent = () => turn === habitsTurn && !game;
  const look = async (isFirst) => {
    const starts = isFirst && what === "start";
    isHabitsStarting ||= starts;
    const answer = await call("/api/habits", { name, change: isFirst ? what : "" });
    if (starts) isHabitsStarting = false;
    return answer;
  };
  const answer = await followJob(look, HABITS_EVERY, isCurrent, drawHabits);
  if (!answer && isCurrent()) drawHabits({});
}

function drawHabits(answer) {
  const { status, message, report } = answer;
  const running = status === "running";
  byId("habits-ask").disabled = running;
  byId("habits-off").hidden = !running;
  const words = status === "called off" ? say("cancelled") : message || "";
  byId("habits-status").textContent = running ? farOf(answer) : words;
  announce("habits", words);
  byId("habit-list").replaceChildren(...(report ? habitRows(report) : []));
}

function habitRows({ habits, records }) {
  const intro = habits.length ? say("habits-games", { n: records.length }) : say("habits-none");
  return [element("li", { class: "keys" }, intro), ...habits.map(({ kind, vp_a_game: cost, mistakes, moves, example }) => {
    const name = say({ pick: "kind-first", form_federation: "kind-federation" }[kind] || `kind-${kind}`);
    const more = Object.entries(example.by_source).filter(([, vp]) => vp > 0)
      .map(([source, vp]) => say("source-vp", { source, vp: spelled(vp, 1) })).join(", ");
    return element("li", {}, say("habit-cost", { kind: name, ...spelledRange(cost), n: mistakes, moves }), " ",
      say("habit-example", { when: roundName(example.round), faction: example.faction, played: example.played,
        better: example.better, ...spelledRange(example.loss) }), more ? ` ${say("habit-more", { list: more })} ` : " ",
      element("a", { class: "button", href: `#${example.record}@${example.node}` }, say("try-it")));
  })];
}

const spelledRange = ({ mean, low, high }) => ({ vp: spelled(mean, 1), low: spelled(low, 1), high: spelled(high, 1) });
