"""Wrong calls of the Python API: a table of expressions, and what the error of each must say.

The expressions see the names of `namespace()`. Nothing here uses a device: the process that forks
for each case imports it.
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge

import gaia_jax
from gaia_jax import replay
from gaia_jax.setup.setup_json import setup_from_json, setup_to_dict, setup_to_json

LONGEST = 400  # characters of a message


class Case(NamedTuple):
    """A call that must fail with a ValueError or TypeError."""

    call: str  # a Python expression
    message: str  # words of the message


# A sound set-up of lost_fleet.
WRITTEN: dict[str, Any] = json.loads(Path(__file__).with_name("setup.json").read_text("utf-8"))


@functools.cache
def namespace() -> dict[str, Any]:
    """What the expressions see. Arrays are numpy's: zeros in the shapes of real states."""
    env, base = gaia_jax.make(), gaia_jax.make("base")
    states = _in_a_process(_states)
    pairs = {
        name: jax.tree.map(lambda x: np.stack([x, x]), states[of])
        for name, of in (("batch", "state"), ("auto_batch", "auto_state"))
    }
    return {
        "gaia_jax": gaia_jax, "jax": jax, "jnp": jnp, "np": np, "json": json, "replay": replay,
        "env": env, "base": base, "auto": gaia_jax.auto_reset(env),
        "setup": states["state"].game.setup, "key": np.zeros(2, np.uint32),
        "written": WRITTEN, "edited": edited, "sound": sound, "record": record,
        "sample": gaia_jax.testing.sample_legal,
        "to_text": gaia_jax.actions.to_text, "from_text": gaia_jax.actions.from_text,
        "setup_from_json": setup_from_json, "setup_to_json": setup_to_json,
        "setup_to_dict": setup_to_dict,
    } | states | pairs  # fmt: skip


def _states() -> dict[str, Any]:
    """A state of each kind, all zeros."""
    env = gaia_jax.make()
    faces = {
        "state": env,
        "base_state": gaia_jax.make("base"),
        "other_state": gaia_jax.make("lost_fleet_published"),
        "auto_state": gaia_jax.auto_reset(env),
    }
    key = jax.ShapeDtypeStruct((2,), np.uint32)
    shapes = {name: jax.eval_shape(face.init, key) for name, face in faces.items()}
    return jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), shapes)


def _in_a_process(function: Callable[[], Any]) -> Any:
    """What `function` returns in a process of its own: tracing starts JAX's threads.

    Where they run already, a fork might wait for one for ever, and nothing is left to spare.
    """
    if xla_bridge._backends:
        return function()
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    worker = fork.Process(target=lambda: sender.send(function()))
    worker.start()
    sender.close()
    out = receiver.recv()
    worker.join()
    return out


def run(call: str, message: str) -> int:
    """Exit code of a case: 2 where it fails as it should, with one line on stderr."""
    try:
        eval(call, dict(namespace()))
    except (ValueError, TypeError) as error:
        text = str(error)
        for bad, why in (
            ("\n" in text, "more than one line"),
            (len(text) > LONGEST, f"{len(text)} characters"),
            (message not in text, f"nothing of {message!r}"),
        ):
            if bad:
                print(f"{call}: {why}: {text}", file=sys.stderr)
                return 3
        print(text, file=sys.stderr)
        return 2
    print(f"{call}: no error", file=sys.stderr)
    return 4


def record(**changes: Any) -> replay.Record:
    """A game record that was sound before the changes."""
    fields = {
        "ruleset": "lost_fleet", "version": gaia_jax.make().version, "setup": WRITTEN,
        "actions": ("pass",), "final_vp": (1, 2, 3, 4),
    }  # fmt: skip
    return replay.Record(**fields | changes)  # type: ignore[arg-type]


def edited(key: str, value: Any) -> dict[str, Any]:
    """The sound set-up with one entry changed."""
    return {**WRITTEN, key: value}


def sound() -> gaia_jax.Setup:
    """The sound set-up as arrays."""
    return setup_from_json(WRITTEN, gaia_jax.make().ruleset)


