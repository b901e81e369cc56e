"""A small dataset of random games on the stub game."""

import jax
import numpy as np
import pytest

from gaia_jax.setup.setup_json import setup_to_json

pa = pytest.importorskip("pyarrow", reason="datasets need the extra `data`")
pq = pytest.importorskip("pyarrow.parquet")

SCHEMA = pa.schema({
    "env": pa.string(), "version": pa.string(), "setup": pa.string(),
    "actions": pa.list_(pa.uint16()), "vp": pa.list_(pa.int16()),
})  # fmt: skip


def record(env, key, is_random=True):
    """One game: a row of `games.parquet`, and for each decision observation, mask, action, seat and
    the VP before. Actions are random or the first legal ones.
    """
    step, observe = jax.jit(env.step), jax.jit(env.observe)
    state = env.init(key)
    rng, decisions = np.random.default_rng(jax.random.bits(key).item()), []
    setup = setup_to_json(state.game.setup, env.ruleset)
    while not state.terminated:
        mask = np.asarray(state.legal_action_mask)
        legal, seat = np.flatnonzero(mask), int(state.current_player)
        action = int(rng.choice(legal) if is_random else legal[0])
        seen, before = observe(state, seat), np.asarray(state.game.players.vp)
        state = step(state, action)
        decisions.append((seen, mask, action, seat, before))
    vp = np.asarray(state.game.players.vp).tolist()
    actions = [decision[2] for decision in decisions]
    row = {"env": env.id, "version": env.version, "setup": setup, "actions": actions, "vp": vp}
    return row, decisions


def write(path, rows):
    """A `games.parquet` of rows, two in a row group."""
    pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), path, row_group_size=2)
