"""Comparison of our state with a recorded one, field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from gaia_jax.importers.lines import BETWEEN, Line
from gaia_jax.importers.notation import (
    BOARD_ACTIONS,
    BOOSTERS,
    FACTIONS,
    PLANETS,
    SLOTS,
    SPECIALS,
    TECHS,
    TOKENS,
    cell_from_log,
)
from gaia_jax.importers.position import final_vp, marked
from gaia_jax.rules.player import bit_vector
from tests.replays.table import Position

Difference = tuple[str, Any, Any]  # field, recorded, ours
PHASES = {
    "START": "setupBuilding",
    "BOOSTER": "setupBooster",
    "TURN": "roundMove",
    "LEECH": "roundLeech",
    "ENDED": "endGame",
}
# What some players have already and others not while the phases between the turns are open.
STOCKS = ("c", "o", "k", "q", "pw", "bs", "gfg")
BOWLS = {"area1": 0, "area2": 1, "area3": 2, "gaia": 3, None: -1}
RANGES = (1, 1, 2, 2, 3, 4)  # by level of navigation (MIN-04)
# Planets in the order of ids["planet"].
LETTERS = {name: letter for letter, name in PLANETS.items()}


def compare(
    position: Position, line: Line, waiting: int | None, planets: np.ndarray
) -> Iterator[Difference]:
    """All fields after a line that our game has come to.

    Args:
        waiting: a player with conversions to come when leech is answered, whose stocks are not
            compared before; planets: what lay on the cells before the Gaia phase.
    """
    phase = line.outcome["ph"]
    if not (phase in BETWEEN or phase == PHASES.get(position.node, "")):
        yield "ph", phase, position.node
    yield from compare_state(position, position.state.game, line, waiting, planets)


def compare_between(
    position: Position, lines: list[Line], start: Any, planets: np.ndarray
) -> Iterator[Difference]:
    """The states inside income and Gaia phase, where our game decides in another order.

    There only the Itars' tiles change more than stocks: what is compared is as our game was
    before the phases, or after them where no tile is taken any more.

    Args:
        lines: of these phases, the last one is compared by `compare`; start: our game before
            them; planets: what lay on the cells before the Gaia phase.
    """
    after = position.state.game
    for number, line in enumerate(lines[:-1]):
        later = [command[0] for other in lines[number + 1 :] for command in other.commands]
        game = start if "tech" in later else after
        if line.outcome["ph"] == "roundGaia":
            game = game.replace(board=game.board.replace(planet=converted(position, game)))
        for field, recorded, own in compare_state(position, game, line, None, planets):
            yield f"line {line.number} {line.text!r}: {field}", recorded, own


def converted(position: Position, game: Any) -> np.ndarray:
    """The contents of the cells in the Gaia phase (GAI-02)."""
    planets = np.array(game.board.planet)
    planets[np.asarray(game.board.gaiaformer) >= 0] = position.rules.ids["planet"].index("Gaia")
    return planets


def compare_state(
    position: Position, game: Any, line: Line, waiting: int | None, planets: np.ndarray
) -> Iterator[Difference]:
    """Compare a recorded state with a game of ours; the arguments are those of `compare`."""
    outcome = line.outcome
    between, ended = outcome["ph"] in BETWEEN, outcome["ph"] == "endGame"
    for player, recorded_row in enumerate(outcome["pl"]):
        row = read_player(recorded_row)
        skipped = STOCKS if between or ended or player == waiting else ()
        own_row = player_row(position, game, player)
        for field, value in row.items():
            if field not in own_row or field in skipped or (ended and field in ("vp", "used")):
                continue
            own = own_row[field]
            # In the last round who passes gives the booster back.
            if outcome["rd"] == 6 and (ended or player in outcome["passed"]):
                if field == "boost":
                    own = None
                if field == "used":
                    own = own - set(BOOSTERS.values())
            if value != own:
                yield f"{row['f']}.{field}", value, own
    lie = planets if outcome["ph"] == "roundIncome" else np.asarray(game.board.planet)
    yield from compare_map(position, game, outcome, lie)
    supply = {TOKENS[kind]: count for kind, count in outcome["fedpool"].items()}
    tokens = game.turn.token_supply.tolist()
    own = dict(zip(position.rules.ids["token"], tokens, strict=False))
    if supply != own:
        yield "fedpool", supply, own
    if not ended:
        yield from compare_table(position, game, line)


def compare_table(position: Position, game: Any, line: Line) -> Iterator[Difference]:
    """Compare the common parts: round, turn order, board spaces, boosters, level 5."""
    outcome = line.outcome
    passed = [int(p) for p in np.argsort(game.turn.passed) if game.turn.passed[p] > 0]
    order = [p for p in game.turn.order.tolist() if p not in passed]
    # Between the turns that engine asks one player after the other, ours decision by decision.
    to = line.next if outcome["ph"] in BETWEEN else position.player
    for field, value in (
        ("rd", int(game.turn.round)),
        ("order", still_to_come(game) if outcome["ph"].startswith("setup") else order),
        ("passed", passed),
        ("board", used_spaces(position, game)),
        ("to", outcome["to"] if to is None else to),
        ("pool", open_boosters(position, outcome)),
        ("tfed", token_of_level_5(position, game)),
    ):
        recorded = sorted(outcome[field]) if field in ("board", "pool") else outcome[field]
        if recorded != value:
            yield field, recorded, value


def still_to_come(game: Any) -> list[int]:
    """At set-up: who places a mine, or takes a booster, after the next one (INI-01, SET-13)."""
    sequence = [p for p in game.turn.sequence.tolist() if p >= 0]
    done, boosters = int(game.turn.setup_done), len(sequence) - len(game.turn.order)
    return sequence[done + 1 : boosters if done < boosters else None]


def open_boosters(position: Position, outcome: dict[str, Any]) -> list[str]:
    """Those in play without an owner; in round 6 a player who passes gives the own one back."""
    game, ids = position.state.game, position.rules.ids
    back = outcome["passed"] if outcome["rd"] == 6 else ()
    owned = {int(game.players.booster[p]) for p in range(len(outcome["pl"])) if p not in back}
    names = {own: name for name, own in BOOSTERS.items()}
    in_play = {int(kind) for kind in game.setup.boosters}
    return sorted(names[ids["booster"][kind]] for kind in in_play - owned)


def token_of_level_5(position: Position, game: Any) -> str | None:
    """The token on level 5 of terraforming, until a player reaches it."""
    if (np.asarray(game.players.tracks)[:, 0] == 5).any():
        return None
    names = {own: name for name, own in TOKENS.items()}
    return names[position.rules.ids["token"][int(game.setup.tf5_token)]]


def used_spaces(position: Position, game: Any) -> list[str]:
    ids = position.rules.ids
    power = np.asarray(bit_vector(game.turn.power_used, len(ids["power_action"])))
    qic = np.asarray(bit_vector(game.turn.ship_used, len(ids["qic_action"])))
    used = {f"power {x}" for x, is_used in zip(ids["power_action"], power, strict=True) if is_used}
    used |= {f"qic {x}" for x, is_used in zip(ids["qic_action"], qic, strict=True) if is_used}
    return sorted(name for name, text in BOARD_ACTIONS.items() if text in used)


def player_row(position: Position, game: Any, player: int) -> dict[str, Any]:
    """A player in the recorded form, as far as it can be compared."""
    players, rules = game.players, position.rules
    ids = rules.ids
    faction = ids["faction"][int(game.setup.faction[player])]

    def read(field: str) -> int:
        return int(getattr(players, field)[player])

    built = players.built[player].tolist()
    order = ("MINE", "TS", "RL", "PI", "AC_A", "AC_B")
    pieces = [built[ids["structure"].index(name)] for name in order]
    kinds = range(len(ids["token"]))
    tokens = Counter({ids["token"][k]: int(players.tokens[player, k]) for k in kinds})
    stone = {bowl: name for name, bowl in BOWLS.items()}[read("brainstone")]
    booster_index = read("booster")
    booster = ids["booster"][booster_index] if booster_index >= 0 else ""
    return {
        "f": {own: name for name, own in FACTIONS.items()}[faction],
        "vp": read("vp"),
        "c": read("credits"),
        "o": read("ore"),
        "k": read("knowledge"),
        "q": read("qic"),
        "pw": [*players.power[player].tolist(), read("gaia_power")],
        "bs": stone,
        "res": players.tracks[player].tolist(),
        "b": [*pieces, read("gaiaformers_out"), read("stations")],
        "lost": int(players.colonized[player, ids["planet"].index("Lost")]),
        "sat": read("satellites"),
        "rng": RANGES[players.tracks[player, 1]],
        "gf": read("gaiaformers") + read("gaiaformers_out") + read("gaiaformers_gaia"),
        "gfg": read("gaiaformers_gaia"),
        "boost": {own: name for name, own in BOOSTERS.items()}.get(booster),
        "tech": tiles(position, game, player),
        "fed": tokens,
        "green": read("green"),
        "fc": read("formed"),
        "used": specials(position, game, player),
    }


def tiles(position: Position, game: Any, player: int) -> set[str]:
    """Tiles as tile@slot, ! for a covered one."""
    ids = position.rules.ids
    slots = list(SLOTS)
    names = {own: name for name, own in TECHS.items()}
    labels = set()
    for slot, kind in enumerate(game.setup.basic_slot):
        bit = 1 << int(kind)
        if int(game.players.tiles[player]) & bit:
            covered = "!" if int(game.players.covered[player]) & bit else ""
            labels.add(f"{names[ids['tile'][int(kind)]]}@{slots[slot]}{covered}")
    for slot, kind in enumerate(game.setup.advanced):
        if int(game.players.advanced[player]) & 1 << int(kind):
            labels.add(f"{names[ids['advanced'][int(kind)]]}@adv-{slots[slot]}")
    return labels


def specials(position: Position, game: Any, player: int) -> set[str]:
    """Special actions used this round; those of a booster and of a covered tile go with it."""
    ids = position.rules.ids
    number = int(game.players.booster[player])
    booster = ids["booster"][number] if number >= 0 else None
    used, covered = int(game.players.used[player]), int(game.players.covered[player])
    hidden = {name for i, name in enumerate(ids["tile"]) if covered >> i & 1}
    return {
        name
        for i, name in enumerate(ids["special"])
        if used >> i & 1 and name not in hidden and (name not in ids["booster"] or name == booster)
    }


def read_player(row: dict[str, Any]) -> dict[str, Any]:
    """A recorded player's row in the form of `player_row`."""
    tokens = Counter(dict.fromkeys(TOKENS.values(), 0))
    for token in row["fed"]:
        tokens[TOKENS[token[:-1]]] += 1
    return {
        **row,
        "tech": set(row["tech"]),
        "fed": tokens,
        "green": sum(token.endswith("+") for token in row["fed"]),
        "used": {SPECIALS[name.removeprefix("=>").strip()] for name in row["used"]},
    }