NOT_INTEGERS = (
    "None", "'0'", "1.5", "True", "b'0'", "{}", "object()", "float('nan')", "np.float32(1)", "1j",
    "np.bool_(True)", "[[1], [1, 2]]", "'9' * 10_000",
)  # fmt: skip
NOT_STATES = ("None", "3", "{}", "()", "'state'", "state.game", "setup", "np.zeros(3)", "object()")
NOT_KEYS = (
    "None", "5", "'key'", "np.zeros(2, np.float32)", "np.uint32(1)", "[0, 1]", "True", "state",
)  # fmt: skip
NOT_TEXTS = ("None", "5", "b'pass'", "['pass']", "1.5", "{}", "True", "np.int32(1)")
NOT_RULESETS = ("None", "'base'", "5", "{}", "env", "gaia_jax.RULESETS")
WRONG_TEXTS = (
    "''", "'  '", "'0'", "'PASS'", "'mine'", "'mine 99,99'", "'mine x'", "'mine 3'", "'pass now'",
    "'power'", "'power PA_9'", "'leech'", "'leech charge'", "'advance'", "'advance ai ai'",
    "'free'", "'tile'", "'mine\\0'", "'x' * 100_000", "'\\n\\n'", "'pass; pass'",
)  # fmt: skip


def _steps() -> list[Case]:
    cases = [Case(f"env.step(state, {x})", "action must be") for x in NOT_INTEGERS]
    cases += [Case(f"auto.step(auto_state, {x}, key)", "action must be") for x in NOT_INTEGERS]
    for face in ("env.observe", "env.seats", "auto.observe"):
        cases += [Case(f"{face}(state, {x})", "player must be") for x in NOT_INTEGERS]
        for player in ("9", "4", "-1", "10**30", "np.int8(-3)", "np.array(7)", "np.uint8(200)"):
            cases.append(Case(f"{face}(state, {player})", "is not in 0 .. 3"))
        cases.append(Case(f"{face}(state, np.arange(4))", "use jax.vmap"))
    for bad in NOT_STATES:
        cases += [
            Case(f"env.step({bad}, 0)", "state must be a State, not"),
            Case(f"env.observe({bad}, 0)", "state must be a State, not"),
            Case(f"env.seats({bad}, 0)", "state must be a State, not"),
            Case(f"auto.step({bad}, 0, key)", "state must be an AutoState"),
        ]
    for call in ("env.step(batch, 0)", "env.step(batch, np.zeros(2, int))", "env.seats(batch, 0)"):
        cases.append(Case(call, "state must be one, not a batch of (2,); use jax.vmap"))
    cases += [
        Case("env.observe(batch, 0)", "not a batch of (2,); use jax.vmap"),
        Case("auto.step(auto_batch, 0, key)", "not a batch of (2,); use jax.vmap"),
        Case("env.step(state, np.zeros(2, int))", "of shape (2,); use jax.vmap"),
        Case("env.step(state, [0])", "of shape (1,); use jax.vmap"),
        Case("auto.step(state, 0, key)", "state must be an AutoState"),
        Case(
            "env.step(state.replace(legal_action_mask=np.ones(5, bool)), 0)",
            f"({_last('env') + 1},), not (5,)",
        ),
        Case("state.replace(score=1)", "score"),
        Case("setup.replace(score=1)", "score"),
    ]
    for other in ("base_state", "other_state"):
        for call in (f"env.step({other}, 0)", f"env.observe({other}, 0)", f"env.seats({other}, 0)"):
            cases.append(Case(call, "this environment is 'lost_fleet'"))
    cases += [
        Case(
            "sample(state.legal_action_mask, jax.random.key(0))", "not a key; use jax.random.unif"
        ),
        Case("sample(state.legal_action_mask, key)", "not a key; use jax.random.uniform(key)"),
        Case("sample(state.legal_action_mask, 'x')", "uniform must be a number in [0, 1), not 'x'"),
        Case("sample(state.legal_action_mask, np.zeros(2))", "use jax.vmap"),
        Case("sample(batch.legal_action_mask, 0.5)", "mask must be (A,), not of shape (2, "),
        Case("sample(batch.legal_action_mask, np.zeros(2))", "use jax.vmap"),
        Case("env.step(state, 0, key)", "takes no 'key'"),
        Case("gaia_jax.make('base', num_players=2)", "takes no 'num_players'"),
    ]
    return cases + [Case("base.step(state, 0)", "state is of 'lost_fleet'")]


def _keys() -> list[Case]:
    calls = ("env.init({})", "env.draw_setup({})", "auto.init({})", "auto.step(auto_state, 0, {})")
    cases = [Case(c.format(x), "key must be a key of jax.random") for c in calls for x in NOT_KEYS]
    batches = ("np.zeros((3, 2), np.uint32)", "np.zeros((2, 2, 2), np.uint32)")
    return cases + [Case(c.format(x), "use jax.vmap") for c in calls for x in batches]


