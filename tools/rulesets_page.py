"""Make docs/reference/rulesets.md: differences of the published and the base game, versions.

    python -m tools.rulesets_page > docs/reference/rulesets.md

Every ruleset of `RULESETS` has its row, with the words of `WHAT`, and a chapter with its
differences, which are computed from the tables; `RULINGS` and `BASE_NOTES` give their reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from gaia_jax.components.common import Cost, Gain, Per
from gaia_jax.render.icons import words
from gaia_jax.ruleset import (
    BASE,
    BASE_FOR_THREE,
    BASE_FOR_TWO,
    LOST_FLEET,
    LOST_FLEET_PUBLISHED,
    PUBLISHED_FOR_THREE,
    PUBLISHED_FOR_TWO,
    RULESETS,
    Ruleset,
    ruleset_of,
)

ROOT = Path(__file__).resolve().parent.parent

# Rulings of the differences from `lost_fleet`, by ruleset and place in the tables.
RULINGS = {
    "lost_fleet_published": {
        "map.sector_tiles M03 planets": "MAP-05",
        "map.sector_tiles M05 planets": "MAP-04",
        "map.same_types_touch": "MAP-06, A11, A23",
        "factions BAL_TAKS start": "SET-16",
        "factions GLEENS start": "SET-15",
        "factions GLEENS gaia_planet_qic_instead": "MIN-10",
        "factions GLEENS special": "ACT-12",
        "factions GLEENS special_range_bonus": "ACT-12",
        "factions ITARS base_income": "SET-16",
        "factions NEVLAS start_power": "SET-16",
        "factions NEVLAS rl_income": "SET-16, A19",
        "factions LANTIDS start_power": "SET-16",
        "factions LANTIDS pi_income": "SET-16",
        "factions DARKANIANS pi_new_main_sector": "DAR-01",
        "factions DARKANIANS pi_new_sector": "DAR-01",
        "factions MOWEYDS start": "SET-16",
        "round_tiles RM-LAB-4VP": "SET-07",
        "final_missions ASTEROID_PROTO_BUILDINGS": "FIN-08",
        "final_missions ASTEROID_BUILDINGS": "FIN-08",
        "ship_actions REB_P cost": "UPG-08",
        "ship_actions TWI_P cost": "UPG-08",
        "ship_actions TFM_C cost": "MIN-16",
        "artifacts ART-ORE-CRED gain": "ART-02",
        "tinkering_tiles TK-LATE-QIC3 gain": "TIN-04",
        "twilight_range_projects": "MIN-18",
        "free_leech_is_taken": "LEE-03, A11, A20",
        "surplus_federations": "FED-02, A10, A11, A25",
        "gaiaformed_planet_waits": "MIN-20",
        "zero_ranks": "FIN-03",
        "bonus_power_in_leech": "FED-11",
        "stations_count_as_satellites": "HIV-02, FIN-07, A22",
        "free_steps_without_need": "MIN-15, A26",
        "actions_without_gain": "ACT-13, A27",
        "ship_token_mines_are_plain": "MIN-13, A5, A28",
    },
}
NO_SHIPS = "no ships"
# Reasons for those of `base`, by field of the ruleset: the base rulebook, or a ruling.
BASE_NOTES = {
    "map": "ten sector tiles only, each anywhere",
    "faction_boards": "the seven boards of the base game",
    "factions": "printed numbers",
    "ship_tiles": NO_SHIPS,
    "ship_tile_ships": NO_SHIPS,
    "advanced_tiles": "15 tiles, one on each track",
    "extra_conditions": "no extra tile",
    "boosters": "ten boosters",
    "round_tiles": "ten round tiles",
    "final_missions": "six final tiles",
    "ship_tokens": NO_SHIPS,
    "ships": NO_SHIPS,
    "ship_actions": NO_SHIPS,
    "qic_actions": "printed on the board (ACT-01)",
    "artifacts": NO_SHIPS,
    "tinkering_tiles": "no Tinkeroids",
    "ship_token_mines_are_plain": NO_SHIPS,
    "economy_income": "the track as printed, without an overlay (SET-05)",
    "leech_in_seat_order": "A11",
    "free_step_is_optional": "A11, TEC-09, FIR-01, ACT-15",
}
# What a switch means where it is on.
SWITCHES = {
    "map.same_types_touch": "planets of one type may touch across tiles",
    "twilight_range_projects": "TWI_K reaches a Gaia project too",
    "free_leech_is_taken": "free leech is automatic, except for Taklons and Itars with a PI",
    "surplus_federations": "groups too many are legal where leaving them out saves no satellite",
    "gaiaformed_planet_waits": "a planet formed at once takes its mine from the next round on",
    "zero_ranks": "a count of 0 earns VP in a final mission",
    "bonus_power_in_leech": "rings and the Bescods' bonus count for leech as for federations",
    "stations_count_as_satellites": "the Hive's stations count in the satellite mission",
    "leech_in_seat_order": "leech is asked as the players sit, from the builder",
    "free_step_is_optional": "a research step that costs no knowledge may be declined",
    "free_steps_without_need": "terraforming actions may aim at a planet that needs no step",
    "actions_without_gain": "an action is legal although its whole gain is lost",
    "ship_token_mines_are_plain": "SFT_RANGE_MINE builds guests, SFT_TF3_MINE takes an asteroid",
}

# Words for the places of the tables: their groups, and the fields of a piece.
GROUPS = {
    "map.sector_tiles": "sector tile",
    "factions": "faction",
    "round_tiles": "round tile",
    "final_missions": "final mission",
    "ship_actions": "ship action",
    "qic_actions": "QIC action",
    "artifacts": "artifact",
    "tinkering_tiles": "tinkering tile",
    "economy_income": "income of the economy track, by level",
}
FIELDS = {
    "start": "resources at the start",
    "start_power": "power at the start, bowls I/II/III",
    "base_income": "income without structures",
    "rl_income": "income of research labs",
    "pi_income": "income of the planetary institute",
    "pi_new_main_sector": "with the institute, for a new main sector",
    "pi_new_sector": "with the institute, for a new sector of any kind",
    "gaia_planet_qic_instead": "may pay 1 QIC where the ore for a Gaia planet is short",
    "special": "special action",
    "special_range_bonus": "range that the special action adds",
    "ore_token_bowl": "bowl of the token that is bought for an ore",
}

Difference = tuple[str, Any, Any]
MISSING = "-"
INCLUDED, LEFT_OUT = "included", "not included"


def differences(old: Ruleset, new: Ruleset) -> Iterator[Difference]:
    """(place, old value, new value) of everything that differs."""
    for field in fields(Ruleset):
        if field.name not in ("id", "version", "faction_boards"):
            yield from _differ(field.name, getattr(old, field.name), getattr(new, field.name))


def _differ(place: str, old: Any, new: Any) -> Iterator[Difference]:
    if old == new:
        return
    if is_dataclass(old) and place == "map":
        for field in fields(old):  # type: ignore[arg-type]
            yield from _differ(
                f"map.{field.name}", getattr(old, field.name), getattr(new, field.name)
            )
    elif _are_pieces(old, new):
        before, after = ({piece.id: piece for piece in pieces} for pieces in (old, new))
        for id_ in dict.fromkeys((*before, *after)):
            if id_ not in after or id_ not in before:
                presence = (LEFT_OUT, INCLUDED) if id_ in after else (INCLUDED, LEFT_OUT)
                yield f"{place} {id_}", *presence
                continue
            for field in fields(before[id_]):
                a, b = getattr(before[id_], field.name), getattr(after[id_], field.name)
                if a != b:
                    yield f"{place} {id_} {field.name}", a, b
    elif _are_names(old, new):
        for id_ in dict.fromkeys((*old, *new)):
            if id_ not in old or id_ not in new:
                presence = (LEFT_OUT, INCLUDED) if id_ in new else (INCLUDED, LEFT_OUT)
                yield f"{place} {id_}", *presence
    else:
        yield place, old, new


def _are_pieces(old: Any, new: Any) -> bool:
    both = (*old, *new) if isinstance(old, tuple) and isinstance(new, tuple) else ()
    return bool(both) and all(hasattr(piece, "id") for piece in both)


def _are_names(old: Any, new: Any) -> bool:
    both = (*old, *new) if isinstance(old, tuple) and isinstance(new, tuple) else ()
    return bool(both) and all(isinstance(name, str) for name in both)


def format_value(value: Any) -> str:
    """A value in words."""
    if isinstance(value, Gain | Cost):
        return words(value, "nothing")
    if isinstance(value, Per):
        return f"per {value.count}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return MISSING
    if isinstance(value, tuple) and value and isinstance(value[0], Gain):
        return ", ".join(format_value(gain) for gain in value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        if isinstance(value[0][1], str):
            return ", ".join(f"{planet} {q},{r}" for (q, r), planet in value)
        return "; ".join(format_value(part) for part in value)
    if isinstance(value, tuple):
        return "/".join(str(part) for part in value) or MISSING
    return str(value)


def _changed_planets(old: Any, new: Any) -> tuple[str, str]:
    """Of two faces of a tile only what differs."""
    a, b = (set(face) for face in (old, new))
    return format_value(tuple(sorted(a - b))), format_value(tuple(sorted(b - a)))


def _row(place: str, old: Any, new: Any, note: str) -> str:
    before, after = format_value(old), format_value(new)
    if place == "economy_income":
        before = "by the overlay"
    elif place.endswith(" planets"):
        before, after = _changed_planets(old, new)
    label = SWITCHES.get(place) or _words(place)
    return f"| {label} | {before} | {after} | {note} |"


def _words(place: str) -> str:
    """A place of the tables in words: the kind of piece, its id, the field."""
    group, *rest = place.split(" ")
    label = " ".join([GROUPS.get(group, group), *rest[:1]])
    return f"{label}: {FIELDS.get(rest[1], rest[1])}" if len(rest) > 1 else label


def _base_rows() -> Iterator[str]:
    """What differs from the published game: facts by one, lists of what is missing in one row."""
    missing: dict[str, list[str]] = {}
    rows = []
    for place, old, new in differences(LOST_FLEET_PUBLISHED, BASE):
        group, *rest = place.split(" ")
        if new == LEFT_OUT and len(rest) == 1:
            missing.setdefault(group, []).append(rest[0])
        elif group.startswith("map.") and group not in SWITCHES:
            continue  # coordinates: in BASE_NOTES
        else:
            rows.append(_row(place, old, new, _note(group)))
    ships = [group for group in missing if _note(group) == NO_SHIPS]
    kinds = ", ".join(
        group.replace("_", " ") for group in sorted(ships) if group != "ship_tile_ships"
    )
    rows.append(f"| {kinds} | {INCLUDED} | {LEFT_OUT} | {NO_SHIPS} |")
    for group, ids in missing.items():
        if group in ships:
            continue
        kind = group.removeprefix("map.").replace("_", " ")
        cells = [f"{kind}: {' '.join(ids)}", INCLUDED, LEFT_OUT, _note(group)]
        rows.append(f"| {' | '.join(cells)} |")
    return iter(sorted(rows))


def _players_rows(*rulesets: Ruleset) -> Iterator[str]:
    """A ruleset by the number of players."""
    yield "| players | sectors | cells | A | boosters | neutral player in final missions |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for rules in rulesets:
        tiles = [tile.id for tile in rules.map.sector_tiles]
        spare = f" (may leave out {' and '.join(rules.map.spare_tiles)})"
        neutral = ", ".join(f"{name} {n}" for name, n in rules.neutral_player.items())
        yield (
            f"| {rules.seats} | {len(tiles)}{spare if rules.map.spare_tiles else ''} "
            f"| {rules.geometry.num_cells} | {rules.actions.num_actions} "
            f"| {rules.boosters_in_play} | {neutral or MISSING} |"
        )


def _note(group: str) -> str:
    return BASE_NOTES.get(group.split(".")[0], "")


HEAD = """\
# The rulesets

