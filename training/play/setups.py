"""Deal a game: from a seed or a set-up as JSON, with the factions that seats chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gaia_jax.render import panels
from gaia_jax.replay import Record
from gaia_jax.replay.page import seats_json
from gaia_jax.ruleset import Ruleset
from gaia_jax.setup.automa_json import HIDDEN
from gaia_jax.setup.setup_json import SEATS, players_of, setup_to_dict
from gaia_jax.state import Setup

from .agent_pool import AgentPool
from .compiled_rules import Rules
from .game import HUMAN, Game, Refused
from .saves import read_setup

DRAWN = ""  # a seat that takes its dealt faction (SET-10)


def deal(form: Mapping[str, Any], rules: Rules) -> Setup:
    """The set-up of `setup`, otherwise of `seed`, with the chosen `factions`.

    A solo game by seed has the level `automa`, and the Automa plays `automa_faction`.

    Raises:
        Refused: one of them is invalid.
    """
    setup = _dealt(form, rules)
    chosen, automa = form.get("factions"), form.get("automa_faction", DRAWN)
    if chosen is None and automa == DRAWN:
        return setup
    ruleset = rules.env.ruleset
    data = setup_to_dict(setup, ruleset)
    if rules.solo:
        _choose_solo_factions(data, [DRAWN] if chosen is None else chosen, automa, ruleset)
    else:
        data["factions"] = with_factions(data["factions"], chosen, ruleset)
    return read_setup(data, rules)


def seats_of(form: Mapping[str, Any], record: Record | None, agents: AgentPool) -> list[str]:
    """The players by seat: as many as the record or set-up has, if there is one.

    Raises:
        Refused: there are too few, or one is unknown.
    """
    setup = record.setup if record else form.get("setup")
    try:
        players = players_of(setup) if isinstance(setup, Mapping) else None
    except ValueError as error:
        raise Refused(str(error)) from error
    seats = form.get("seats", [HUMAN] * (players or 4))
    if not isinstance(seats, list) or len(seats) not in SEATS:
        raise Refused("seats: from one to four names are required")
    if players and len(seats) < players:
        raise Refused(f"seats: {players} names are required, not {len(seats)}")
    return [agents.occupant(seat) for seat in seats[:players]]


def rematch(game: Game, form: Mapping[str, Any]) -> dict[str, Any]:
    """The form of a game with the set-up and the seats of an earlier one."""
    rematch = {"ruleset": game.rules.env.id, "setup": game.setup_json(), "seats": game.seats}
    return {**rematch, "settings": form.get("settings", {}), "name": form.get("name", "")}


def _choose_solo_factions(
    data: dict[str, Any], chosen: object, automa: object, ruleset: Ruleset
) -> None:
    """Replace the factions of the human and the Automa in a set-up, as of `with_factions`.

    Args:
        chosen: a list of the human's faction; automa: the Automa's. DRAWN for none.
    """
    assert ruleset.automa is not None
    playable = [faction.id for faction in ruleset.automa.factions]
    if automa != DRAWN and automa not in playable:
        raise Refused(f"automa_faction: {automa!r} is none of {', '.join(playable)}")
    if not isinstance(chosen, list) or len(chosen) != 1:
        raise Refused("factions: a list of 1 is required, with '' for a drawn one")
    dealt = [*data["factions"], data["automa"]["faction"]]
    human, opponent = with_factions(dealt, [*chosen, automa], ruleset)
    boards = (pair for pair in ruleset.faction_boards if opponent in pair)
    sides = next(boards, (opponent,))
    data["factions"] = [human]
    # Of a board that the human has left, the Automa plays its own side.
    data["automa"]["faction"] = next(side for side in (opponent, *sides) if side in playable)


def _dealt(form: Mapping[str, Any], rules: Rules) -> Setup:
    if form.get("setup") is not None:
        return read_setup(form["setup"], rules)
    seed = form.get("seed", 0)
    if type(seed) is not int or not 0 <= seed < 2**31:
        raise Refused("seed: a whole number from 0 to 2147483647 is required")
    return rules.draw(seed, _level(form, rules) if rules.solo else None)


def _level(form: Mapping[str, Any], rules: Rules) -> str | None:
    """The Automa's level of a form; None for the default."""
    level = form.get("automa")
    assert rules.env.ruleset.automa is not None
    levels = [entry.id for entry in rules.env.ruleset.automa.levels]
    if level is not None and level not in levels:
        raise Refused(f"automa: unknown level {level!r}; known are {', '.join(levels)}")
    return level


def with_factions(dealt: Sequence[str], chosen: object, ruleset: Ruleset) -> list[str]:
    """The factions by seat after some seats have chosen.

    A seat that was dealt a chosen faction, or the other side of its board, swaps with the chooser.

    Args:
        dealt: ids by seat. chosen: ids by seat, DRAWN for none.
    Raises:
        Refused: an unknown faction, or two of one board (SET-11).
    """
    faction_ids = ruleset.ids["faction"]
    if not isinstance(chosen, list) or len(chosen) != len(dealt):
        raise Refused(f"factions: a list of {len(dealt)} is required, with '' for a drawn one")
    for id in chosen:
        if id != DRAWN and id not in faction_ids:
            raise Refused(f"factions: unknown faction {id!r}; known are {', '.join(faction_ids)}")
    boards = {id: set(pair) for pair in ruleset.faction_boards for id in pair}
    out = list(dealt)
    for seat, id in enumerate(chosen):
        if id == DRAWN:
            continue
        board = boards.get(id, {id})
        for other, seat_faction in enumerate(out):
            if other == seat or seat_faction not in board:
                continue
            if chosen[other] in board:
                raise Refused(f"factions: {chosen[other]} and {id} share a board")
            out[other] = out[seat]
        out[seat] = id
    return out


def preview(setup: Setup, rules: Rules) -> dict[str, Any]:
    """A game before it begins.

    Returns:
        `picture`, as `panels.frame` gives it; `seats`; `setup`, as a record holds it, without the
        cards of the Automa.
    """
    table, data = rules.table(rules.start(setup)), setup_to_dict(setup, rules.env.ruleset)
    for key in HIDDEN if rules.solo else ():
        del data["automa"][key]
    return {
        "picture": panels.frame(table, panels.parts(table)),
        "seats": seats_json(table),
        "setup": data,
    }