def _makers() -> list[Case]:
    ids = ("None", "''", "'chess'", "5", "[]", "{}", "b'base'", "'BASE'", "' base'", "'base\\n'")
    rewards = ("None", "''", "'gold'", "5", "[]", "b'win'", "'Margin'")
    known_ids = "known are lost_fleet, lost_fleet_published, base"
    cases = [Case(f"gaia_jax.make({x})", known_ids) for x in ids]
    cases += [
        Case(f"gaia_jax.make(reward={x})", "known are margin, rank, win, vp") for x in rewards
    ]
    for steps, message in (
        ("0", "max_steps 0 is not in 1 .."), ("-1", "max_steps -1 is not in 1 .."),
        ("2**31", "is not in 1 .. 2147483647"), ("10**400", "is not in 1 .. 2147483647"),
        ("1.5", "max_steps must be a whole number"), ("'5'", "max_steps must be a whole number"),
        ("None", "max_steps must be a whole number"), ("True", "max_steps must be a whole number"),
        ("float('nan')", "max_steps must be a whole number"),
    ):  # fmt: skip
        cases.append(Case(f"gaia_jax.make(max_steps={steps})", message))
    message = "short_turns must be True or False"
    cases += [Case(f"gaia_jax.make(short_turns={x})", message) for x in ("None", "1", "'yes'")]
    cases += [Case(f"gaia_jax.GaiaEnv({x})", "ruleset must be a Ruleset") for x in NOT_RULESETS]
    for x in ("None", "5", "'base'", "state", "gaia_jax", "gaia_jax.GaiaEnv", "env.ruleset"):
        cases.append(Case(f"gaia_jax.auto_reset({x})", "env must be a GaiaEnv"))
    cases.append(Case("gaia_jax.auto_reset(auto)", "an AutoReset already"))
    for x in ("None", "5", "'base'", "auto", "env.ruleset"):
        cases.append(Case(f"gaia_jax.testing.check({x})", "env must be what gaia_jax.make makes"))
    for x in ("0", "-1", "10**30"):
        cases.append(Case(f"gaia_jax.testing.check(env, games={x})", "games"))
        cases.append(Case(f"gaia_jax.testing.check(env, seed={x} - 1)", "seed"))
    for x in ("1.5", "'3'", "None", "True"):
        cases.append(Case(f"gaia_jax.testing.check(env, games={x})", "must be a whole number"))
        cases.append(Case(f"gaia_jax.testing.check(env, seed={x})", "must be a whole number"))
    return cases


def _last(env: str) -> int:
    """The greatest action index."""
    return namespace()[env].num_actions - 1


def _texts() -> list[Case]:
    cases = [Case(f"to_text(env.ruleset, {x})", "action must be a whole") for x in NOT_INTEGERS]
    for x in ("-1", "env.num_actions", "10**30", "np.int64(5000)", "np.array(-7)"):
        cases.append(Case(f"to_text(env.ruleset, {x})", f"is not in 0 .. {_last('env')}"))
    cases.append(Case("to_text(base.ruleset, base.num_actions)", f"0 .. {_last('base')}"))
    cases += [Case(f"from_text(env.ruleset, {x})", "text must be a str, not") for x in NOT_TEXTS]
    cases += [Case(f"from_text(env.ruleset, {x})", "action ") for x in WRONG_TEXTS]
    for x in ("'ship X'", "'explore TWILIGHT'", "'artifact 1'", "'tinkering 1'", "'mine 9,9'"):
        cases.append(Case(f"from_text(base.ruleset, {x})", "action "))
    for x in NOT_RULESETS:
        cases.append(Case(f"to_text({x}, 0)", "ruleset must be a Ruleset"))
        cases.append(Case(f"from_text({x}, 'pass')", "ruleset must be a Ruleset"))
    return cases


