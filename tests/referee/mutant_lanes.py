"""The vectorized engine with mutants of its rules, several compiled together.

Each mutant plays games of its own, a lane, as a planted error does (`planted`). A trace alone shows
which mutants fail, which have the jaxpr of the original wherever they are called, and which nothing
calls. A mutant is compiled alone if no switch can select it: it changes a shape, a dtype or a
static value.
"""

from __future__ import annotations

import faulthandler
import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.rules.federation import search
from gaia_jax.state import Node
from tests.referee.engine import ONLY_AT, Engine
from tests.referee.planted import UNPLANTED, Planted, _replace

PATIENCE_S = 120  # of one decision in all games; four times that for compiling


class Mutant(NamedTuple):
    """A function of the rules with one change."""

    name: str  # "leech.accept#3"
    module: str
    owner: str  # the class of a method, else ""
    function: str
    code: str
    diff: str

    @property
    def space(self) -> Any:
        """The module or class that holds the function."""
        module = importlib.import_module(self.module)
        return getattr(module, self.owner) if self.owner else module

    def build(self) -> Callable[..., Any]:
        """The changed function, with the globals of the original."""
        local: dict[str, Any] = {}
        code = compile(self.code, self.name, "exec", annotations.compiler_flag, dont_inherit=True)
        exec(code, vars(sys.modules[self.module]), local)
        return _bare_function(local[self.function])


class Recording(NamedTuple):
    """Games that the referee has checked: T decisions, G games."""

    ruleset: str
    players: int
    setups: list[dict[str, Any]]
    actions: np.ndarray  # (T, G) int32
    fields: np.ndarray  # (1 + T, G, K) int32, 0 where a field is not compared
    mask: np.ndarray  # (1 + T, G, A) bool


def compared(engine: Engine, fields: np.ndarray) -> np.ndarray:
    """Rows of fields (G, K), 0 in those that mean nothing at the node of their game."""
    node = fields[:, engine.slices["turn.node"].start]
    fields = fields.copy()
    for name, nodes in ONLY_AT.items():
        fields[~np.isin(node, [Node[x] for x in nodes]), engine.slices[name]] = 0
    return fields


class Unselectable(Exception):
    """The results of a function and of its mutant differ in more than the values of arrays."""


def _bare_function(function: Any) -> Any:
    return getattr(function, "__func__", function)


def _select(flag: Any, new: Any, old: Any) -> Any:
    """Arrays of `new` where `flag`, () bool, holds, else of `old`."""

    def leaf(a: Any, b: Any) -> Any:
        if not isinstance(b, jax.Array) or not isinstance(a, jax.Array):
            if type(a) is type(b) and np.array_equal(a, b):
                return b
            raise Unselectable
        if (a.shape, a.dtype, a.weak_type) != (b.shape, b.dtype, b.weak_type):
            raise Unselectable
        return jnp.where(flag, a, b)

    if flag is None or jax.tree.structure(new) != jax.tree.structure(old):
        raise Unselectable
    return jax.tree.map(leaf, new, old)


