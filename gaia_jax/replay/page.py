"""A recorded game as one HTML file: the picture of its first position, and what changes after."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from gaia_jax import actions
from gaia_jax.env import State
from gaia_jax.language import language, read_catalogue, texts_script, with_minus, with_texts
from gaia_jax.render import colours, effects, in_words, panels
from gaia_jax.render.automa_turns import AutomaTurn, automa_turns
from gaia_jax.render.automa_words import turn_json
from gaia_jax.render.changes import GAIN, Effects
from gaia_jax.render.names import faction_name, say_at, sources
from gaia_jax.render.table import Table
from gaia_jax.render.texts import TEXTS
from gaia_jax.replay.record import Record, states
from gaia_jax.ruleset import Ruleset


@dataclass(frozen=True)
class Move:
    """One decision of a game and what it led to."""

    number: int  # from 1
    round: int
    player: int
    node: str
    text: str
    words: str
    before: Table
    after: Table
    automa: tuple[AutomaTurn, ...] = ()  # its turns after the decision, in a solo game

    @property
    def automa_json(self) -> list[dict[str, Any]]:
        """The Automa's turns as pages show them."""
        return [turn_json(turn, self.before.ruleset) for turn in self.automa]

    @property
    def effects_text(self) -> str:
        """Costs and gains in words; "" where nothing changed."""
        return in_words(effects(self.before, self.after), self.words)

    @property
    def effects_json(self) -> dict[str, Any]:
        """Costs and gains, as pages show them."""
        return effects_json(effects(self.before, self.after), self.text, self.words)


def effects_json(changes: Effects, text: str, words: str) -> dict[str, Any]:
    """The changes of a decision as pages show them.

    Args:
        text: the action; words: the action in words.
    Returns:
        `effects_text`, all changes in words; `paid`, the same without the next choice, if that
        differs; `built`, the structures of an upgrade; `final`, at the end of the game, the VP of
        the final scoring by player.
    """
    out: dict[str, Any] = {"effects_text": with_minus(in_words(changes, words))}
    paid = with_minus(in_words(changes, words, with_then=not changes.is_choice))
    if paid != out["effects_text"]:
        out["paid"] = paid
    if changes.over:
        out["final"] = list(changes.final)
    if text.startswith("upgrade"):
        out["built"] = next((i.words for i in changes.own if i.side == GAIN and i.words), "")
    return out


def moves(record: Record, played: Iterable[State] | None = None) -> Iterator[Move]:
    """The decisions of a recorded game, which is played and verified on the way.

    Args:
        played: its states, where it has been played already.
    Raises:
        RecordError: as `gaia_jax.replay.states`.
    """
    ruleset = record.env().ruleset
    before: Table | None = None
    previous: State | None = None
    for number, state in enumerate(states(record) if played is None else played):
        after = Table(state, ruleset)
        if before is not None:
            text = " ".join(record.actions[number - 1].split())
            words, turns = say_at(before, text), automa_turns(previous, state, ruleset)
            actor = (before.round, before.player, before.node)
            yield Move(number, *actor, text, words, before, after, turns)
        before, previous = after, state


_STATIC = resources.files("gaia_jax.replay").joinpath("static")


def static(name: str) -> str:
    """A text file of this package's pages."""
    return _STATIC.joinpath(name).read_text("utf-8")


def style() -> str:
    """The style sheet of a page that loads no file: it contains the typeface."""
    typeface = base64.b64encode(_STATIC.joinpath("inter.woff2").read_bytes()).decode()
    return static("view.css").replace("inter.woff2", f"data:font/woff2;base64,{typeface}")


def viewer(own_texts: Mapping[str, str] | None = None) -> str:
    """The scripts that show a table, in their order, with their texts in the language in use.

    Args:
        own_texts: of the page's own scripts, by id.
    """
    names = ("texts.js", "view.js", "zoom.js", "chart.js", "moves.js", "help.js")
    return "\n".join([texts_script({**(own_texts or {}), **page_texts()}), *map(static, names)])


@cache
def _page_texts(code: str) -> dict[str, str]:
    texts: dict[str, str] = read_catalogue(resources.files("gaia_jax").joinpath("replay"), code)[
        "page"
    ]
    return texts


def page_texts() -> dict[str, str]:
    """The texts of the replay page by id, in the language in use."""
    return _page_texts(language())


def seats_json(table: Table) -> list[dict[str, Any]]:
    """The players, as JSON of a page."""
    out = []
    for seat in table.seats:
        fill, ink = colours.faction(seat.faction.start_planet)
        name = faction_name(seat.faction)
        out.append({"player": seat.player, "name": name, "fill": fill, "ink": ink,
                    "faction": seat.faction.id})  # fmt: skip
    return out


