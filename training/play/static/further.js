"use strict";
// Beyond the next click: whole federations, and what conversions would make possible.

let furtherOf = "";

// Asked for once a position, where it is a person's turn; what is there goes when the position does.
async function drawFurther() {
  const key = `${game.id} ${game.node}`;
  const wanted = game.asks === "TURN" && game.legal.length > 0 && !game.thinking;
  if (key === furtherOf && wanted) return;
  furtherOf = "";
  markFederation(null);
  byId("further").replaceChildren();
  if (!wanted) return;
  furtherOf = key;
  const found = await call(`/api/games/${game.id}/further`);
  if (!found || !game || furtherOf !== key || found.node !== game.node) return;
  const parts = [];
  if (found.federations.length) {
    parts.push(element("details", { open: true, "data-group": "federations" },
      element("summary", {}, `Federations (${found.federations.length})`),
      ...found.federations.map(federationButton)));
  }
  if (found.reached.length) {
    parts.push(element("details", { "data-group": "reached" },
      element("summary", {}, `After conversions (${found.reached.length})`),
      ...found.reached.map(reachedButton)));
  }
  byId("further").replaceChildren(...parts);
}

const actAll = (actions) => change("act", { actions, node: game.node });

function federationButton(one) {
  const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const words = `Power ${one.power}, ${many(one.satellites.length, "satellite")}: ${one.pieces}`;
  return element("button", {
    type: "button", "data-federation": one.actions.join("; "), onclick: () => actAll(one.actions),
    onmouseenter: () => markFederation(one), onmouseleave: () => markFederation(null),
    onfocus: () => markFederation(one), onblur: () => markFederation(null),
  }, element("span", { class: "words" }, words), ...effectsLine(one.effects));
}

// Not legal as things stand: the conversions are named, and come with it.
function reachedButton(one) {
  return element("button", {
    type: "button", class: "reached", "data-text": `${one.first.join("; ")}; ${one.text}`,
    title: one.text, onclick: () => actAll([...one.first, one.text]),
  }, element("span", { class: "words" }, one.words),
  element("span", { class: "effects" }, element("span", { class: "note" }, `first ${one.first_words.join(", then ")}`)));
}

// The pieces and satellites of a federation, drawn over the map.
function markFederation(one) {
  const svg = view && view.svg;
  if (!svg) return;
  svg.querySelectorAll(".federation-mark").forEach((mark) => mark.remove());
  if (!one) return;
  const map = svg.querySelector("#block-map");
  for (const [kind, cells] of [["piece", one.cells], ["satellite", one.satellites]]) {
    for (const cell of cells) {
      const box = svg.querySelector(`[data-cell="${cell}"]`).getBBox();
      map.append(shape("circle", { cx: box.x + box.width / 2, cy: box.y + box.height / 2,
        r: box.width * (kind === "piece" ? 0.48 : 0.2), class: `federation-mark ${kind}` }));
    }
  }
}