def _setups() -> list[Case]:
    cases = []
    for x in ("None", "{}", "5", "'{}'", "state", "written", "np.zeros(4)"):
        cases.append(Case(f"env.init_from({x})", "setup must be a Setup, not"))
        cases.append(Case(f"setup_to_json({x}, env.ruleset)", "setup must be a Setup, not"))
    for name, values in vars(namespace()["setup"]).items():
        if name in ("ship_cell", "interface", "automa"):
            continue
        changed = f"sound().replace({name}=np.full({values.shape}, {{}}, np.int8))"
        for number in ("99", "-5"):
            message = f"{number} is no index of"
            cases.append(Case(f"env.init_from({changed.format(number)})", message))
            cases.append(Case(f"setup_to_json({changed.format(number)}, env.ruleset)", message))
        wrong = f"env.init_from(sound().replace({name}=np.zeros((7, 7), np.int8)))"
        cases.append(Case(wrong, f"setup.{name} must be of shape {values.shape}, not (7, 7)"))
        if values.shape:
            twice = f"env.init_from(sound().replace({name}=np.zeros({values.shape}, np.int8)))"
            if "rotation" not in name:
                cases.append(Case(twice, " "))
    for x in ("1.5", "None", "'x'", "[0, 1, 2, 3]", "np.zeros(4)", "object()"):
        cases.append(Case(f"env.init_from(sound().replace(faction={x}))", "setup.faction must be"))
    cases += [
        Case("base.init_from(setup)", "must be of shape"),
        Case("env.init_from(base_state.game.setup)", "must be of shape"),
        Case("setup_to_json(setup, base.ruleset)", "the set-up of another ruleset?"),
        Case("setup_to_json(base_state.game.setup, env.ruleset)", "the set-up of another ruleset?"),
        Case("setup_to_json(batch.game.setup, env.ruleset)", "got a batch of (2,)"),
        Case("setup_to_dict(jax.eval_shape(lambda: setup), env.ruleset)", "must be numbers, not"),
    ]
    for x in NOT_RULESETS:
        cases.append(Case(f"setup_to_json(sound(), {x})", "ruleset must be a Ruleset"))
        cases.append(Case(f"setup_from_json(written, {x})", "ruleset must be a Ruleset"))
    return cases


def _json() -> list[Case]:
    cases = []
    for x in ("None", "5", "[]", "'null'", "'[]'", "'5'", "b'{}'", "True", "setup"):
        cases.append(Case(f"setup_from_json({x}, env.ruleset)", "set-up: must be an object, got"))
    for x in ("''", "'{'", "'{]'", "'x' * 1000", "'{\\'a\\': 1}'", "'\\0'"):
        cases.append(Case(f"setup_from_json({x}, env.ruleset)", "the set-up is not JSON"))
    cases += [
        Case("setup_from_json('[' * 100_000, env.ruleset)", "brackets too deep"),
        Case(
            "setup_from_json('{\"a\": ' + '9' * 5_000 + '}', env.ruleset)",
            "a number of 5000 digits",
        ),
        Case(
            'setup_from_json(\'{"deep": 1, "deep": 2}\', env.ruleset)', "key 'deep' appears twice"
        ),
        Case("setup_from_json(written, base.ruleset)", "unknown key"),
        Case("setup_from_json({'x' * 10_000: 1}, env.ruleset)", "unknown key"),
    ]
    for key in WRITTEN:
        rest = f"{{k: v for k, v in written.items() if k != {key!r}}}"
        cases.append(Case(f"setup_from_json({rest}, env.ruleset)", f"key {key!r} is missing"))
        for value in ("None", "'x'", "10**30", "[None] * 99", "{'a': {}}"):
            cases.append(Case(f"setup_from_json(edited({key!r}, {value}), env.ruleset)", key))
    return cases


def _records() -> list[Case]:
    return [
        Case("replay.read(None)", "NoneType"),
        Case("replay.read(5.5)", "float"),
        Case("replay.read('no/such')", "cannot read no/such"),
        Case("replay.read('.')", "cannot read ."),
        Case("replay.read('nul\\0')", "null"),
        Case("replay.play(record(ruleset='chess'))", "unknown ruleset 'chess'; known are"),
        Case("replay.play(record(version='0.0'))", "version 0.0"),
        Case("replay.play(record(setup={}))", "setup: set-up: key 'sectors' is missing"),
        Case("replay.play(record(setup=edited('deep', 5)))", "deep: must be a list of 8, got 5"),
        Case("replay.play(record(actions=('jump',)))", "action 1: action 'jump': unknown verb"),
        Case("replay.play(record(actions=(None,)))", "text must be a str, not None"),
    ]


def cases() -> list[Case]:
    """The table."""
    return [*_steps(), *_keys(), *_makers(), *_texts(), *_setups(), *_json(), *_records()]


namespace()  # once, before the forks: tracing takes seconds
