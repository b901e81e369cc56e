"""What one player gains and pays between two tables, item by item, in the game's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from gaia_jax.components.common import RESOURCES, Gain
from gaia_jax.render.icons import words as words_of
from gaia_jax.render.names import MISSIONS, SHIPS, STRUCTURES, TRACK_NAMES, names, sources
from gaia_jax.render.table import BRAINSTONE_PLACES, SeatView, Table
from gaia_jax.state import GAIA_AREA

COST, GAIN, NOTE = "cost", "gain", "note"
BOWLS = "power bowls"  # what the words of tokens that move among them begin with


@dataclass(frozen=True)
class Item:
    """One thing that changed for one player."""

    side: str  # COST, GAIN or NOTE
    words: str  # without a sign: "3 ore"; "" where other items or the action itself say it
    fields: dict[str, int]  # by field of `SeatView`: after minus before


def items(before: Table, after: Table, p: int) -> Iterator[Item]:
    """What changed for player `p`, prices first."""
    one, two = before.seat(p), after.seat(p)
    found = [
        *_structures(before, after, p),
        *_tracks(before, one, two),
        *_pieces(before, one, two),
        *_tokens(before, one, two),
        *_vp(before, one, two),
        *_numbers(one, two),
        *_power(one, two),
        *_gaiaformers(one, two),
        *_income(before, after, one, two),
        *_rest(before, one, two),
        *_places(before, after, p),
    ]
    yield from sorted(found, key=lambda item: (COST, GAIN, NOTE).index(item.side))


def _side(change: int) -> str:
    return GAIN if change > 0 else COST


def _differences(name: str, one: dict[str, int], two: dict[str, int]) -> dict[str, int]:
    """By `name.key`, what is otherwise."""
    keys = dict.fromkeys((*one, *two))
    changes = {key: two.get(key, 0) - one.get(key, 0) for key in keys}
    return {f"{name}.{key}": n for key, n in changes.items() if n}


def _members(name: str, one: tuple[str, ...], two: tuple[str, ...]) -> dict[str, int]:
    """By `name.id`, +1 what is new, -1 what is gone."""
    return _differences(name, dict.fromkeys(one, 1), dict.fromkeys(two, 1))


def _key(field: str) -> str:
    return field.partition(".")[2]


def _numbers(one: SeatView, two: SeatView) -> Iterator[Item]:
    for name in RESOURCES:
        n = getattr(two, name) - getattr(one, name)
        if n:
            yield Item(_side(n), words_of(Gain(**{name: abs(n)})), {name: n})


def _vp(before: Table, one: SeatView, two: SeatView) -> Iterator[Item]:
    """By source; the sum is the change of the VP."""
    total, named = two.vp - one.vp, sources(before.final_missions, brief=True)
    for field, n in _differences("vp_source", one.vp_source, two.vp_source).items():
        fields = {field: n, "vp": total} if total else {field: n}
        yield Item(_side(n), f"{abs(n)} VP ({named[_key(field)]})", fields)


def _bowls(seat: SeatView) -> str:
    out = f"{seat.power[0]}/{seat.power[1]}/{seat.power[2]}"
    out += f", Gaia {seat.gaia_power}" if seat.gaia_power else ""
    stone = BRAINSTONE_PLACES.get(seat.brainstone)
    return out + (f", brainstone in {stone}" if stone else "")


def _weight(seat: SeatView) -> int:
    """How much power it took to bring the tokens where they are, from bowl I."""
    stone = max(seat.brainstone, 0) if seat.brainstone != GAIA_AREA else 0
    return seat.power[1] + 2 * seat.power[2] + stone


def _power(one: SeatView, two: SeatView) -> Iterator[Item]:
    """Tokens in the bowls and the Gaia area, and the brainstone, as one item."""
    fields = {f"power.{i}": two.power[i] - one.power[i] for i in range(3)}
    fields["gaia_power"] = two.gaia_power - one.gaia_power
    fields["brainstone"] = two.brainstone - one.brainstone
    found = {field: n for field, n in fields.items() if n}
    if not found:
        return
    side, said = _power_words(one, two, fields)
    if not said:
        tokens, weight = _tokens_of(two) - _tokens_of(one), _weight(two) - _weight(one)
        side = GAIN if min(tokens, weight) >= 0 else COST if max(tokens, weight) <= 0 else NOTE
        said = f"{BOWLS} {_bowls(one)} to {_bowls(two)}"
    yield Item(side, said, found)


def _tokens_of(seat: SeatView) -> int:
    """Power tokens in the bowls, with the brainstone."""
    return sum(seat.power) + (seat.brainstone in (0, 1, 2))


def _power_words(one: SeatView, two: SeatView, change: dict[str, int]) -> tuple[str, str]:
    """What plainly happened: power charged or spent, tokens gained or lost; "" where it is mixed.

    A token of the Nevlas may be worth more, so for them the tokens are told.
    """
    first, second, third = (change[f"power.{i}"] for i in range(3))
    tokens, gaia = first + second + third, change["gaia_power"]
    weight = _weight(two) - _weight(one)
    stays = change["brainstone"] == 0
    spent = (one.brainstone, two.brainstone) == (2, 0)
    if tokens == gaia == 0 and GAIA_AREA not in (one.brainstone, two.brainstone):
        if weight > 0 and first <= 0 <= third:
            return GAIN, f"{weight} power"
        if second == 0 <= first and (stays or spent):
            power = [f"{first} power"] if first else []
            if one.faction.id == "NEVLAS":
                power = [f"{words_of(Gain(tokens=first))} of bowl III into bowl I"]
            return COST, " and ".join(power + ["the brainstone's power"] * spent)
    if stays and gaia == 0 and second == 0:
        if tokens == first > 0 and not third:
            return GAIN, words_of(Gain(tokens=first))
        if tokens == third > 0 and not first:
            return GAIN, words_of(Gain(tokens_iii=third))
    if stays and tokens < 0 and gaia in (0, -tokens) and max(first, second, third) <= 0:
        into = " into the Gaia area" if gaia else ""
        said = f"{words_of(Gain(tokens=-tokens))}{into}"
        return COST, f"{said} (bowls {_bowls(one)} to {_bowls(two)})"
    return "", ""


def _gaiaformers(one: SeatView, two: SeatView) -> Iterator[Item]:
    fields = {
        name: getattr(two, name) - getattr(one, name)
        for name in ("gaiaformers", "gaiaformers_out", "gaiaformers_gaia")
    }
    found = {field: n for field, n in fields.items() if n}
    if not found:
        return
    n, out, gaia = fields.values()
    where = " onto the map" if out > 0 else " into the Gaia area" if gaia > 0 else ""
    where = where or (" back" if n > 0 and min(out, gaia) < 0 else "")
    number = n or out or gaia
    yield Item(_side(number), words_of(Gain(gaiaformers=abs(number))) + where, found)


def _structures(before: Table, after: Table, p: int) -> Iterator[Item]:
    one, two = before.seat(p), after.seat(p)
    built = _differences("built", one.built, two.built)
    built |= _differences("colonized", one.colonized, two.colonized)
    said = [
        STRUCTURES[new] if old == "NONE" else f"{STRUCTURES[old]} to {STRUCTURES[new]}"
        for old, new in before.changed_pieces(after, p)
    ]
    if said or built:
        yield Item(GAIN, " and ".join(said), built)
    for name, what in (("guests", "guest mine"), ("stations", "space station"), ("rings", "ring")):
        n = getattr(two, name) - getattr(one, name)
        if n:
            more = ("guest_protos", "guest_asteroids") if name == "guests" else ()
            changes = {k: getattr(two, k) - getattr(one, k) for k in (name, *more)}
            found = {k: v for k, v in changes.items() if v}
            yield Item(_side(n), what if n == 1 else f"{n} {what}s", found)
    n = two.satellites - one.satellites
    if n:
        yield Item(NOTE, f"{n} satellite{'s' if n != 1 else ''}", {"satellites": n})


def _places(before: Table, after: Table, p: int) -> Iterator[Item]:
    """What is new about the planet and the sector of a structure."""
    one, two = before.seat(p), after.seat(p)
    steps = before.steps_to_new(after, p)
    if steps:
        yield Item(NOTE, f"{steps} terraforming step{'s' if steps > 1 else ''}", {})
    if any(n and not one.colonized[planet] for planet, n in two.colonized.items()):
        yield Item(NOTE, "new planet type", {})
    sectors = _members("sectors", one.sectors, two.sectors)
    if sectors:
        yield Item(NOTE, "new sector" if len(sectors) == 1 else "new sectors", sectors)
    counts = [
        (f"missions.{i}", MISSIONS[id][1], one.missions[i], two.missions[i])
        for i, id in enumerate(before.final_missions)
    ]
    for field, what, old, new in counts:
        if old != new:
            yield Item(NOTE, f"{what} {old} to {new}", {field: new - old})


def _tracks(before: Table, one: SeatView, two: SeatView) -> Iterator[Item]:
    for id, old, new in zip(before.ids["track"], one.tracks, two.tracks, strict=True):
        if old != new:
            said = f"{TRACK_NAMES[id]} {old} to {new}"
            yield Item(_side(new - old), said, {f"tracks.{id}": new - old})


def _pieces(before: Table, one: SeatView, two: SeatView) -> Iterator[Item]:
    """Tiles, artifacts and shuttles."""
    named = names(before.ruleset)
    kinds = (
        ("tiles", "tile", "tech tile"),
        ("advanced", "advanced", "advanced tile"),
        ("artifacts", "artifact", "artifact"),
    )
    for name, kind, what in kinds:
        for field, n in _members(name, getattr(one, name), getattr(two, name)).items():
            yield Item(_side(n), f"{what}: {named[kind][_key(field)]}", {field: n})
    for field, n in _members("covered", one.covered, two.covered).items():
        yield Item(NOTE, f"covers the tech tile: {named['tile'][_key(field)]}", {field: n})
    for field, n in _members("shuttles", one.shuttles, two.shuttles).items():
        yield Item(_side(n), f"shuttle at the {SHIPS[_key(field)]}", {field: n})


def _tokens(before: Table, one: SeatView, two: SeatView) -> Iterator[Item]:
    """Federation tokens; one with a green side brings it along."""
    named, green = names(before.ruleset)["token"], two.green - one.green
    for field, n in _differences("tokens", one.tokens, two.tokens).items():
        fields = {field: n, "green": green} if green > 0 else {field: n}
        yield Item(_side(n), f"federation token: {named[_key(field)]}", fields)
    if green < 0:
        yield Item(COST, f"{-green} green federation token (turned grey)", {"green": green})


def _income(before: Table, after: Table, one: SeatView, two: SeatView) -> Iterator[Item]:
    """The income to come; where none is to come there is nothing to compare."""
    if not (before.has_income and after.has_income):
        return
    changes = _differences("income", _numbers_of(one.income), _numbers_of(two.income))
    for field, n in changes.items():
        amounts: dict[str, Any] = {_key(field): abs(n)}
        amount = words_of(Gain(**amounts)).removesuffix(" charged")
        yield Item(_side(n), f"{amount} a round", {field: n})


def _numbers_of(gain: Gain[int]) -> dict[str, int]:
    return {key: value for key, value in asdict(gain).items() if isinstance(value, int)}


def _rest(before: Table, one: SeatView, two: SeatView) -> Iterator[Item]:
    """Booster, tinkering tile, pass; and the private actions used, which the action itself says."""
    named = names(before.ruleset)
    for name in ("booster", "tinkering"):
        old, new = getattr(one, name), getattr(two, name)
        found = _members(name, (old,) if old else (), (new,) if new else ())
        if found:
            said = (
                f"{name}{'' if name == 'booster' else ' tile'}: {named[name][new]}" if new else ""
            )
            yield Item(GAIN if new else NOTE, said, found)
    if one.passed != two.passed:
        said = f"passes as number {two.passed}" if two.passed else ""
        yield Item(NOTE, said, {"passed": two.passed - one.passed})
    used = _members("used", one.used, two.used)
    if used:
        yield Item(NOTE, "", used)
