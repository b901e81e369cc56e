"""The help of a page: `pages` by id of a piece, `rules_in_brief` the game on a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from gaia_jax.components import costs, research
from gaia_jax.components.common import Gain
from gaia_jax.components.factions import Faction
from gaia_jax.render import faction_powers
from gaia_jax.render.icons import words
from gaia_jax.render.names import PLANETS, SHIPS, STRUCTURES, TRACK_NAMES, names
from gaia_jax.render.texts import TEXTS
from gaia_jax.ruleset import Ruleset

Entry = dict[str, Any]  # title, lines, rulings
_ID = re.compile(rf"\b({'|'.join(costs.PIECES)})\b")


def pages(ruleset: Ruleset, factions: Iterable[Faction]) -> dict[str, Entry]:
    """For each id `title`, `lines` and `rulings`, ids of `docs/reference/rulings.md`.

    Args:
        factions: those of the game; each has its own prices of structures.
    """
    named, entries = names(ruleset), TEXTS["thing"].items()
    out = {
        id: _entry(x["title"], fill(x["lines"]), x["rulings"]) for id, x in entries if "title" in x
    }
    for kind, entry in TEXTS["help"].items():
        for id, name in named[kind].items():
            out[id] = _entry(f"{entry['title']}: {name}", (entry["text"],), entry["rulings"])
    for id in ruleset.final_missions:
        zero = "Who has 0 is ranked too." if ruleset.zero_ranks else "Who has 0 gets none."
        out[id]["lines"][0] += f" {zero}"
        out[id]["rulings"].append("FIN-03")
    for track in research.TRACKS:
        out[track] = _track(ruleset, track)
    for ship in ruleset.ships:
        out[ship] = _ship(ruleset, ship)
    for faction in factions:
        out[faction.id] = faction_sheet(faction)
        for kind in costs.PIECES:
            out[f"{kind} {faction.id}"] = _structure(faction, kind)
    return out


def _entry(title: str, lines: Iterable[str], rulings: str) -> Entry:
    return {"title": title, "lines": [line for line in lines if line], "rulings": rulings.split()}


def fill(lines: Iterable[str], **values: str) -> list[str]:
    """Lines of `texts.toml` with their values; empty ones are left out."""
    prices = {"mine": words(costs.MINE_COST), "step": words(research.RESEARCH_COST)}
    filled = (line.format(costs=costs, research=research, **prices, **values) for line in lines)
    return [line for line in filled if line]


def _track(ruleset: Ruleset, track: str) -> Entry:
    t = research.TRACKS.index(track)
    lines = fill(TEXTS["thing"]["track"]["lines"])
    for level in range(research.MAX_LEVEL + 1):
        parts = [words(research.LEVEL_BONUS[t][level])]
        if track == "terraforming":
            parts.append(f"a step costs {research.ORE_PER_STEP[level]} ore")
        if track == "navigation":
            parts.append(f"range {research.NAVIGATION_RANGE[level]}")
        if track == "gaia" and level:
            parts.append(f"a project takes {research.PROJECT_COST[level]} tokens")
        if track == "economy":
            by_side = {words(side[level]) for side in ruleset.economy_income}
            parts.append(" or ".join(f"income {income}" for income in sorted(by_side) if income))
        if track == "science" and words(research.SCIENCE_INCOME[level]):
            parts.append(f"income {words(research.SCIENCE_INCOME[level])}")
        if research.END_VP[level]:
            parts.append(f"{research.END_VP[level]} VP at the end")
        text = ", ".join(part for part in parts if part)
        lines += [f"Level {level}: {text}"] if text else []
    return _entry(TRACK_NAMES[track], lines, "RES-01 RES-02 RES-03 RES-10")


def _ship(ruleset: Ruleset, ship: str) -> Entry:
    names_by_action = names(ruleset)["ship_action"]
    lines = fill(TEXTS["thing"]["ship"]["lines"])
    lines += [f"Action: {names_by_action[a.id]}" for a in ruleset.ship_actions if a.ship == ship]
    return _entry(f"The {SHIPS[ship]}", lines, "EXP-01 EXP-02 EXP-03 EXP-05")


def _structure(faction: Faction, kind: str) -> Entry:
    """Price, upgrade path, income in the order of the pieces, power value."""
    before = [STRUCTURES[a] for a, b in faction.upgrades if b == kind]
    price = costs.MINE_COST if kind == "MINE" else costs.UPGRADE_COST[kind]
    text = f"Costs {words(price)}"
    text += f", over a {' or a '.join(before)}." if before else ", besides terraforming steps."
    near = f"With a neighbour within {costs.NEIGHBOUR_DISTANCE} it costs"
    near += f" {words(costs.TS_NEIGHBOUR_COST)}."
    brings = _brings(faction, kind)
    tile = "A tech tile comes with it." if kind in ("RL", "AC_A", "AC_B") else ""
    lines = (text, near if kind == "TS" else "", brings, tile,
             f"Power value {costs.POWER_VALUE[kind]}; {costs.PIECES[kind]} in supply.")  # fmt: skip
    name = STRUCTURES[kind]
    return _entry(f"{name[0].upper()}{name[1:]}", lines, "MIN-02" if kind == "MINE" else "UPG-01")


def _brings(faction: Faction, kind: str) -> str:
    lists: dict[str, Iterable[Gain[int]]] = {
        "MINE": [Gain(ore=n) for n in faction.mine_income_ore],
        "TS": faction.ts_income,
        "RL": faction.rl_income,
        "PI": (faction.pi_income,),
        "AC_A": (faction.academy_a_income,),
    }
    if kind == "AC_B":
        return f"Once a round as an action: {words(faction.academy_b_action)}."
    gains = [words(gain) or "nothing" for gain in lists[kind]]
    if len(set(gains)) == 1:
        return f"Each brings {gains[0]} a round."
    return f"In their order they bring {'; '.join(gains)} a round."


def faction_sheet(faction: Faction) -> Entry:
    """Start, income, powers with their rulings."""
    tracks = zip(research.TRACKS, faction.start_tracks, strict=True)
    levels = ", ".join(f"{TRACK_NAMES[track]} {n}" for track, n in tracks if n)
    lines = fill(
        TEXTS["thing"]["faction"]["lines"],
        home=PLANETS[faction.home] if faction.home else "none",
        start=words(faction.start),
        bowls="/".join(map(str, faction.start_power)),
        levels=f"; {levels}" if levels else "",
        base_income=words(faction.base_income),
        pi_income=words(faction.pi_income),
    )
    cited: list[str] = []
    for power in faction_powers.lines(faction):
        text = _ID.sub(lambda m: STRUCTURES[m[0]], re.sub(r"`[^`]*` ", "", power.sentence))
        lines.append(f"{text}. [{', '.join(power.rulings)}]")
        cited += power.rulings
    return _entry(faction.name, lines, " ".join(dict.fromkeys(cited)))


def rules_in_brief(ruleset: Ruleset) -> list[tuple[str, list[str]]]:
    """The game on a page: headings, and sentences below each."""
    upgrades = ", ".join(
        f"{STRUCTURES[k]} {words(costs.UPGRADE_COST[k])}" for k in costs.UPGRADE_COST if k != "AC_B"
    )
    ships = ("Or explore: a shuttle to a ship in range, whose actions, tile and token are then"
             " yours to use." if ruleset.ships else "")  # fmt: skip
    values = {
        "upgrades": upgrades,
        "ships": ships,
        "reach": "/".join(map(str, research.NAVIGATION_RANGE)),
        "steps": "/".join(map(str, research.ORE_PER_STEP)),
    }
    return [(heading, fill(lines, **values)) for heading, lines in TEXTS["rules"].items()]
