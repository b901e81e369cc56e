"""Gains of pieces, in words and as the face of a piece.

A face is a tuple of lines in which `{o}` is the ore icon (`symbols.svg` has them all): `3{o}1{q}`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from gaia_jax.components.artifacts import Artifact
from gaia_jax.components.boosters import Booster
from gaia_jax.components.common import Cost, Gain, Per
from gaia_jax.components.federation_tokens import FederationToken
from gaia_jax.components.free_actions import FreeAction
from gaia_jax.components.power_actions import PowerAction
from gaia_jax.components.ships import ShipAction
from gaia_jax.components.tech_tiles import TechTile
from gaia_jax.components.tinkering import TinkeringTile
from gaia_jax.language import language
from gaia_jax.render.texts import TEXTS, column, joined, phrase


class Text(NamedTuple):
    """The effect of a piece."""

    words: str
    face: tuple[str, ...]  # its lines, in icons


_COUNTS, _EVENTS, _EFFECTS = TEXTS["count"], TEXTS["event"], TEXTS["effect"]
_ONE, _SEVERAL, _ICONS = (column("amount", key) for key in ("one", "several", "icon"))
_VIRTUAL_MINES = column("virtual_mine")
_VIRTUAL_MINES_SHORT = column("virtual_mine", "short")
Amounts = Gain[int] | Cost[int] | Per[int]


def amounts(gain: Amounts) -> dict[str, int]:
    """The fields of a gain or a cost that are not 0, in their order."""
    return {k: v for k, v in vars(gain).items() if isinstance(v, int) and v}


def words(gain: Amounts, nothing: str = "") -> str:
    """`3 ore, 1 QIC`, or `nothing`."""
    units = ((n, (_ONE if n == 1 else _SEVERAL)[k]) for k, n in amounts(gain).items())
    return ", ".join(phrase("amount", n=n, unit=unit) for n, unit in units) or nothing


def icons(gain: Amounts) -> str:
    """`3{o}1{q}`."""
    return "".join(f"{n}{_ICONS[k]}" for k, n in amounts(gain).items())


def event(id: str) -> tuple[str, str]:
    """The scored event, in words and short for the face of a tile."""
    return _EVENTS[id]["name"], _EVENTS[id]["short"]


def effect(id: str) -> tuple[str, str]:
    """A booster's action or an effect, in words and short."""
    return _EFFECTS[id]["name"], _EFFECTS[id]["short"]


def scored(vp: int, id: str) -> str:
    """The event that a round tile scores, in words."""
    return phrase("per", amount=words(Gain(vp=vp)), counted=_EVENTS[id]["name"])


def _per(per: Per[int] | None) -> tuple[str, str]:
    """`2 VP per mine`, `2{v}/mine`."""
    if not per:
        return "", ""
    counted = _COUNTS[per.count]
    sentence = phrase("per", amount=words(per), counted=counted["name"])
    return sentence, f"{icons(per)}/{counted['short']}"


def _steps(number: int) -> tuple[str, str]:
    return phrase("free-steps", n=number), phrase("free-steps-short", n=number)


def text(piece: Any) -> Text:
    """The text of a tile, token, booster, artifact or action."""
    return _text(piece, language())


@functools.cache
def _text(piece: Any, code: str) -> Text:
    return _TEXTS[type(piece)](piece)


def _first(*rows: tuple[Any, str, tuple[str, ...]]) -> Text:
    """All the words that apply; the face of the last row that applies."""
    applicable = [row for row in rows if row[0]]
    return Text("; ".join(row[1] for row in applicable), applicable[-1][2])


def _tile(tile: TechTile) -> Text:
    per, passing = _per(tile.per), _per(tile.pass_per)
    scored, vp = tile.trigger or ("mine", 0)
    noun, short = event(scored)
    value, steps = tile.power_value_pi_ac, tile.free_mine_steps
    special = tile.special or Gain()
    return _first(
        (amounts(tile.gain), words(tile.gain), (phrase("now"), icons(tile.gain))),
        (tile.per, per[0], (phrase("now"), per[1])),
        (amounts(tile.income), phrase("income", text=words(tile.income)),
         ("{i}", icons(tile.income))),
        (tile.special, phrase("action", text=words(special)), ("{a}", icons(special))),
        (tile.pass_per, phrase("on-passing", text=passing[0]), (phrase("pass-short"), passing[1])),
        (vp, phrase("vp-for-each", n=vp, event=noun), (phrase("vp-per-short", n=vp), short)),
        (value, phrase("power-of-large", n=value),
         (phrase("large-short"), phrase("power-short", n=value))),
        (tile.range_bonus, phrase("range-more", n=tile.range_bonus),
         (phrase("range-short"), f"+{tile.range_bonus}")),
        (steps is not None, phrase("free-mine", n=steps or 0),
         (phrase("free-mine-short"), phrase("steps-short", n=steps or 0))),
    )  # fmt: skip


def _booster(booster: Booster) -> Text:
    passing, special = _per(booster.pass_per), effect(booster.special or "RB6")
    income = f"{{i}}{icons(booster.income)}"
    return _first(
        (True, phrase("income", text=words(booster.income)), (income,)),
        (
            booster.pass_per,
            phrase("on-passing", text=passing[0]),
            (income, f"{phrase('pass-short')} {passing[1]}"),
        ),
        (booster.special, phrase("action", text=special[0]), (income, f"{{a}} {special[1]}")),
    )


def _action(action: PowerAction | ShipAction) -> Text:
    """The cost and the gain."""
    per = _per(getattr(action, "per", None))
    special = getattr(action, "effect", None)
    if special:
        brings = effect(special)
    elif action.free_steps:
        brings = _steps(action.free_steps)
    else:
        brings = (
            joined([part for part in (words(action.gain), per[0]) if part]),
            " + ".join(part for part in (icons(action.gain), per[1]) if part),
        )
    description = phrase("brings-for", gain=brings[0], cost=words(action.cost))
    return Text(description, (icons(action.cost), brings[1]))


def _token(token: FederationToken) -> Text:
    gain = (words(token.gain), icons(token.gain))
    description, face = effect(token.effect) if token.effect else gain
    return Text(description, (face,))


def _artifact(artifact: Artifact) -> Text:
    gain, per = icons(artifact.gain), _per(artifact.per)
    mine = artifact.virtual_mine or ""
    income = artifact.income
    return _first(
        (gain, words(artifact.gain), (phrase("now"), gain)),
        (artifact.per, per[0], (gain or phrase("now"), per[1])),
        (amounts(income), phrase("income", text=words(income)), ("{i}", icons(income))),
        (mine, _VIRTUAL_MINES.get(mine, ""), (gain, _VIRTUAL_MINES_SHORT.get(mine, ""))),
        (artifact.retrigger, effect("RETRIGGER")[0], ("{f}", phrase("again-short"))),
    )


def _tinkering(tile: TinkeringTile) -> Text:
    if tile.free_steps:
        return Text(_steps(tile.free_steps)[0], (_steps(tile.free_steps)[1],))
    return Text(words(tile.gain), (icons(tile.gain),))


def _free(action: FreeAction) -> Text:
    exchange = phrase("exchange", cost=words(action.cost), gain=words(action.gain))
    return Text(TEXTS["free_action"].get(action.id, exchange), ())


_TEXTS: dict[type, Callable[[Any], Text]] = {
    TechTile: _tile,
    Booster: _booster,
    PowerAction: _action,
    ShipAction: _action,
    FederationToken: _token,
    Artifact: _artifact,
    TinkeringTile: _tinkering,
    FreeAction: _free,
}
