"""What each thing on the table is, for the help of a page: from what is printed on the pieces.

`pages` has an entry for each id that a piece names, `rules_in_brief` the game on a page.
"""

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
    """The help by id.

    Args:
        factions: those of the game; each has its own prices of structures.
    Returns:
        For each id `title`, `lines` and `rulings`, ids of `docs/reference/rulings.md`.
    """
    named, out = names(ruleset), _resources()
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
    out["AC_B"] = _entry("The academy's action", ("Once a round, a main action.",), "ACT-11")
    return out


def _entry(title: str, lines: Iterable[str], rulings: str) -> Entry:
    return {"title": title, "lines": [line for line in lines if line], "rulings": rulings.split()}


def _resources() -> dict[str, Entry]:
    caps = costs.CAPS
    limit_text = "At most {} are held; what is gained beyond is lost."
    return {
        "credits": _entry("Credits", ("Pay for structures.", limit_text.format(caps["credits"])),
                            "GEN-07"),
        "ore": _entry("Ore", ("Pays for structures and terraforming steps. May become a credit or"
                              " a power token.", limit_text.format(caps["ore"])), "GEN-07 FRE-02"),
        "knowledge": _entry("Knowledge", (f"{words(research.RESEARCH_COST)} buy a research step."
                            " May become a credit.", limit_text.format(caps["knowledge"])),
                            "GEN-07 RES-01"),
        "qic": _entry("QIC", (f"One reaches {costs.RANGE_PER_QIC} cells farther; pays for Gaia"
                              " planets and some actions; may become an ore.",),
                      "MIN-05 MIN-09 FRE-02"),
        "power": _entry("Power", ("Charging moves tokens from bowl I to II, and once I is empty"
                                  " from II to III. Power is spent from III, and goes to I.",
                                  "Free: 1 power for a credit, 3 for an ore, 4 for a knowledge or"
                                  " a QIC. Burning a token of bowl II moves another to III.",
                                  "Tokens of a Gaia project wait in the Gaia area G."),
                        "LEE-01 ACT-05 FRE-01 GPJ-01"),
        "satellites": _entry("Satellites", ("Connect the structures of a federation; each costs"
                                            " a power token.",), "FED-03 FED-04"),
        "green": _entry("Green federation tokens", ("Each can be turned once: for an advanced tile"
                                                    " or for level 5 of a track.",),
                        "RES-02 FED-21"),
        "stations": _entry("Space stations", ("Count 1 power in the federation.",), "HIV-01"),
        "rings": _entry("Power rings", ("A structure with a ring counts 2 power more in"
                                        " federations.",), "MOW-01"),
        "guests": _entry("Guest mines", ("Mines on a planet of another player.",), "LAN-01"),
    }  # fmt: skip


def _track(ruleset: Ruleset, track: str) -> Entry:
    t = research.TRACKS.index(track)
    lines = [f"A step costs {words(research.RESEARCH_COST)}. Reaching level 3 charges"
             f" {research.CHARGE_AT_3} power. Level 5 takes a green federation token, and one"
             " player alone reaches it."]  # fmt: skip
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
    lines = ["A shuttle within range is a main action. The places of a ship are filled in order;"
             " from the second on they charge power. Its actions may be used from the next turn"
             " on, its tile and token at once."]  # fmt: skip
    lines += [f"Action: {names_by_action[a.id]}" for a in ruleset.ship_actions if a.ship == ship]
    return _entry(f"The {SHIPS[ship]}", lines, "EXP-01 EXP-02 EXP-03 EXP-05")


def _structure(faction: Faction, kind: str) -> Entry:
    """Price, what it is built over, what the pieces bring in their order, power value."""
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
    levels = [
        f"{TRACK_NAMES[t]} {n}"
        for t, n in zip(research.TRACKS, faction.start_tracks, strict=True)
        if n
    ]
    home = PLANETS[faction.home] if faction.home else "none"
    bowls = "/".join(str(n) for n in faction.start_power)
    lines = [
        f"Home: {home}. Starts with {words(faction.start)}; power {bowls}"
        + (f"; {', '.join(levels)}." if levels else "."),
        f"Income of the board: {words(faction.base_income)}; of the planetary institute:"
        f" {words(faction.pi_income)}.",
    ]
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
    steps = "/".join(str(n) for n in research.ORE_PER_STEP)
    reach = "/".join(str(n) for n in research.NAVIGATION_RANGE)
    chapters = {
        "Aim": ["Most VP after six rounds. Every player starts with"
                f" {costs.START_VP}."],
        "A round": ["Income, then the Gaia phase, then turns until all have passed. Who passes"
                    " first begins the next round. Its round tile pays VP for one kind of deed."],
        "A turn": ["One main action, with conversions before and after it, then the end of the"
                   " turn.",
                   f"Build a mine: {words(costs.MINE_COST)}, a planet in range ({reach} by"
                   f" navigation), and {steps} ore for each terraforming step by that track. A Gaia"
                   " planet costs a QIC in place of steps.",
                   "Begin a Gaia project on a transdim planet: power tokens wait in the Gaia area,"
                   " and next round it is a Gaia planet.",
                   f"Upgrade: {upgrades}. A lab or an academy brings a tech tile.",
                   f"Research: {words(research.RESEARCH_COST)} for a step.",
                   "Use a power action, a special action of your own, or pass.", ships],
        "Power": ["When another builds or upgrades within"
                  f" {costs.LEECH_DISTANCE} cells of your structures you may charge the power of"
                  " your strongest one there, for one VP less than that."],
        "Federations": ["Structures with 7 power together, connected by satellites at a power"
                        " token each, bring a federation token."],
        "The end": [f"Two final missions, 18, 12 and 6 VP. {research.END_VP[3]},"
                    f" {research.END_VP[4]} and {research.END_VP[5]} VP for levels 3, 4"
                    " and 5. One VP for each"
                    f" {costs.RESOURCES_PER_VP} of credits, ore and knowledge."],
    }  # fmt: skip
    return [(name, [line for line in lines if line]) for name, lines in chapters.items()]


__all__ = ["Entry", "faction_sheet", "pages", "rules_in_brief"]
