"""The whole table as one SVG: parts that change, by id, over a ground that does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gaia_jax import actions
from gaia_jax.render import board, colours, player_boards, research, supply
from gaia_jax.render.names import say
from gaia_jax.render.shapes import box, group, label, run
from gaia_jax.render.symbols import FONT, definitions
from gaia_jax.render.table import Table
from gaia_jax.ruleset import Ruleset

WIDTH, MARGIN = 1280, 8
_TOP, _SEATS = 92, 92 + board.HEIGHT + 10
HEIGHT = int(_SEATS + player_boards.HEIGHT + MARGIN)
_RIGHT = MARGIN + board.WIDTH + 4
_GAMES = {
    "lost_fleet": "Gaia Project, The Lost Fleet",
    "lost_fleet_published": "The Lost Fleet (as published)",
    "base": "Gaia Project",
}
# What a node asks, for the head line.
ASKS = {
    "START": "places a starting structure",
    "BOOSTER": "chooses a booster",
    "TINKERING": "chooses a tinkering tile",
    "INCOME": "orders the income",
    "TERRANS": "converts returning power",
    "ITARS": "may buy a tech tile",
    "TURN": "takes an action",
    "TARGET": "chooses a target",
    "PIECE": "chooses what to build",
    "FEDERATION": "picks structures for a federation",
    "TOKEN": "chooses a federation token",
    "RETRIGGER": "chooses a federation token to score again",
    "TILE": "chooses a tech tile",
    "COVER": "chooses a tile to cover",
    "FREE_MINE": "may build a free mine",
    "STEP": "chooses a research step",
    "LOST_PLANET": "places the Lost Planet",
    "LEECH": "may take power",
    "AFTER": "may convert, or end the turn",
    "ENDED": "",
}


def asks(table: Table) -> str:
    """Who decides what, in words."""
    if table.over:
        best = max(seat.vp for seat in table.seats)
        winners = [s.faction.name for s in table.seats if s.vp == best]
        return f"The game is over: {' and '.join(winners)} win{'s' * (len(winners) == 1)}"
    seat = table.seats[table.player]
    question = ASKS[table.node]
    if table.node == "LEECH" and table.player in table.offers:
        question = f"may take {table.offers[table.player]} power"
    return f"{seat.faction.name} {question}"


def _blocks(ruleset: Ruleset) -> dict[str, tuple[float, float]]:
    """Where the blocks of the right column lie."""
    y = _TOP + 2.0
    out: dict[str, tuple[float, float]] = {"research": (_RIGHT, y)}
    y += research.RESEARCH_HEIGHT + 2
    out["tokens"] = (_RIGHT, y)
    y += 27
    out["actions"] = (_RIGHT, y)
    y += 44 * (2 if ruleset.qic_actions else 1) + 1
    if ruleset.ships:
        out["ships"] = (_RIGHT, y)
        y += supply.SHIP_HEIGHT + 4
    out["boosters"] = (_RIGHT, y)
    out["legend"] = (_RIGHT, _TOP + board.HEIGHT - 38.0)
    return out


def ground(table: Table) -> dict[str, str]:
    """What stays as it is during a game, by the block that it lies under."""
    return {
        "map": board.frame() + board.grid(table.ruleset),
        "research": research.board(table),
        "legend": supply.legend(table.ruleset),
        **{f"seat-{seat.player}": player_boards.frame(seat) for seat in table.seats},
    }


def parts(table: Table, last: int | None = None) -> dict[str, dict[str, str]]:
    """What may change with a decision: by block, by id of the part.

    Args:
        table: the state.
        last: index of the action that led to it, to be marked.
    """
    out = {
        "head": {"head": _head(table, last)},
        "rounds": {"rounds": supply.rounds(table)},
        "finals": {"finals": supply.finals(table)},
        "map": board.MapDrawing(table).parts(last_mark(table, last)),
        "research": research.parts(table),
        "tokens": {"tokens": research.tokens(table)},
        "actions": research.actions(table),
        "boosters": supply.boosters(table),
    }
    if table.ruleset.ships:
        out["ships"] = supply.ships(table)
    for seat in table.seats:
        out[f"seat-{seat.player}"] = player_boards.parts(table, seat)
    return out


def _head(table: Table, last: int | None) -> str:
    name = _GAMES.get(table.ruleset.id, table.ruleset.id)
    if table.num_players != 4:
        name += f" for {table.num_players} players"
    phase = "Set-up" if not table.round else f"Round {table.round}"
    phase = "Final score" if table.over else phase
    if table.phase not in ("set-up", "actions", "over"):
        phase += f", {table.phase}"
    out = label(0, 21, phase, 19, bold=True)
    out += label(190, 20, asks(table), 15, bold=True, room=560)
    out += label(0, 37, name, 10, colours.QUIET)
    last_move = "" if last is None else f"last: {last_words(table, last)}"
    out += run(190, 37, last_move, 10.5, colours.QUIET, room=560)
    return out + supply.order(table, WIDTH - 2 * MARGIN, 20)


def last_words(table: Table, last: int) -> str:
    """The last action in words."""
    text = actions.to_text(table.ruleset, last)
    return f"{say(table.ruleset, text)}   ({text})"


def last_mark(table: Table, last: int | None) -> str:
    """The mark on the cell that an action went to; "" for an action without a cell."""
    if last is None:
        return ""
    cell = int(table.ruleset.actions.cell[last])
    if cell < 0 and actions.to_text(table.ruleset, last).startswith("explore "):
        cell = table.ship_cells[actions.to_text(table.ruleset, last).split()[1]]
    return board.marked(table.ruleset, cell) if cell >= 0 else ""


def places(ruleset: Ruleset, num_players: int) -> dict[str, tuple[float, float]]:
    """Where each block lies; the players' boards in the order of the seats."""
    out = {
        "head": (float(MARGIN), 6.0),
        "rounds": (float(MARGIN), 48.0),
        "finals": (MARGIN + 790.0, 48.0),
        "map": (float(MARGIN), float(_TOP)),
        **_blocks(ruleset),
    }
    step = (WIDTH - 2 * MARGIN + 2.7) / 4
    out |= {f"seat-{p}": (MARGIN + p * step, float(_SEATS)) for p in range(num_players)}
    return out


