"use strict";
// Positions as links, and files that people open: records, and logs of boardgamers.space.

// The game up to the position in view, as a link that opens it on any server of the same version.
async function positionLink() {
  const { id, moves, line, node } = game; // the page may show another one when the answer comes
  const record = await call(`/api/games/${id}/file/record.json`);
  if (!record) return;
  const { ruleset, version, setup, format } = record;
  const actions = moves.slice(0, line.indexOf(node)).map(({ text }) => text);
  showLink(`#position=${await packed({ format, ruleset, version, setup, actions, final_vp: [] })}`);
}

// JSON as compressed text of an address; `unpacked` reads it.
async function packed(data) {
  const stream = new Blob([JSON.stringify(data)]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Open the position of a link; returns the id of its game, null and a message if it is invalid.
async function openPosition(text) {
  try {
    const record = await unpacked(text.replaceAll("-", "+").replaceAll("_", "/"));
    return await call("/api/games", { record, settings: settingsNow() });
  } catch (error) {
    showMessage(say("link-damaged"));
    return null;
  }
}

// The game of a file as part of a request: a record, or a log without its states, which the server
// does not need.
async function readUpload(file) {
  const stream = file.name.endsWith(".gz") ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  const text = await new Response(stream).text();
  let data;
  try {
    data = JSON.parse(text);
  } catch (error) {
    data = JSON.parse(text.split("\n")[0]); // one game a line: the first
  }
  if (!Array.isArray(data.steps)) return { record: data, seats: seatsFor(data) };
  return { log: { ...data, steps: data.steps.map(({ l, p }) => ({ l, p })) }, seats: undefined };
}

// The first seats of the form if they fit a record; without seats, people play all of them.
function seatsFor({ ruleset, setup }) {
  const players = setup?.players ?? setup?.factions?.length;
  const seats = seatsNow().slice(0, players);
  const fits = (who) => who === offers.human
    || offers.agents.find(({ name }) => name === who).plays[ruleset]?.includes(Math.max(players, 2));
  return seats.length === players && seats.every(fits) ? seats : undefined;
}
