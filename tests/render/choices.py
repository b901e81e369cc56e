"""What a decision changed, read out of two states without `gaia_jax.render.changes`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gaia_jax.render import Effects, Table
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Players

NUMBERS = {"tracks": "track", "built": "structure", "colonized": "planet", "tokens": "token"}
NUMBERS |= {"vp_source": "vp_source"}
BITS = {"sectors": "sector", "tiles": "tile", "covered": "tile", "advanced": "advanced"}
BITS |= {"shuttles": "ship", "artifacts": "artifact", "used": "special"}
ONE_OF = ("booster", "tinkering")
# Notes of the engine to itself, what is still to be chosen, and what other fields say.
NOT_SHOWN = {"min_satellites_feasible", "max_satellites_infeasible", "income", "formed", "tinkered"}
_RESOURCE = re.compile(r"(\d+) (credit|ore|knowledge|QIC)s?")


def changed(ruleset: Ruleset, before: Any, after: Any, p: int) -> dict[str, int]:
    """By name, what of the fields of `Players` is otherwise for player `p`, and who has passed."""
    changes: dict[str, int] = {}
    for name in Players.fields:
        if name in NOT_SHOWN:
            continue
        old, new = (np.asarray(getattr(s.game.players, name)[p]) for s in (before, after))
        if name in NUMBERS:
            ids = ruleset.ids[NUMBERS[name]]
            changes |= {f"{name}.{id}": int(new[i]) - int(old[i]) for i, id in enumerate(ids)}
        elif name in BITS:
            ids = ruleset.ids[BITS[name]]
            bits = [(int(new) >> i & 1) - (int(old) >> i & 1) for i in range(len(ids))]
            changes |= {f"{name}.{id}": n for id, n in zip(ids, bits, strict=True)}
        elif name in ONE_OF:
            if old != new:
                ids = ruleset.ids[name]
                changes |= {f"{name}.{ids[int(i)]}": n for i, n in ((old, -1), (new, 1)) if i >= 0}
        elif name == "resources":
            names = ("credits", "ore", "knowledge", "qic")
            changes |= {key: int(new[i]) - int(old[i]) for i, key in enumerate(names)}
        elif name == "power":
            changes |= {f"power.{i}": int(new[i]) - int(old[i]) for i in range(3)}
        else:
            changes[name] = int(new) - int(old)
    changes["passed"] = int(after.game.turn.passed[p]) - int(before.game.turn.passed[p])
    return {key: n for key, n in changes.items() if n}


def check(result: Effects, ruleset: Ruleset, state: Any, next_state: Any, label: str) -> None:
    """The result has every change and no other, and its words have the same numbers."""
    before, after = Table(state, ruleset), Table(next_state, ruleset)
    for p in range(before.num_players):
        fields = result.fields(p)
        counted = {k: n for k, n in fields.items() if k.startswith(("income.", "missions."))}
        plain = {k: n for k, n in fields.items() if k not in counted}
        assert plain == changed(ruleset, state, next_state, p), (label, p)
        assert counted == _counted(before, after, p), (label, p)
        _check_words(result, p, fields, label)


def _counted(before: Table, after: Table, p: int) -> dict[str, int]:
    """What no field holds: the income to come and what final missions count."""
    a, b = before.seats[p], after.seats[p]
    counts = {f"missions.{i}": b.missions[i] - n for i, n in enumerate(a.missions)}
    if before.has_income and after.has_income:
        new = vars(b.income)
        amounts = {key: n for key, n in vars(a.income).items() if isinstance(n, int)}
        counts |= {f"income.{key}": new[key] - n for key, n in amounts.items()}
    return {key: n for key, n in counts.items() if n}


def _check_words(result: Effects, p: int, fields: dict[str, int], label: str) -> None:
    """The numbers in the words are those of the fields, prices with the other sign."""
    resources, vp, tracks = dict.fromkeys(("credits", "ore", "knowledge", "qic"), 0), 0, 0
    for item in result.seats.get(p, ()):
        if not item.words:
            quiet = {"used", "booster", "tinkering", "passed", "built", "colonized"}
            assert {field.split(".")[0] for field in item.fields} <= quiet, (label, item)
        assert not re.search(r"[{}_]|None", item.words), (label, item)
        sign = {"cost": -1, "gain": 1, "note": 0}[item.side]
        if match := _RESOURCE.fullmatch(item.words):
            name = {"credit": "credits", "QIC": "qic"}.get(match[2], match[2])
            resources[name] += sign * int(match[1])
        elif match := re.fullmatch(r"(\d+) VP \(.*\)", item.words):
            vp += sign * int(match[1])
        elif match := re.search(r" (\d+) to (\d+)$", item.words):
            # Tracks, and what final missions count.
            tracks += int(match[2]) - int(match[1])
        elif match := re.fullmatch(r"(\d+) power", item.words):
            bowls = [fields.get(f"power.{i}", 0) for i in range(3)]
            stone = fields.get("brainstone", 0)
            moved = bowls[1] + 2 * bowls[2] + stone
            assert moved == int(match[1]) * (1 if sign > 0 else -2), (label, item)
    assert resources == {name: fields.get(name, 0) for name in resources}, (label, p)
    assert vp == fields.get("vp", 0), (label, p)
    steps = [n for key, n in fields.items() if key.startswith(("tracks.", "missions."))]
    assert tracks == sum(steps), (label, p)