def compare_map(
    position: Position, game: Any, outcome: dict[str, Any], planets: np.ndarray
) -> Iterator[Difference]:
    """Planets, pieces, guests, federations and satellites by hex."""
    board, rules = game.board, position.rules
    names = ("", "m", "ts", "lab", "PI", "ac1", "ac2")
    recorded = {}
    for q, r, planet, piece, player, guest, fed in outcome["map"]:
        recorded[cell_from_log(q, r)] = (planet, piece, player, guest, "".join(sorted(fed)))
    stations, players = np.asarray(board.station), range(len(outcome["pl"]))
    hive = int(np.argmax(game.players.stations))
    structure, owner = np.asarray(board.structure), np.asarray(board.owner)
    former, guest = np.asarray(board.gaiaformer), np.asarray(board.guest)
    inside = [marked(game, p, 0) | marked(game, p, 4) for p in players]
    for cell, (q, r) in enumerate(rules.geometry.cells.tolist()):
        planet = LETTERS[rules.ids["planet"][int(planets[cell])]]
        piece, holder = names[structure[cell]], int(owner[cell])
        if former[cell] >= 0:
            piece, holder = "gf", int(former[cell])
        if stations[cell]:
            piece, holder = "sp", hive
        fed = "".join(str(p) for p in players if cell in inside[p])
        own = (planet, piece, holder, int(guest[cell]), fed)
        recorded_cell = recorded.get((q, r))
        if recorded_cell is None:
            if piece or fed:
                yield f"map {q},{r}", None, own
        elif recorded_cell != own:
            yield f"map {q},{r}", recorded_cell, own


def compare_end(position: Position, record: dict[str, Any], before: Any) -> Iterator[Difference]:
    """Whether the game is over, and its final VP.

    Args:
        before: the game before its last decision.
    """
    rows = record["steps"][-1]["s"]["pl"]
    recorded = [[row["f"], row["vp"]] for row in rows]
    if "auction" not in record["opts"] and record["vp"] != recorded:  # bids come off later
        yield "vp", record["vp"], recorded
    if position.over != record["ended"]:
        yield "ended", record["ended"], position.over
    if position.over:
        for number, (faction, vp) in enumerate(recorded):
            own = final_vp(position.rules, position.state.game, before, number)
            if vp != own:
                yield f"{faction}.vp at the end", vp, own
