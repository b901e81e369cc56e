"""HTML for the panels of a page: faces with icons, pieces that can be pressed, discs of players."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from gaia_jax.render.shapes import seat_number

# An icon stays beside the number before it: `3{o}`.
_ICON = re.compile(r"([^\s{}]*\{[a-z]+\})")


def face(run: str) -> str:
    """A text in which `{o}` stands for an icon, as in `shapes.run`."""
    return "".join(
        _unit(part) if i % 2 else _breakable(part) for i, part in enumerate(_ICON.split(run))
    )


def _breakable(text: str) -> str:
    """A narrow face breaks `2{v}/asteroid` before its slash, and its longest word with a hyphen."""
    escaped = escape(text).replace("terraforming", "terra&shy;forming")
    return re.sub(r"/(?=[^\W\d])", "<wbr>/", escaped)


def _unit(part: str) -> str:
    number, name = part[:-1].split("{")
    return f'<span class="u">{escape(number)}{icon(name)}</span>' if number else icon(name)


def icon(name: str) -> str:
    """An icon of `symbols`; what it means is said by the words of the piece."""
    return f'<svg class="i" aria-hidden="true"><use href="#g-{name}"/></svg>'


def planet(name: str) -> str:
    """A planet of `symbols`."""
    return (
        f'<svg class="i" viewBox="-.8 -.8 1.6 1.6" aria-hidden="true"><use href="#g-{name}"/></svg>'
    )


def piece(
    id: str,
    words: str,
    lines: Iterable[str],
    kind: str,
    *,
    of: str = "",
    action: str = "",
    state: str = "",
) -> str:
    """Something that lies on the table, as a button.

    Args:
        id: of the element; each piece of the state has one.
        words: what it is, for who does not see it and for the help.
        lines: its face, in icons.
        kind: its class.
        of: the id of what is printed there, for the help.
        action: the action text that it stands for; a page lights it where that is legal.
        state: "used" or "covered", which is drawn too; "" for neither.
    """
    rows = "".join(f"<span>{face(line)}</span>" for line in lines if line)
    return pressed(id, f"{words}, {state}" if state else words, rows, kind, of, action, state)


def pressed(
    id: str, words: str, body: str, kind: str, of: str = "", action: str = "", state: str = ""
) -> str:
    """As `piece`, its face given as HTML."""
    attributes = f' data-of="{escape(of)}"' if of else ""
    attributes += f' data-action="{escape(action)}"' if action else ""
    names = " ".join(name for name in ("piece", kind, state) if name)
    return (
        f'<button type="button" id="{escape(id)}" class="{names}" aria-label="{escape(words)}"'
        f"{attributes}>{body}</button>"
    )


def disc(player: int, name: str, id: str = "") -> str:
    """The disc of a player: colour of the faction, number of the seat."""
    at = f' id="{id}"' if id else ""
    return f'<i class="disc d{player}"{at} title="{escape(name)}">{seat_number(player)}</i>'


def section(name: str, body: str, kind: str = "") -> str:
    """A part of a panel under its heading."""
    return f'<section class="{kind}"><h3>{escape(name)}</h3>{body}</section>'


def part(id: str, body: str, kind: str = "") -> str:
    """What a page replaces by the id of its part."""
    return f'<div id="part-{id}" class="part {kind}">{body}</div>'


__all__ = ["disc", "face", "icon", "part", "piece", "planet", "pressed", "section"]
