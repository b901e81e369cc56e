"""The game under JAX's own switches: every process has its own, so each test starts one.

What JAX traces is compared as text, which compiles nothing and shows that programs are the same;
the slow tests also play. Each switch is tried alone on a game, and each game under all of them.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gaia_jax.ruleset import VARIANTS

ROOT = Path(__file__).resolve().parents[2]
SWITCHES = {
    "x64": {"JAX_ENABLE_X64": "1"},
    "rbg": {"JAX_DEFAULT_PRNG_IMPL": "rbg"},
    "unsafe_rbg": {"JAX_DEFAULT_PRNG_IMPL": "unsafe_rbg"},
    "rank": {"JAX_NUMPY_RANK_PROMOTION": "raise"},
    "dtype": {"JAX_NUMPY_DTYPE_PROMOTION": "strict"},
    "partitionable": {"JAX_THREEFRY_PARTITIONABLE": "0"},
    "custom_prng": {"JAX_ENABLE_CUSTOM_PRNG": "1"},
    "key_reuse": {"JAX_DEBUG_KEY_REUSE": "1"},
    "nans": {"JAX_DEBUG_NANS": "1"},
    "leaks": {"JAX_CHECK_TRACER_LEAKS": "1"},
}
ALL = {
    name: value
    for switch in ("x64", "rbg", "rank", "dtype", "partitionable", "custom_prng", "key_reuse")
    for name, value in SWITCHES[switch].items()
}
# Each game is traced and played under all switches that go together, and in turn under some alone.
# What matters only while JAX traces need not be played again: the same text is the same game.
# Looking for leaks JAX keeps no traces, and its texts share less: that one is only played.
TRIED = {
    ("lost_fleet", 4): ("all", "x64", "dtype", "nans", "leaks"),
    ("lost_fleet_published", 4): ("all", "rbg", "partitionable"),
    ("lost_fleet_published", 2): ("all",),
    ("base", 4): ("all", "unsafe_rbg", "custom_prng"),
    ("base", 2): ("all", "rank", "key_reuse", "leaks"),
}

# What every script begins with: `env`, `auto`, `results`, what is printed at the end, and
# `batch(tree, n)`, shapes with an axis more.
HEAD = """
import hashlib, json, re, sys
import jax, jax.numpy as jnp, numpy as np
import gaia_jax
from gaia_jax.testing import sample_legal

env = gaia_jax.make(sys.argv[1], players=int(sys.argv[2]))
auto = gaia_jax.auto_reset(env)

results = {}

def batch(tree, n):
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct((n, *x.shape), x.dtype), tree)
"""
# Adds the digests of the traced programs by name, with the dtypes of their results.
TRACE = """
def key(**kind):
    return jax.eval_shape(lambda: jax.random.key(0, **kind))

action, usual = jax.ShapeDtypeStruct((), jnp.int32), key(impl="threefry2x32")
state = jax.eval_shape(env.init, usual)
uniform = jax.ShapeDtypeStruct((), jnp.float32)
for name, function, args in (
    ("init", env.init, (usual,)),
    ("step", env.step, (state, action)),
    ("observe", env.observe, (state, action)),
    ("mask", env.legal_mask, (state.game,)),
    ("auto", auto.step, (jax.eval_shape(auto.init, usual), action, usual)),
    ("sample", sample_legal, (state.legal_action_mask, uniform)),
):
    # Of a function that is compiled already JAX batches the trace, outside the function.
    program = jax.make_jaxpr(jax.vmap(jax.jit(function)))(*batch(args, 8))
    text = re.sub("0x[0-9a-f]+|id=[0-9]+", "", str(program))
    dtypes = sorted({str(x.dtype) for x in program.out_avals})
    results[name] = [hashlib.sha256(text.encode()).hexdigest(), *dtypes]
for default in (key(), jax.eval_shape(lambda: jax.random.PRNGKey(0))):
    for function in (env.init, auto.init, gaia_jax.first_game if env.id == "base" else env.init):
        jax.eval_shape(lambda key: function(**{"key": key}), default)
