"""Errors planted in the vectorized engine: each changes one rule and has a switch of its own.

An error replaces a constant, an entry of a table of the ruleset, or what a function of the rules
takes or gives. `Planted.on(number)` holds while a game is traced: there every error is compiled in,
and a game plays with the one whose number it carries, or with none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np

from gaia_jax import env
from gaia_jax.rules import (  # fmt: skip
    between_turns,
    decode,
    federation,
    gaia,
    gain,
    income,
    leech,
    legal,
    mine,
    pay,
    place,
    player,
    power,
    research,
    scoring,
    setup,
    step,
    tech,
    turn,
    upgrade,
)
from gaia_jax.ruleset import Ruleset
from gaia_jax.ruleset.operations import COLUMNS
from gaia_jax.xla import compact_vmap, fusion_barrier

RULES = (between_turns, decode, federation, gain, gaia, income, leech, legal, mine, pay, place,
         player, power, research, scoring, setup, step, tech, turn, upgrade)  # fmt: skip
UNPLANTED = -1


@dataclass(frozen=True)
class Error:
    """One wrong rule, and the games in which it should show."""

    name: str
    ruling: str
    wrong: str  # what the planted engine does
    place: str  # constant, table, column, operation, before, after, inside
    target: Any
    change: Any
    factions: tuple[str, ...] = ()  # the first players of its games
    policy: str = "rare"
    setup: dict[str, Any] = field(default_factory=dict)  # keys of their set-ups
    taste: dict[str, float] = field(default_factory=dict)  # what its players like: policies.Rare
    seed: int = 0  # of its first game, where the games that show it are rare


def _select(flag: Any, new: Any, old: Any) -> Any:
    old = jnp.asarray(old)
    return jnp.where(flag, jnp.asarray(new).astype(old.dtype), old)


class Planted:
    """The errors, put into the modules and tables of the engine."""

    def __init__(self, rules: Ruleset, errors: list[Error]) -> None:
        self.rules, self.errors = rules, errors
        self.current: Any = None
        self._running: list[Any] = []  # hooked functions that are being traced
        self._constants: list[tuple[Any, str, Any, Callable[[], Any]]] = []
        self._hooks: dict[Any, list[tuple[int, str, Any]]] = {}
        self._tables: dict[tuple[int, str], tuple[Any, list[tuple[int, Any]]]] = {}
        for number, error in enumerate(errors):
            getattr(self, f"_{error.place}")(number, error)
        for function, hooks in self._hooks.items():
            _replace(function, self._hooked(function, hooks))
        for (_, name), (space, changes) in self._tables.items():
            self._alternatives(space, name, changes)
        _replace(fusion_barrier.fusion_barrier, self._carrying(fusion_barrier.fusion_barrier))
        _replace(compact_vmap.compact_vmap, self._carrying(compact_vmap.compact_vmap))
        # A step that is traced once for all programs cannot close over the number of an error.
        vars(env)["traced_once"] = lambda rule: rule

    def flag(self, number: int) -> Any:
        return self.current == number

    @contextmanager
    def on(self, number: Any) -> Iterator[None]:
        """While a game is traced: `number` () int32 is the number of its error."""
        before = self.current
        old = [_get(space, name) for space, name, _, _ in self._constants]
        self.current = number
        try:
            for space, name, right, value in self._constants:
                _set(space, name, right if number is None else value())
            yield
        finally:
            self.current = before
            for (space, name, _, _), value in zip(self._constants, old, strict=True):
                _set(space, name, value)

    # -- where an error sits

    def _constant(self, number: int, error: Error) -> None:
        space, name = error.target
        old = getattr(space, name)
        self._constants.append(
            (space, name, old, lambda: _select(self.flag(number), error.change, old))
        )

    def _table(self, number: int, error: Error) -> None:
        self._add_table(self.rules.tables, error.target, number, error.change)

    def _add_table(self, space: Any, name: str, number: int, change: Any) -> None:
        self._tables.setdefault((id(space), name), (space, []))[1].append((number, change))

    def _column(self, number: int, error: Error) -> None:
        """A column of one faction board, or of all of them."""
        faction, name = error.target
        columns = self.rules.tables.faction
        if faction is None:
            rows = slice(None)
        else:
            first = self.rules.ids["faction"].index(faction)
            rows = slice(first, first + 1)

        def wrong(old: np.ndarray) -> Any:
            return error.change(old.copy()) if callable(error.change) else error.change

        def change(table: np.ndarray) -> None:
            table[rows] = wrong(table[rows])

        def change_packed(table: np.ndarray) -> None:
            at, shape, _ = columns.layout[name]
            part = table[rows, at : at + int(np.prod(shape))]  # a view
            part[:] = np.broadcast_to(wrong(part.reshape(-1, *shape)), (len(part), *shape)).reshape(
                part.shape
            )

        if name not in columns.layout:  # one row for all factions
            self._add_table(self.rules.tables, name, number, change)
            return
        self._add_table(columns.arrays, name, number, change)
        self._add_table(columns, "packed", number, change_packed)

    def _operation(self, number: int, error: Error) -> None:
        """A column of operations, all those whose ids begin so."""
        prefix, column = error.target
        rows = [i for id_, i in self.rules.operation_index.items() if id_.startswith(prefix)]
        assert rows

        def change(table: np.ndarray) -> None:
            assert (table[rows, COLUMNS.index(column)] != error.change).any(), error.name
            table[rows, COLUMNS.index(column)] = error.change

        self._add_table(self.rules.tables, "ops", number, change)

    def _before(self, number: int, error: Error) -> None:
        self._hooks.setdefault(error.target, []).append((number, "before", error.change))

    def _after(self, number: int, error: Error) -> None:
        self._hooks.setdefault(error.target, []).append((number, "after", error.change))

    def _inside(self, number: int, error: Error) -> None:
        """What a function gives while another one calls it."""
        outer, inner = error.target

        def change(flag: Any, out: Any, *args: Any, **kwargs: Any) -> Any:
            return error.change(flag, out, *args, **kwargs) if outer in self._running else out

        self._hooks.setdefault(inner, []).append((number, "after", change))
        self._hooks.setdefault(outer, [])

    # -- how it is switched

    def _alternatives(self, space: Any, name: str, changes: list[Any]) -> None:
        old = _get(space, name)
        wrong = []
        for number, change in changes:
            table = np.array(old)
            change(table)
            assert not np.array_equal(table, old), (name, self.errors[number].name)
            wrong.append((number, table))

        def value() -> Any:
            table = jnp.asarray(old)
            for number, changed in wrong:
                table = _select(self.flag(number), changed, table)
            return table

        self._constants.append((space, name, old, value))

    def _hooked(self, function: Callable[..., Any], hooks: list[Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self.current is None:
                return function(*args, **kwargs)
            for number, timing, change in hooks:
                if timing == "before":
                    args = change(self.flag(number), *args)
            self._running.append(function)
            try:
                out = function(*args, **kwargs)
            finally:
                self._running.pop()
            for number, timing, change in hooks:
                if timing == "after":
                    out = change(self.flag(number), out, *args, **kwargs)
            return out

        return run

    def _carrying(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Kernels close over nothing traced: the number goes in as an argument."""

        @wraps(function)
        def run(kernel: Any, need: Any, args: Any, *rest: Any, **options: Any) -> Any:
            if self.current is None:
                return function(kernel, need, args, *rest, **options)
            if options.get("batched"):  # the search of federations: no error sits in there
                return function(self._bare(kernel), need, args, *rest, **options)

            def carries(number: Any, *args: Any) -> Any:
                with self.on(number):
                    return kernel(*args)

            return function(carries, need, (self.current, *args), *rest, **options)

        return run

    def _bare(self, kernel: Any) -> Any:
        def bare(*args: Any) -> Any:
            with self.on(None):
                return kernel(*args)

        return bare


def _get(space: Any, name: str) -> Any:
    return space[name] if isinstance(space, dict) else getattr(space, name)


def _set(space: Any, name: str, value: Any) -> None:
    """Also where nothing is to be set: the tables are frozen."""
    if isinstance(space, dict):
        space[name] = value
    elif isinstance(space, ModuleType):
        setattr(space, name, value)
    else:
        object.__setattr__(space, name, value)


def _replace(old: Any, new: Any) -> None:
    """Under every name that a module of the engine has for it."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("gaia_jax.rules", "gaia_jax.env")) and isinstance(module, ModuleType):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)