def sources_json(table: Table) -> list[dict[str, str]]:
    """The sources of VP, named and coloured."""
    ids = table.ids["vp_source"]
    named = sources(table.ruleset, table.final_missions)
    return [
        {"name": named[id], "colour": colour}
        for id, colour in zip(ids, colours.VP_SOURCES, strict=True)
    ]


class Timeline:
    """The parts of a picture, each with the decisions after which it changed."""

    def __init__(self) -> None:
        self._now: dict[tuple[str, str], str] = {}
        self.changes: dict[str, dict[str, list[tuple[int, str]]]] = {}

    def add(self, number: int, parts: dict[str, dict[str, str]]) -> None:
        """The parts after decision `number`; one that is gone is empty."""
        current = {
            (block, id): body for block, bodies in parts.items() for id, body in bodies.items()
        }
        removed = dict.fromkeys(self._now.keys() - current.keys(), "")
        for key, body in (current | removed).items():
            if self._now.get(key) == body:
                continue
            self._now[key] = body
            block, id = key
            changes = self.changes.setdefault(block, {}).setdefault(id, [])
            if not changes and number:
                changes.append((0, ""))
            changes.append((number, body))

    def varying(self) -> dict[str, dict[str, list[tuple[int, str]]]]:
        """The changes of what does change; the rest is in the first picture alone."""
        return {
            block: {id: changes for id, changes in frames.items() if len(changes) > 1}
            for block, frames in self.changes.items()
        }


def pictures(ruleset: Ruleset, frames: Sequence[tuple[State, int | None]]) -> dict[str, Any]:
    """Pictures of states: the first one as `picture`, and as `parts` what changes in the others.

    Args:
        frames: states, each with the action that led to it.
    """
    tables = [Table(state, ruleset) for state, _ in frames]
    picture = panels.frame(tables[0], panels.parts(tables[0]))
    timeline = Timeline()
    for number, (table, (_, last)) in enumerate(zip(tables, frames, strict=True)):
        timeline.add(number, panels.parts(table, last))
    return {"picture": picture, "parts": timeline.varying()}


def packed(text: str) -> str:
    """Compressed data of a page, a tenth as large; browsers have DecompressionStream since 2023."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def filled(template: str, fills: Mapping[str, str]) -> str:
    """A page from its template, each `{name}` replaced."""
    return re.sub(r"\{(" + "|".join(fills) + r")\}", lambda m: fills[m[1]], template)


def game_json(record: Record, played: Iterable[State] | None = None) -> str:
    """The data of the replay page; arguments as of `page`.

    Raises:
        RecordError: as `gaia_jax.replay.states`.
    """
    timeline, vp, sources = Timeline(), [], []
    rows: list[dict[str, Any]] = []
    first: Table | None = None
    row_of_move: dict[tuple[int, int], int] = {}

    def add(number: int, table: Table, last: int | None) -> None:
        timeline.add(number, panels.parts(table, last))
        vp.append([seat.vp for seat in table.seats])
        for seat in table.seats:
            for i, value in enumerate(seat.vp_source.values()):
                if row_of_move.get((seat.player, i), 0) != value:
                    row_of_move[seat.player, i] = value
                    sources.append((number, seat.player, i, value))

    for move in moves(record, played):
        if first is None:
            first = move.before
            add(0, first, None)
        add(move.number, move.after, actions.from_text(first.ruleset, move.text))
        rows.append(
            {
                "round": move.round,
                "player": move.player,
                "text": move.text,
                "words": move.words,
                **move.effects_json,
                **({"automa": move.automa_json} if move.automa else {}),
            }
        )
    if first is None:
        first = Table(next(iter(states(record) if played is None else played)))
        add(0, first, None)
    game = {
        "picture": panels.frame(first, panels.parts(first)),
        "parts": timeline.varying(),
        "moves": rows,
        "vp": vp,
        "vp_source": sources,
        "seats": seats_json(first),
        "sources": sources_json(first),
    }
    return json.dumps(game, separators=(",", ":"))


def page(record: Record, played: Iterable[State] | None = None) -> str:
    """A recorded game as one HTML file that asks nothing of any network.

    Args:
        record: what `gaia_jax.replay.read` gave.
        played: the states of the game, where it has been played already.
    Raises:
        RecordError: as `gaia_jax.replay.states`.
    """
    game = game_json(record, played)
    ids = (str(id) for id in record.setup.get("factions", ()))
    factions = ", ".join(TEXTS["faction"].get(id, id) for id in ids)
    title = page_texts()["game-title"].format(factions=factions)
    fills = {
        "title": escape(title),
        "css": style(),
        "game": packed(game),
        "view": viewer(),
        "replay": static("replay.js"),
    }
    return filled(with_texts(static("replay.html"), page_texts()), fills)
