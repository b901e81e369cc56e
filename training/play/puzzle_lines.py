"""The lines of puzzles: their steps for the page, and the turns that the steps make up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from gaia_jax.actions import from_text
from gaia_jax.components.common import VP_AT_THE_END
from gaia_jax.env import GaiaEnv, State
from gaia_jax.language import with_minus
from gaia_jax.render import Table, effects, in_words, panels, say_at
from gaia_jax.replay import page
from gaia_jax.state import Node

from ..analysis.actions import begins_turn, is_conversion, is_within_turn
from ..analysis.puzzle_reasons import piece_of
from ..analysis.recorded_game import compiled_step
from ..types import JsonObject
from .languages import page_text
from .lookahead import joined

HIDDEN = ("end_turn", "leech DECLINE")  # steps that are not shown
MAX_STEPS = 80  # of a line, before only the important ones follow; some have hundreds
LARGE_GAIN = 5  # VP of the seat in a step
SUPPLIED = "tile ", "token "  # begin the actions that take pieces of which others get their own


class Step(NamedTuple):
    """A visible step of a line, or the position before it."""

    json: JsonObject  # for the page
    parts: dict[str, dict[str, str]]  # of the picture after it
    number: int = 0  # in the line; 0 is the position
    player: int = -1
    round: int = 0
    part: str = ""  # whether it "begins" or "continues" a turn, or neither
    words: str = ""
    scored: Mapping[str, int] = {}  # VP of the seat by id of the source, before the final scoring
    obstacles: Mapping[str, str] = {}  # why events are impossible at the beginning of its turn


class Turn(NamedTuple):
    """The steps of a player's turn, without conversions before the main action."""

    player: int
    round: int
    steps: list[Step]

    @property
    def number(self) -> int:
        """The number of its first step; 0 without one."""
        return self.steps[0].number if self.steps else 0

    @property
    def texts(self) -> list[str]:
        """The texts of its actions."""
        return [step.json["text"] for step in self.steps]

    @property
    def words(self) -> str:
        """Its actions in words."""
        return joined(step.words for step in self.steps)

    def scored(self, source: str) -> int:
        """VP of the seat from a source."""
        return sum(step.scored.get(source, 0) for step in self.steps)


def part_of_turn(state: State, text: str) -> str:
    """Whether an action "begins" or "continues" the turn of its player, or neither."""
    if int(state.game.turn.node) in (Node.START, Node.TURN):
        return "" if is_conversion(text) else "begins"
    return "continues" if is_within_turn(state) else ""


def turns_of(line: Sequence[Step]) -> list[Turn]:
    """The turns of a line; the first one begins with the first step after the position.

    A turn of which steps are left out begins again with the next one.
    """
    turns, current = list[Turn](), dict[int, Turn]()
    for step in line[1:]:
        if step.number > 1 and not step.part:
            continue
        is_new = step.part == "begins" or step.json["skipped"] or step.player not in current
        if is_new:
            current[step.player] = Turn(step.player, step.round, [])
            turns.append(current[step.player])
        current[step.player].steps.append(step)
    return turns


def piece_taken(text: str) -> str:
    """The piece or place that an action takes, as in the texts of actions; "": none."""
    return piece_of(text) or text * text.startswith(SUPPLIED)


def is_event(text: str, events: Collection[str]) -> bool:
    """Whether an action, or the taking of its piece, is one of some events."""
    return text in events or piece_taken(text) in events


def steps_of(
    env: GaiaEnv, state: State, line: Sequence[str], seat: int, events: Collection[str] = ()
) -> Iterator[Step]:
    """The position, then the visible steps of a line.

    Hidden are ends of turns, declined leech and conversions of other players, except as the first
    step. After MAX_STEPS visible ones, only those with a LARGE_GAIN, the `events` with the rest of
    their turns and the last one are visible.
    The JSON of a step has its words and what it `brings`; `own`: whether it is the seat's; `vp` of
    the seat after it; `over`: whether the game has ended; `skipped`: the number of visible steps
    left out before it.
    """
    table, step = Table(state, env.ruleset), compiled_step(env)
    names = [row["name"] for row in page.seats_json(table)]
    yield Step({"text": "", "words": "", "brings": ""}, panels.parts(table))
    num_shown, num_skipped, is_kept, obstacles = 0, 0, False, dict[str, str]()
    for number, text in enumerate(line):
        player, action = int(state.current_player), from_text(env.ruleset, text)
        before, state = state, step(state, action)
        is_own, is_cut, is_last = player == seat, num_shown >= MAX_STEPS, number == len(line) - 1
        is_minor = text in HIDDEN or (not is_own and is_conversion(text))
        is_inside = part_of_turn(before, text) == "continues"
        is_kept = is_event(text, events) or (is_kept and is_inside)
        if is_cut and not is_last and not is_kept:
            gain = int(state.game.players.vp[seat]) - int(before.game.players.vp[seat])
            if is_minor or not is_own or gain < LARGE_GAIN:
                num_skipped += not is_minor
                continue
        table_before = Table(before, env.ruleset) if is_cut else table
        table = Table(state, env.ruleset)
        if is_cut:  # the conversion that began the turn may be left out
            obstacles = {}
        elif is_own and begins_turn(before):
            obstacles = {event: find_obstacle(table_before, event) for event in events}
        if number and is_minor and not num_skipped:
            continue
        num_shown += 1
        words = say_at(table_before, text)
        brings = with_minus(in_words(effects(table_before, table), words))
        about = {
            "text": text, "words": f"{names[player]}: {words}", "brings": brings, "own": is_own,
            "vp": table.seats[seat].vp, "over": table.over, "skipped": num_skipped,
        }  # fmt: skip
        sources = (t.seats[seat].vp_source for t in (table_before, table))
        yield Step(
            about, panels.parts(table, action), num_shown, player, int(before.game.turn.round),
            part_of_turn(before, text), words, _gains(*sources), obstacles if is_own else {},
        )  # fmt: skip
        num_skipped = 0


def find_obstacle(table: Table, text: str) -> str:
    """Why the deciding player cannot use a power or ship action, in words; "": not known.

    A price is no reason: conversions may pay it.
    """
    ruleset, seat = table.ruleset, table.seat(table.player)
    verb, _, id = text.partition(" ")
    if verb not in ("power", "ship"):
        return ""
    operation = ruleset.operations[ruleset.operation_index[text]]
    if id in (*table.power_used, *table.ship_used):
        return page_text("obstacle-used")
    if operation.ship >= 0 and ruleset.ships[operation.ship] not in seat.shuttles:
        return page_text("obstacle-shuttle")
    return ""


def _gains(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {k: vp - before.get(k, 0) for k, vp in after.items() if k not in VP_AT_THE_END}