boards = batch(state.game.board, 8)
jax.eval_shape(lambda b: (b.guest, b.near, b.satellite, b.federated, b.owner), boards)
"""
# Plays, and adds the outcome.
PLAY = """
games, length = 16, 420
keys = jax.vmap(jax.random.key)(jnp.arange(games))  # a split of keys has switches of its own
draws = np.random.default_rng(7).random((length, games), np.float32)

def decide(state, uniform):
    action = jax.vmap(sample_legal)(state.legal_action_mask, uniform)
    state = jax.vmap(auto.step)(state, action, jax.random.clone(keys))  # the same games again
    seen = jax.vmap(env.observe)(state, state.current_player)
    return state, (action, (state.rewards == -1).any(-1), state.terminated, seen.globals)

@jax.jit
def play(state):
    return jax.lax.scan(decide, state, draws)

state, seen = jax.device_get(play(jax.jit(jax.vmap(auto.init))(keys)))
action, illegal, ended, seen = seen
leaves = [np.asarray(x) for x in jax.tree.leaves((state, action, ended, seen))]
results |= {
    "digest": hashlib.sha256(b"".join(x.tobytes() for x in leaves)).hexdigest(),
    "wide": [str(x.dtype) for x in leaves if x.dtype.itemsize > 4],
    "illegal": int(illegal.sum()),
    "ended": int(ended.sum()),
}
"""


@functools.cache
def run_script(
    script: str, id: str, players: int, switches: tuple[tuple[str, str], ...] = ()
) -> dict:
    """The results of `script` in a process of its own, with these variables set."""
    variables = {name for group in SWITCHES.values() for name in group}
    inherited = {name: value for name, value in os.environ.items() if name not in variables}
    run = subprocess.run(
        [sys.executable, "-c", f"{HEAD}{script}print(json.dumps(results))", id, str(players)],
        env=inherited | {"PYTHONPATH": str(ROOT)} | dict(switches),
        capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.slow
def test_all_switches_at_once_leave_the_traced_programs_as_they_are():
    assert run_script(TRACE, "base", 2, tuple(ALL.items())) == run_script(TRACE, "base", 2)


@pytest.mark.slow
@pytest.mark.parametrize("id, players, switch", [(*game, x) for game in TRIED for x in TRIED[game]])
def test_a_game_under_a_switch_is_the_game_without(id, players, switch):
    """The same programs, and the same random play over the ends of games."""
    played = {"all": TRACE + PLAY, "unsafe_rbg": TRACE + PLAY, "nans": PLAY, "leaks": PLAY}
    script = played.get(switch, TRACE)
    usual = run_script(TRACE + PLAY, id, players)
    assert (usual["illegal"], usual["wide"]) == (0, [])
    assert usual["ended"] >= 16
    switches = ALL | SWITCHES["nans"] if switch == "all" else SWITCHES[switch]
    result = run_script(script, id, players, tuple(switches.items()))
    assert result == {name: usual[name] for name in result}


def test_every_switch_is_tried_alone():
    alone = {switch for tried in TRIED.values() for switch in tried} - {"all"}
    assert alone == SWITCHES.keys()
    assert {(id, players) for id, players in VARIANTS if players in (2, 4)} == TRIED.keys()


@pytest.mark.slow
@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_gen_04_maps_that_are_drawn_again_end_in_a_batch(impl):
    """The bits of `rbg` come from the first key of a batch: once it has its map, they stay."""
    import jax
    import numpy as np

    import gaia_jax

    env = gaia_jax.make("base", players=2)
    keys = jax.random.split(jax.random.key(5, impl=impl), 16)
    drawn = jax.device_get(jax.jit(jax.vmap(env.draw_setup))(keys))
    assert len({row.tobytes() for row in np.asarray(drawn.sector_tile)}) == 16
    alone = jax.device_get(jax.jit(env.draw_setup)(keys[3]))
    jax.tree.map(
        lambda batch, single: np.testing.assert_array_equal(batch[3], single), drawn, alone
    )
    if impl == "rbg":
        same = jax.random.split(jax.random.key(5, impl="threefry2x32"), 16)
        usual = jax.device_get(jax.jit(jax.vmap(env.draw_setup))(same))
        jax.tree.map(np.testing.assert_array_equal, drawn, usual)
