"""What a picture draws from: icons, planets, structures. Own drawings, all of them."""

from __future__ import annotations

from gaia_jax.render import colours

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def _letter(text: str, fill: str, size: float = 7.4, y: float = 7.7) -> str:
    return (
        f'<text x="5" y="{y}" font-size="{size}" font-weight="bold" text-anchor="middle"'
        f' fill="{fill}">{text}</text>'
    )


# Icons in a square of 10; `{o}` in a run draws "o".
_ICONS = {
    "c": '<circle cx="5" cy="5" r="4.6" fill="#f4c430" stroke="#8a6a00" stroke-width=".8"/>'
    + _letter("C", "#5c4700"),
    "o": '<rect x=".6" y=".6" width="8.8" height="8.8" rx="1.2" fill="#f2f3f6" stroke="#555c69"'
    ' stroke-width=".9"/>' + _letter("O", "#333a46"),
    "k": '<path d="M5 .3 9.7 3.8 7.9 9.5H2.1L.3 3.8Z" fill="#2b6fce" stroke="#123c78"'
    ' stroke-width=".7"/>' + _letter("K", "#fff", 6.6, 7.6),
    "q": '<path d="M5 .2 9.8 5 5 9.8 .2 5Z" fill="#2f9e44" stroke="#14561f" stroke-width=".7"/>'
    + _letter("Q", "#fff", 6.2, 7.2),
    "p": '<circle cx="5" cy="5" r="4.6" fill="#8e44ad" stroke="#4d1f63" stroke-width=".8"/>'
    '<path d="M5 1.7 8 5H6.1V8.2H3.9V5H2Z" fill="#fff"/>',
    "w": '<circle cx="5" cy="5" r="4.6" fill="#8e44ad" stroke="#4d1f63" stroke-width=".8"/>'
    '<path d="M5.9 1.4 2.6 5.6H4.7L4.1 8.6 7.4 4.4H5.3Z" fill="#fff"/>',
    "t": '<circle cx="5" cy="5" r="4.5" fill="#8e44ad" stroke="#4d1f63" stroke-width=".8"/>'
    '<circle cx="5" cy="5" r="2.4" fill="none" stroke="#fff" stroke-width="1"/>',
    "v": '<path d="M.8 .8H9.2V5.4C9.2 8 7 9.3 5 9.9 3 9.3 .8 8 .8 5.4Z" fill="#a4651a"'
    ' stroke="#5e3503" stroke-width=".8"/>' + _letter("V", "#fff", 6.8, 7.2),
    "g": '<path d="M3 1.2H7L8 5.2H2Z" fill="#5fae6a" stroke="#1d4d27" stroke-width=".8"/>'
    '<path d="M2.6 5.2 1 9.3M7.4 5.2 9 9.3M5 5.2V8.6" stroke="#1d4d27" stroke-width="1"/>',
    "a": '<path d="M3 .4H7L9.6 3V7L7 9.6H3L.4 7V3Z" fill="#e8742a" stroke="#7d3400"'
    ' stroke-width=".8"/><path d="M3.6 2.6 7.4 5 3.6 7.4Z" fill="#fff"/>',
    "i": '<rect x=".6" y=".6" width="8.8" height="8.8" rx="2.4" fill="#fff" stroke="#2a6b35"'
    ' stroke-width="1"/><path d="M5 2.3V7.7M2.3 5H7.7" stroke="#2a6b35" stroke-width="1.5"/>',
    "f": '<path d="M2.6 .8H7.4L9.8 5 7.4 9.2H2.6L.2 5Z" fill="#cfe8d2" stroke="#2a6b35"'
    ' stroke-width=".9"/>' + _letter("F", "#1d4d27", 6.6, 7.4),
    "r": '<path d="M5 .6 9 4.8H6.6V9.4H3.4V4.8H1Z" fill="#2b6fce" stroke="#123c78"'
    ' stroke-width=".7"/>',
    "x": '<rect x="1.4" y="1.4" width="7.2" height="7.2" fill="#aeb6c8" stroke="#333a46"/>',
    "m": '<path d="M1.4 9V4.6L5 1.2 8.6 4.6V9Z" fill="#4a5262"/>',
    "ts": '<path d="M.4 9.2V4L2.8 1.4 5 3.8 7.2 1.4 9.6 4V9.2Z" fill="#4a5262"/>',
    "rl": '<path d="M.8 9.2V6.4A4.2 5 0 0 1 9.2 6.4V9.2Z" fill="#4a5262"/>',
    "pi": '<path d="M.4 9.4V1.2H2.6V3H3.9V1.2H6.1V3H7.4V1.2H9.6V9.4Z" fill="#4a5262"/>',
    "ac": '<path d="M.2 9.2V6L5 1 9.8 6V9.2H7.4V7A2.4 2.4 0 0 0 2.6 7V9.2Z" fill="#4a5262"/>',
    "s": '<path d="M5 .4C7 2 7.4 5 7.2 7L9 9.2H1L2.8 7C2.6 5 3 2 5 .4Z" fill="#7a8bb8"'
    ' stroke="#27345a" stroke-width=".7"/>',
    "b": '<circle cx="5" cy="5" r="4.5" fill="#efe6f4" stroke="#4d1f63" stroke-width="1"/>'
    + _letter("B", "#4d1f63", 6.6, 7.4),
}

