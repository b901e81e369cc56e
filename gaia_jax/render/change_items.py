"""Gains and costs of one player between two tables, item by item, in the game's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from gaia_jax.components.common import RESOURCES, Cost, Gain
from gaia_jax.render.icons import words as words_of
from gaia_jax.render.names import MISSIONS_SHORT, SHIPS, STRUCTURES, TRACK_NAMES, names, sources
from gaia_jax.render.seat_pieces import brainstone_place
from gaia_jax.render.table import SeatView, Table
from gaia_jax.render.texts import TEXTS, joined, phrase
from gaia_jax.state import GAIA_AREA

COST, GAIN, NOTE = "cost", "gain", "note"


@dataclass(frozen=True)
class Item:
    """A change for one player."""

    side: str  # COST, GAIN or NOTE
    words: str  # without a sign: "3 ore"; "" if other items or the action name it
    fields: dict[str, int]  # by field of `SeatView`: after minus before
    piece: str = ""  # the name of the piece in `words`, such as that of a tile
    is_signed: bool = True  # whether a sign belongs before the words


def items(before: Table, after: Table, p: int) -> Iterator[Item]:
    """The changes for player `p`, costs first."""
    earlier, later = before.seat(p), after.seat(p)
    differences = [
        *_structures(before, after, p),
        *_tracks(before, earlier, later),
        *_pieces(before, earlier, later),
        *_tokens(before, earlier, later),
        *_vp(before, earlier, later),
        *_numbers(earlier, later),
        *_power(earlier, later),
        *_gaiaformers(earlier, later),
        *_income(before, after, earlier, later),
        *_rest(before, earlier, later),
        *_places(before, after, p),
    ]
    yield from sorted(differences, key=lambda item: (COST, GAIN, NOTE).index(item.side))


def _side(change: int) -> str:
    return GAIN if change > 0 else COST


def _differences(name: str, earlier: dict[str, int], later: dict[str, int]) -> dict[str, int]:
    """The changed counts by `name.key`."""
    keys = dict.fromkeys((*earlier, *later))
    changes = {key: later.get(key, 0) - earlier.get(key, 0) for key in keys}
    return {f"{name}.{key}": n for key, n in changes.items() if n}


def _members(name: str, earlier: tuple[str, ...], later: tuple[str, ...]) -> dict[str, int]:
    """By `name.id`: +1 for a new member, -1 for a lost one."""
    return _differences(name, dict.fromkeys(earlier, 1), dict.fromkeys(later, 1))


def _numbers_changed(earlier: SeatView, later: SeatView, names: Iterable[str]) -> dict[str, int]:
    """The changed numbers by field."""
    changes = {name: getattr(later, name) - getattr(earlier, name) for name in names}
    return {name: n for name, n in changes.items() if n}


def _key(field: str) -> str:
    return field.partition(".")[2]


def _numbers(earlier: SeatView, later: SeatView) -> Iterator[Item]:
    for name, n in _numbers_changed(earlier, later, RESOURCES).items():
        yield Item(_side(n), words_of(Gain(**{name: abs(n)})), {name: n})


def _vp(before: Table, earlier: SeatView, later: SeatView) -> Iterator[Item]:
    """By source; the sum is the change of the VP."""
    total, named = later.vp - earlier.vp, sources(before.ruleset, before.final_missions, brief=True)
    for field, n in _differences("vp_source", earlier.vp_source, later.vp_source).items():
        fields = {field: n, "vp": total} if total else {field: n}
        yield Item(_side(n), phrase("vp-source", n=abs(n), source=named[_key(field)]), fields)


def _bowls(seat: SeatView) -> str:
    out = f"{seat.power[0]}/{seat.power[1]}/{seat.power[2]}"
    out += phrase("bowls-gaia", n=seat.gaia_power) if seat.gaia_power else ""
    stone = brainstone_place(seat)
    return out + (", " + phrase("brainstone-in", place=stone) if stone else "")


def _weight(seat: SeatView) -> int:
    """The power that charges the tokens from bowl I to their bowls."""
    stone = max(seat.brainstone, 0) if seat.brainstone != GAIA_AREA else 0
    return seat.power[1] + 2 * seat.power[2] + stone


def _power(earlier: SeatView, later: SeatView) -> Iterator[Item]:
    """Tokens in the bowls and the Gaia area, and the brainstone, as one item."""
    bowls = {f"power.{i}": later.power[i] - earlier.power[i] for i in range(3)}
    changed = {field: n for field, n in bowls.items() if n}
    changed |= _numbers_changed(earlier, later, ("gaia_power", "brainstone"))
    if not changed:
        return
    side, words = _power_words(earlier, later, Counter(changed))
    is_signed = bool(words)
    if not words:
        tokens, weight = _tokens_of(later) - _tokens_of(earlier), _weight(later) - _weight(earlier)
        side = GAIN if min(tokens, weight) >= 0 else COST if max(tokens, weight) <= 0 else NOTE
        words = phrase("bowls-change", old=_bowls(earlier), new=_bowls(later))
    yield Item(side, words, changed, is_signed=is_signed)


def _tokens_of(seat: SeatView) -> int:
    """Power tokens in the bowls, with the brainstone."""
    return sum(seat.power) + (seat.brainstone in (0, 1, 2))


def _power_words(earlier: SeatView, later: SeatView, change: Counter[str]) -> tuple[str, str]:
    """Power charged or spent, tokens gained or lost, as side and words; "" for a mixture.

    A token of the Nevlas may be worth more than 1 power, so theirs are counted as tokens.
    """
    first, second, third = (change[f"power.{i}"] for i in range(3))
    tokens, gaia = first + second + third, change["gaia_power"]
    weight = _weight(later) - _weight(earlier)
    is_in_place = change["brainstone"] == 0
    spent = (earlier.brainstone, later.brainstone) == (2, 0)
    if tokens == gaia == 0 and GAIA_AREA not in (earlier.brainstone, later.brainstone):
        if weight > 0 and first <= 0 <= third:
            return GAIN, words_of(Cost(power=weight))
        if second == 0 <= first and (is_in_place or spent):
            power = [words_of(Cost(power=first))] if first else []
            if earlier.faction.id == "NEVLAS":
                power = [phrase("tokens-iii-to-i", tokens=words_of(Gain(tokens=first)))]
            return COST, joined(power + [phrase("brainstone-power")] * spent)
    if is_in_place and gaia == 0 and second == 0:
        if tokens == first > 0 and not third:
            return GAIN, words_of(Gain(tokens=first))
        if tokens == third > 0 and not first:
            return GAIN, words_of(Gain(tokens_iii=third))
    if is_in_place and tokens < 0 and gaia in (0, -tokens) and max(first, second, third) <= 0:
        phrase_id = "tokens-into-gaia" if gaia else "tokens-lost"
        bowls = phrase("from-to", old=_bowls(earlier), new=_bowls(later))
        return COST, phrase(phrase_id, tokens=words_of(Gain(tokens=-tokens)), bowls=bowls)
    return "", ""


def _gaiaformers(earlier: SeatView, later: SeatView) -> Iterator[Item]:
    names = ("gaiaformers", "gaiaformers_out", "gaiaformers_gaia")
    changed = _numbers_changed(earlier, later, names)
    if not changed:
        return
    n, out, gaia = (changed.get(name, 0) for name in names)
    phrase_id = "onto-map" if out > 0 else "into-gaia" if gaia > 0 else ""
    phrase_id = phrase_id or ("back" if n > 0 and min(out, gaia) < 0 else "")
    number = n or out or gaia
    words = words_of(Gain(gaiaformers=abs(number)))
    yield Item(_side(number), phrase(phrase_id, text=words) if phrase_id else words, changed)


def _structures(before: Table, after: Table, p: int) -> Iterator[Item]:
    earlier, later = before.seat(p), after.seat(p)
    built = _differences("built", earlier.built, later.built)
    built |= _differences("colonized", earlier.colonized, later.colonized)
    phrases = [
        STRUCTURES[new]
        if old == "NONE"
        else phrase("from-to", old=STRUCTURES[old], new=STRUCTURES[new])
        for old, new in before.changed_pieces(after, p)
    ]
    if phrases or built:
        yield Item(GAIN, joined(phrases), built)
    for name in ("guests", "stations", "rings"):
        extra = ("guest_protos", "guest_asteroids") if name == "guests" else ()
        changed = _numbers_changed(earlier, later, (name, *extra))
        if n := changed.get(name, 0):
            nouns = TEXTS["owned"][name]
            words = nouns["one"] if n == 1 else phrase("amount", n=n, unit=nouns["several"])
            yield Item(_side(n), words, changed)
    n = later.satellites - earlier.satellites
    if n:
        unit = TEXTS["owned"]["satellites"]["one" if n == 1 else "several"]
        yield Item(NOTE, phrase("amount", n=n, unit=unit), {"satellites": n})


def _places(before: Table, after: Table, p: int) -> Iterator[Item]:
    """Terraforming steps, new planet types and sectors, counts of final missions."""
    earlier, later = before.seat(p), after.seat(p)
    steps = before.steps_to_new(after, p)
    if steps:
        yield Item(NOTE, phrase("terraforming-steps", n=steps), {})
    if any(n and not earlier.colonized[planet] for planet, n in later.colonized.items()):
        yield Item(NOTE, phrase("new-type"), {})
    sectors = _members("sectors", earlier.sectors, later.sectors)
    if sectors:
        yield Item(NOTE, phrase("new-sectors", n=len(sectors)), sectors)
    counts = [
        (f"missions.{i}", MISSIONS_SHORT[id], earlier.missions[i], later.missions[i])
        for i, id in enumerate(before.final_missions)
    ]
    for field, noun, old, new in counts:
        if old != new:
            text = phrase("number-change", name=noun, old=old, new=new)
            yield Item(NOTE, text, {field: new - old})


def _tracks(before: Table, earlier: SeatView, later: SeatView) -> Iterator[Item]:
    for id, old, new in zip(before.ids["track"], earlier.tracks, later.tracks, strict=True):
        if old != new:
            words = phrase("number-change", name=TRACK_NAMES[id], old=old, new=new)
            yield Item(_side(new - old), words, {f"tracks.{id}": new - old})


def _pieces(before: Table, earlier: SeatView, later: SeatView) -> Iterator[Item]:
    """Tiles, artifacts and shuttles."""
    named = names(before.ruleset)
    for name, kind in (("tiles", "tile"), ("advanced", "advanced"), ("artifacts", "artifact")):
        for field, n in _members(name, getattr(earlier, name), getattr(later, name)).items():
            yield _piece_item(_side(n), kind, named[kind][_key(field)], {field: n})
    for field, n in _members("covered", earlier.covered, later.covered).items():
        tile = named["tile"][_key(field)]
        yield Item(NOTE, phrase("covers", name=tile), {field: n}, piece=tile)
    for field, n in _members("shuttles", earlier.shuttles, later.shuttles).items():
        yield Item(_side(n), phrase("shuttle-at", ship=SHIPS[_key(field)]), {field: n})


def _piece_item(side: str, kind: str, name: str, fields: dict[str, int]) -> Item:
    """A tile, token or booster that a player takes or loses."""
    words = phrase("labelled", label=TEXTS["piece"][kind], text=name)
    return Item(side, words, fields, piece=name)


def _tokens(before: Table, earlier: SeatView, later: SeatView) -> Iterator[Item]:
    """Federation tokens, each with its green side."""
    named, green = names(before.ruleset)["token"], later.green - earlier.green
    for field, n in _differences("tokens", earlier.tokens, later.tokens).items():
        fields = {field: n, "green": green} if green > 0 else {field: n}
        yield _piece_item(_side(n), "token", named[_key(field)], fields)
    if green < 0:
        yield Item(COST, phrase("green-turned", n=-green), {"green": green})


def _income(before: Table, after: Table, earlier: SeatView, later: SeatView) -> Iterator[Item]:
    """The next income; nothing if no income phase follows."""
    if not (before.has_income and after.has_income):
        return
    changes = _differences("income", _numbers_of(earlier.income), _numbers_of(later.income))
    for field, n in changes.items():
        amounts: dict[str, Any] = {_key(field): abs(n)}
        is_charge = "charge" in amounts
        amount = words_of(Cost(power=abs(n)) if is_charge else Gain(**amounts))
        yield Item(_side(n), phrase("a-round", amount=amount), {field: n})


def _numbers_of(gain: Gain[int]) -> dict[str, int]:
    return {key: value for key, value in asdict(gain).items() if isinstance(value, int)}


def _rest(before: Table, earlier: SeatView, later: SeatView) -> Iterator[Item]:
    """Booster, tinkering tile and pass; used private actions have no words."""
    named = names(before.ruleset)
    for name in ("booster", "tinkering"):
        old, new = getattr(earlier, name), getattr(later, name)
        changed = _members(name, (old,) if old else (), (new,) if new else ())
        if changed and new:
            yield _piece_item(GAIN, name, named[name][new], changed)
        elif changed:
            yield Item(NOTE, "", changed)
    if earlier.passed != later.passed:
        words = phrase("passes-as", n=later.passed) if later.passed else ""
        yield Item(NOTE, words, {"passed": later.passed - earlier.passed})
    used = _members("used", earlier.used, later.used)
    if used:
        yield Item(NOTE, "", used)