class Call(NamedTuple):
    """A call of a function while a program is traced."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def jaxpr(self, function: Callable[..., Any]) -> tuple[str, list[Any]] | None:
        """The jaxpr and what it closes over; None if the call fails or gives no arrays."""
        try:
            closed = jax.make_jaxpr(lambda: function(*self.args, **self.kwargs))()
        except Exception:  # the call itself will say which
            return None
        return re.sub("0x[0-9a-f]+", "", str(closed.jaxpr)), closed.consts


def _is_same(a: tuple[str, list[Any]] | None, b: tuple[str, list[Any]] | None) -> bool:
    if a is None or b is None or a[0] != b[0] or len(a[1]) != len(b[1]):
        return False
    tracers = jax.core.Tracer
    return all(
        x is y or not isinstance(x, tracers) and not isinstance(y, tracers) and np.array_equal(x, y)
        for x, y in zip(a[1], b[1], strict=True)
    )


class Lanes(Planted):
    """The rules with mutants; `notes` holds what a trace shows of each."""

    def __init__(self, rules: Any, mutants: list[Mutant]) -> None:
        super().__init__(rules, [])
        self.alone = len(mutants) == 1
        self.game_by_game = any("federation" in mutant.module for mutant in mutants)
        if self.game_by_game and not self.alone:
            search.CHUNK["cpu_chunk"] = 1
        self.busy = False  # a function or its mutant is being traced for itself
        self.notes: dict[str, dict[str, str]] = {mutant.name: {} for mutant in mutants}
        self.chosen: list[str] | None = None  # only these are compiled; None while comparing
        groups = defaultdict(list)
        for number, mutant in enumerate(mutants):
            groups[mutant.space, mutant.function].append((number, mutant.name, mutant.build()))
        for (space, name), group in groups.items():
            old = vars(space)[name]
            switched = self._switched(_bare_function(old), group)
            if isinstance(space, type):
                is_bound = isinstance(old, staticmethod | classmethod)
                setattr(space, name, type(old)(switched) if is_bound else switched)
            else:
                _replace(old, switched)

    def _carrying(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Also into kernels of whole chunks if mutants are in there; they have one game then."""

        @wraps(function)
        def run(kernel: Any, need: Any, args: Any, *rest: Any, **options: Any) -> Any:
            if self.current is None:
                return function(kernel, need, args, *rest, **options)
            if options.get("batched") and not self.game_by_game:
                return function(self._bare(kernel), need, args, *rest, **options)
            live = slice(0, 1 if options.get("batched") else 0)

            def carries(*args: Any) -> Any:
                number, *inputs = args[live.stop :]
                with self.on(number.reshape(())):  # of a chunk of one game
                    return kernel(*args[live], *inputs)

            return function(carries, need, (self.current, *args), *rest, **options)

        return run

    def _switched(self, function: Callable[..., Any], group: list[Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self.busy:
                return function(*args, **kwargs)
            call, out = Call(args, kwargs), function(*args, **kwargs)
            self.busy = True
            try:
                original = None if self.chosen else call.jaxpr(function)
                for number, name, changed in group:
                    if self.chosen is None and _is_same(call.jaxpr(changed), original):
                        self.notes[name]["equivalent"] = ""
                    elif self.chosen is None or name in self.chosen:
                        out = self._alternative(number, name, changed, out, call)
            finally:
                self.busy = False
            return out

        return run

    def _alternative(self, number: int, name: str, changed: Any, out: Any, call: Call) -> Any:
        """The result of the mutant where it is on, else `out`."""
        notes = self.notes[name]
        try:
            new = changed(*call.args, **call.kwargs)
            notes["changed"] = ""
            if self.alone:
                return new
            flag = None if self.current is None else self.flag(number)
            return _select(flag, new, out)
        except Exception as error:
            if self.alone:
                raise
            unselectable = isinstance(error, Unselectable | jax.errors.UnexpectedTracerError)
            notes["alone" if unselectable else "killed"] = _failure(error)
        return out


def _failure(error: Exception) -> str:
    return f"trace: {type(error).__name__}: {str(error)[:80]}"


class MutantEngine(Engine):
    """The engine with mutants, first traced with two games, then compiled with some of them."""

    def __init__(self, ruleset: str, players: int, mutants: list[Mutant]) -> None:
        super().__init__(ruleset, 2, players)
        # The Automa's turns close over nothing traced: their mutants are compiled alone.
        self.switches = len(mutants) > 1 and players > 1
        self.lanes = Lanes(self.env.ruleset, mutants)
        self._set_up([0, 0])
        keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 2))
        setups = jax.eval_shape(jax.vmap(self.env.draw_setup), keys)
        states = jax.eval_shape(self._init, setups)
        jax.eval_shape(self._step, states, jax.ShapeDtypeStruct((2,), jnp.int32))

    def choose(self, numbers: list[int], games: int) -> None:
        """Compile only the mutants of these numbers, each with `games` games."""
        names = list(self.lanes.notes)
        self.lanes.chosen = [names[number] for number in numbers if number != UNPLANTED]
        self.batch = len(numbers) * games
        self._set_up(np.repeat(numbers, games))

    def _set_up(self, numbers: Any) -> None:
        lane = jnp.asarray(numbers, jnp.int32)

        def start(number: Any, setup: Any) -> Any:
            with self.lanes.on(number if self.switches else None):
                return self.env.init_from(setup)

        def step(number: Any, state: Any, action: Any) -> Any:
            with self.lanes.on(number if self.switches else None):
                return self.env.step(state, action)

        starts, steps = jax.jit(jax.vmap(start)), jax.jit(jax.vmap(step))
        self._init = lambda setups: starts(lane, setups)
        self._step = lambda state, actions: steps(lane, state, actions)


def replay(engine: MutantEngine, recording: Recording, numbers: list[int]) -> list[str]:
    """Where the games of each mutant first differ from the recording, "" where they do not."""
    games, count = len(recording.setups), len(numbers)
    engine.choose(numbers, games)
    first = [""] * count
    faulthandler.dump_traceback_later(4 * PATIENCE_S, exit=True)
    view = engine.start(recording.setups * count)
    for decision, (fields, mask) in enumerate(zip(recording.fields, recording.mask, strict=True)):
        differs = compared(engine, view.fields).reshape(count, games, -1) != fields
        differs_mask = view.mask.reshape(count, games, -1) != mask
        for lane in range(count):
            names = ["mask"] if differs_mask[lane].any() else []
            names += [n for n, at in engine.slices.items() if differs[lane][:, at].any()]
            if names and not first[lane]:
                first[lane] = f"decision {decision}: {', '.join(names[:4])}"
        alive = [n for n, difference in zip(numbers, first, strict=True) if not difference]
        if decision == len(recording.actions) or not set(alive) - {UNPLANTED}:
            break
        faulthandler.dump_traceback_later((4 if decision == 0 else 1) * PATIENCE_S, exit=True)
        view = engine.step(list(np.tile(recording.actions[decision], count)))
    faulthandler.cancel_dump_traceback_later()
    return first


def judge(recording: Recording, mutants: list[Mutant]) -> dict[str, list[str]]:
    """The outcome of each mutant and its reason; "alone" asks for a compilation of its own."""
    alone = len(mutants) == 1
    faulthandler.dump_traceback_later(4 * PATIENCE_S, exit=True)
    try:
        engine = MutantEngine(recording.ruleset, recording.players, mutants)
    except Exception as error:
        if not alone:
            raise
        return {mutants[0].name: ["killed", _failure(error)]}
    outcomes = {}
    for name, notes in engine.lanes.notes.items():
        order = ("killed", "alone", "changed", "equivalent")
        note = next((note for note in order if note in notes), "unreached")
        outcomes[name] = [note, notes.get(note, "")]
    numbers = [n for n, mutant in enumerate(mutants) if outcomes[mutant.name][0] == "changed"]
    if numbers:
        first = replay(engine, recording, numbers if alone else [*numbers, UNPLANTED])
        assert alone or not first.pop(), "the unchanged rules differ from the recording"
        for number, difference in zip(numbers, first, strict=True):
            name = mutants[number].name
            outcomes[name] = ["killed", difference] if difference else ["survived", ""]
            if "alone" in engine.lanes.notes[name]:  # shown by the trace of the games
                outcomes[name] = ["alone", ""]
    return outcomes