Generated by `python -m tools.rulesets_page > docs/reference/rulesets.md`. The pieces are in
`gaia_jax/components/`, the variants in `gaia_jax/ruleset/variants.py`. Rules never test a ruleset's
name.

| ruleset | cells | A | what it is |
| --- | --- | --- | --- |
"""
WHAT = {
    "lost_fleet": "the default: The Lost Fleet with changes of this project",
    "lost_fleet_published": "The Lost Fleet as printed, except for the five rules below",
    "base": "the base game for one to four players: 14 factions, QIC actions on the board",
}


# Written by hand.
VERSIONS = Path(__file__).with_name("rulesets_versions.md")


# Lines after the differences of a ruleset.
AFTER = {
    "lost_fleet_published": [
        "",
        "In five rules both rulesets differ from the published game. In both, the next turn order",
        "is the order of passing (ROU-02, a printed variant), the condition of the extra tile is",
        "drawn (SET-04), leech is asked in turn order (LEE-04), the step of a tile is mandatory",
        "(TEC-09), and a burned token of the Itars always goes to the Gaia area (FRE-05).",
        "",
        "It is for one to four players (PLA-08 to PLA-14; one: AUT-40 to AUT-45);",
        "the rows above are of the game for four.",
    ],
}
TABLE = "| what | `{}` | `{}` | {} |\n| --- | --- | --- | --- |"


def _chapter(rules: Ruleset) -> Iterator[str]:
    """A ruleset compared with `lost_fleet`; a difference without a ruling shows `-`."""
    rulings = RULINGS.get(rules.id, {})
    yield from ("", f"## `{rules.id}`", "", TABLE.format("lost_fleet", rules.id, "ruling"))
    for place, old, new in differences(LOST_FLEET, rules):
        yield _row(place, old, new, rulings.get(place, MISSING))
    yield from AFTER.get(rules.id, ())
    if rules is LOST_FLEET_PUBLISHED:
        yield ""
        solo = ruleset_of(rules.id, 1)
        yield from _players_rows(solo, PUBLISHED_FOR_TWO, PUBLISHED_FOR_THREE, rules)
        yield from ("", "One plays against the Automa (AUT-01 to AUT-45).")


def _base_chapter() -> Iterator[str]:
    """`base` compared with the published game."""
    yield from (
        "",
        "## `base`",
        "",
        "Compared with `lost_fleet_published`. The set-up file omits missing pieces.",
        "For two to four players (PLA-01 to PLA-07), or one against the Automa (AUT-01 to AUT-34),",
        "which has the pieces of two; the rows are of the game for four.",
        "",
        TABLE.format("lost_fleet_published", "base", "reason"),
    )
    yield from _base_rows()
    yield ""
    yield from _players_rows(BASE_FOR_TWO, BASE_FOR_THREE, BASE)


def page() -> str:
    """The whole page."""
    lines = [
        f"| `{rules.id}` | {rules.geometry.num_cells} | {rules.actions.num_actions} "
        f"| {WHAT[rules.id]} |"
        for rules in RULESETS.values()
    ]
    for rules in RULESETS.values():
        if rules is not LOST_FLEET:
            lines += _base_chapter() if rules is BASE else _chapter(rules)
    return HEAD + "\n".join(lines) + "\n\n" + VERSIONS.read_text(encoding="utf-8")


if __name__ == "__main__":
    print(page(), end="")