def compose(table: Table, parts: Mapping[str, Mapping[str, str]]) -> str:
    """The picture of these parts.

    Args:
        table: of the same game; only what does not change is read.
        parts: as `parts` gives them.
    """
    still = ground(table)
    body = [box(0, 0, WIDTH, HEIGHT, colours.PAPER, radius=0)]
    for block, at in places(table.ruleset, table.num_players).items():
        inner = still.get(block, "")
        inner += "".join(group(p, f"part-{id}") for id, p in parts.get(block, {}).items())
        body.append(group(inner, f"block-{block}", at=at, kind="block"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" font-family="{FONT}" role="img">'
        f"{definitions()}{''.join(body)}</svg>"
    )


def svg(state: Any, ruleset: Ruleset | None = None, last: int | None = None) -> str:
    """The whole table as an SVG.

    Args:
        state: one state of `gaia_jax.GaiaEnv`.
        ruleset: `env.ruleset`; None takes the one that the state names.
        last: index of the action that led to the state, to be marked.
    Returns:
        A document of 1,280 by about 1,180; it needs no other file.
    Raises:
        ValueError: a batch of states, or one that names no ruleset of `gaia_jax.RULESETS`.
    """
    table = Table(state, ruleset)
    return compose(table, parts(table, last))


__all__ = [
    "ASKS",
    "HEIGHT",
    "WIDTH",
    "asks",
    "compose",
    "last_mark",
    "last_words",
    "parts",
    "places",
    "svg",
]
