"""The help of a page: `pages` by id of a piece, `rules_in_brief` the game on a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from gaia_jax.components import costs, research
from gaia_jax.components.common import Gain
from gaia_jax.components.factions import Faction
from gaia_jax.language import fill_in
from gaia_jax.render import faction_powers
from gaia_jax.render.icons import words
from gaia_jax.render.names import PLANETS, SHIPS, STRUCTURES, TRACK_NAMES, faction_name, names
from gaia_jax.render.texts import TEXTS, phrase
from gaia_jax.ruleset import Ruleset

Entry = dict[str, Any]  # title, lines, rulings
_ID = re.compile(rf"\b({'|'.join(costs.PIECES)})\b")


def pages(
    ruleset: Ruleset, factions: Iterable[Faction], economy_side: int | None = None
) -> dict[str, Entry]:
    """For each id `title`, `lines` and `rulings`, ids of `docs/reference/rulings.md`.

    Args:
        factions: those of the game; each has its own prices of structures.
        economy_side: of the economy track in the game; None for both.
    """
    named, entries = names(ruleset), TEXTS["thing"].items()
    out = {
        id: _entry(x["title"], fill(x["lines"]), x["rulings"]) for id, x in entries if "title" in x
    }
    for kind, entry in TEXTS["help"].items():
        for id, name in named[kind].items():
            title = phrase("labelled", label=entry["title"], text=name)
            out[id] = _entry(title, (entry["text"],), entry["rulings"])
    for id in ruleset.final_missions:
        out[id]["lines"].append(phrase("zero-ranks" if ruleset.zero_ranks else "zero-gets-none"))
        out[id]["rulings"].append("FIN-03")
    for track in research.TRACKS:
        out[track] = _track(ruleset, track, economy_side)
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
    prints = {"costs": costs, "research": research}
    filled = (fill_in(line, **prints, **prices, **values) for line in lines)
    return [line for line in filled if line]


def _track(ruleset: Ruleset, track: str, economy_side: int | None) -> Entry:
    t = research.TRACKS.index(track)
    lines = fill(TEXTS["thing"]["track"]["lines"])
    for level in range(research.MAX_LEVEL + 1):
        parts = [words(research.LEVEL_BONUS[t][level])]
        if track == "terraforming":
            parts.append(phrase("step-costs", n=research.ORE_PER_STEP[level]))
        if track == "navigation":
            parts.append(phrase("range", n=research.NAVIGATION_RANGE[level]))
        if track == "gaia" and level:
            parts.append(phrase("project-takes", n=research.PROJECT_COST[level]))
        if track == "economy":
            sides = ruleset.economy_income
            in_use = sides if economy_side is None else (sides[economy_side],)
            by_side = {words(side[level]) for side in in_use}
            incomes = [phrase("level-income", text=income) for income in sorted(by_side) if income]
            parts.append(phrase("or").join(incomes))
        if track == "science" and words(research.SCIENCE_INCOME[level]):
            parts.append(phrase("level-income", text=words(research.SCIENCE_INCOME[level])))
        if research.END_VP[level]:
            parts.append(phrase("vp-at-end", n=research.END_VP[level]))
        text = ", ".join(part for part in parts if part)
        lines += [phrase("level", n=level, text=text)] if text else []
    return _entry(TRACK_NAMES[track], lines, "RES-01 RES-02 RES-03 RES-10")


def _ship(ruleset: Ruleset, ship: str) -> Entry:
    names_by_action = names(ruleset)["ship_action"]
    lines = fill(TEXTS["thing"]["ship"]["lines"])
    actions = [names_by_action[a.id] for a in ruleset.ship_actions if a.ship == ship]
    lines += [phrase("labelled", label=phrase("action-title"), text=text) for text in actions]
    title = phrase("the-ship-title", ship=SHIPS[ship])
    return _entry(title, lines, "EXP-01 EXP-02 EXP-03 EXP-05")


def _structure(faction: Faction, kind: str) -> Entry:
    """Price, upgrade path, income in the order of the pieces, power value."""
    before = [STRUCTURES[a] for a, b in faction.upgrades if b == kind]
    price = costs.MINE_COST if kind == "MINE" else costs.UPGRADE_COST[kind]
    phrase_id = "costs-over" if before else "costs-besides-steps"
    text = phrase(phrase_id, price=words(price), before=phrase("or").join(before))
    near = phrase("costs-near", n=costs.NEIGHBOUR_DISTANCE, price=words(costs.TS_NEIGHBOUR_COST))
    brings = _brings(faction, kind)
    tile = phrase("tile-comes") if kind in ("RL", "AC_A", "AC_B") else ""
    power = phrase("power-and-supply", power=costs.POWER_VALUE[kind], supply=costs.PIECES[kind])
    lines = (text, near if kind == "TS" else "", brings, tile, power)
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
        return phrase("academy-brings", gain=words(faction.academy_b_action))
    gains = [words(gain, phrase("nothing")) for gain in lists[kind]]
    if len(set(gains)) == 1:
        return phrase("each-brings", gain=gains[0])
    return phrase("in-order-bring", gains="; ".join(gains))


def faction_sheet(faction: Faction) -> Entry:
    """Start, income, powers with their rulings."""
    tracks = zip(research.TRACKS, faction.start_tracks, strict=True)
    levels = ", ".join(f"{TRACK_NAMES[track]} {n}" for track, n in tracks if n)
    lines = fill(
        TEXTS["thing"]["faction"]["lines"],
        home=PLANETS[faction.home] if faction.home else phrase("none"),
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
    return _entry(faction_name(faction), lines, " ".join(dict.fromkeys(cited)))


def rules_in_brief(ruleset: Ruleset) -> list[tuple[str, list[str]]]:
    """The game on a page: headings, and sentences below each."""
    upgrades = ", ".join(
        f"{STRUCTURES[k]} {words(costs.UPGRADE_COST[k])}" for k in costs.UPGRADE_COST if k != "AC_B"
    )
    ships = phrase("explore-in-brief") if ruleset.ships else ""
    values = {
        "upgrades": upgrades,
        "ships": ships,
        "reach": "/".join(map(str, research.NAVIGATION_RANGE)),
        "steps": "/".join(map(str, research.ORE_PER_STEP)),
    }
    parts = [*TEXTS["rules"].values(), *([TEXTS["thing"]["automa"]] if ruleset.automa else [])]
    return [(part["title"], fill(part["lines"], **values)) for part in parts]