# The sign of each planet type, in a circle of radius 1 about (0, 0), drawn with the type's ink.
SIGNS = {
    # craters
    "Red": '<circle cx="-.22" cy="-.2" r=".2"/><circle cx=".28" cy=".12" r=".15"/>'
    '<circle cx="-.12" cy=".36" r=".11"/>',
    # a volcano
    "Orange": '<path d="M-.5 .38-.16-.28H.16L.5 .38Z"/><path d="M-.1-.36-.2-.56M.1-.36 .2-.56"/>',
    # dunes
    "Yellow": '<path d="M-.52-.1Q-.26-.42 0-.1T.52-.1M-.52 .3Q-.26-.02 0 .3T.52 .3" fill="none"/>',
    # reeds
    "Brown": '<path d="M-.34 .45V-.3M0 .45V-.48M.34 .45V-.3" fill="none"/>',
    # a crystal
    "Black": '<path d="M0-.5 .4 0 0 .5-.4 0Z" fill="none"/><path d="M-.4 0H.4" fill="none"/>',
    # a flake of snow
    "White": '<path d="M0-.52V.52M-.45-.26 .45 .26M.45-.26-.45 .26" fill="none"/>',
    # waves
    "Blue": '<path d="M-.52-.22Q-.39-.42-.26-.22T0-.22 .26-.22 .52-.22M-.52 .02Q-.39-.18-.26 .02T0'
    ' .02 .26 .02 .52 .02M-.52 .26Q-.39 .06-.26 .26T0 .26 .26 .26 .52 .26" fill="none"/>',
    # a leaf
    "Gaia": '<path d="M-.42 .42C-.5-.3 0-.5 .48-.46 .52 .1 .24 .5-.42 .42Z"/>',
    # a core within a ring
    "Proto": '<circle r=".5" fill="none" stroke-dasharray=".25 .14"/><circle r=".18"/>',
    "Asteroid": "",
    # a star
    "Lost": '<path d="M0-.55 .14-.17 .54-.17 .22 .07 .34 .46 0 .22-.34 .46-.22 .07-.54-.17-.14'
    '-.17Z"/>',
    # a spiral
    "Transdim": '<path d="M0 0C.12-.14 .3 0 .22 .2 .1 .44-.3 .4-.38 .06-.46-.34-.08-.6 .3-.46"'
    ' fill="none"/>',
}

# Outlines of structures within about 1 of (0, 0); filled in the colour of the player.
STRUCTURES = {
    "MINE": "M-.62 .62V-.12L0-.72 .62-.12V.62Z",
    "TS": "M-.88 .66V-.14L-.42-.66 0-.16 .42-.66 .88-.14V.66Z",
    "RL": "M-.84 .66V.1A.84 .86 0 0 1 .84 .1V.66Z",
    "PI": "M-.9 .8V-.8H-.5V-.48H-.2V-.8H.2V-.48H.5V-.8H.9V.8Z",
    "AC_A": "M-1 .7V0L0-.86 1 0V.7Z",
    "AC_B": "M-1 .7V0L0-.86 1 0V.7Z",
    "GAIAFORMER": "M-.4-.66H.4L.58 .1H.3L.72 .76H.46L.12 .2H-.12L-.46 .76H-.72L-.3 .1H-.58Z",
    "STATION": "M-.5-.66H.5L.86 0 .5 .66H-.5L-.86 0Z",
}
_ROCKS = (
    "M-.62-.1-.36-.44-.02-.34 .02 0-.3 .2Z",
    "M.16-.5 .5-.46 .62-.16 .34-.02 .1-.2Z",
    "M-.12 .26 .3 .1 .6 .3 .46 .6 .06 .62Z",
)
_SHIP = "M0-.95C.36-.6 .42 0 .36 .38L.74 .82H-.74L-.36 .38C-.42 0-.36-.6 0-.95Z"


def _planet(name: str) -> str:
    """The planet with its sign, and as `g-NAME-bare` without it, for under a structure."""
    fill, light, ink = colours.PLANETS[name]
    if name == "Asteroid":
        rocks = "".join(f'<path d="{d}"/>' for d in _ROCKS)
        body = f'fill="{light}" stroke="#3a413d" stroke-width=".07">{rocks}</g>'
        return f'<g id="g-Asteroid" {body}<use id="g-Asteroid-bare" href="#g-Asteroid"/>'
    disc = f'r=".72" fill="url(#g-shade-{name})" stroke="#0b1020" stroke-width=".05"/>'
    return (
        f'<circle id="g-{name}-bare" {disc}<g id="g-{name}"><circle {disc}'
        f'<g fill="{ink}" stroke="{ink}" stroke-width=".1"'
        f' stroke-linecap="round" stroke-linejoin="round" transform="scale(.86)">{SIGNS[name]}</g>'
        "</g>"
    )


def _shade(name: str) -> str:
    fill, light, _ = colours.PLANETS[name]
    return (
        f'<radialGradient id="g-shade-{name}" cx=".36" cy=".3" r=".85"><stop offset="0"'
        f' stop-color="{light}"/><stop offset=".62" stop-color="{fill}"/></radialGradient>'
    )


def definitions() -> str:
    """The `<defs>` of a picture."""
    icons = "".join(
        f'<symbol id="g-{name}" viewBox="0 0 10 10">{body}</symbol>'
        for name, body in _ICONS.items()
    )
    planets = "".join(_planet(name) for name in colours.PLANETS)
    shades = "".join(_shade(name) for name in colours.PLANETS if name != "Asteroid")
    shapes = "".join(f'<path id="g-{k}" d="{d}"/>' for k, d in STRUCTURES.items())
    ship = (
        f'<g id="g-ship"><path d="{_SHIP}" fill="#c5cfe8" stroke="#0b1020" stroke-width=".06"/>'
        '<circle cy="-.2" r=".17" fill="#27345a"/></g>'
    )
    return f"<defs>{shades}{icons}{planets}{shapes}{ship}</defs>"
