"""States in files and maps of other libraries: jax.export, flax, orbax, `lax.map`, `shard_map`."""

import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import numpy as np
import pytest
from jax import export

import gaia_jax
from gaia_jax.ruleset import VARIANTS
from tests.trees import same
from tests.xla_flags import on_devices

ROOT = Path(__file__).resolve().parents[2]


def shapes(env):
    return jax.eval_shape(gaia_jax.auto_reset(env).init, jax.random.key(0))


def filled(tree, low=0):
    """Arrays of the shapes in `tree`, 0 or 1 everywhere."""
    draws = np.random.default_rng(low)
    return jax.tree.map(lambda x: draws.integers(0, 2, x.shape).astype(x.dtype), tree)


@pytest.mark.parametrize(("id", "players"), VARIANTS)
def test_no_leaf_of_a_state_is_empty(id, players):
    env = gaia_jax.make(id, players=players)
    states = shapes(env)
    assert all(x.size for x in jax.tree.leaves(states))
    # The empty arrays are still there to be read, and survive a map over the tree.
    mapped = jax.tree.map(lambda x: x, states)
    assert vars(mapped.game.setup).keys() == vars(states.game.setup).keys()
    assert mapped.game.setup.artifacts.shape == (env.ruleset.artifacts_in_play,)


def test_a_batch_of_no_games_keeps_its_leaves():
    states = shapes(gaia_jax.make("base"))
    none = jax.tree.map(lambda x: np.zeros((0, *x.shape), x.dtype), states)
    assert len(jax.tree.leaves(none)) == len(jax.tree.leaves(states))
    assert jax.tree.structure(none) == jax.tree.structure(states)


def test_lax_map_takes_states_in_batches():
    states = shapes(gaia_jax.make("base", players=2))
    batch = filled(jax.tree.map(lambda x: jax.ShapeDtypeStruct((6, *x.shape), x.dtype), states))
    after = jax.lax.map(
        lambda state: state.replace(truncated=~state.truncated), batch, batch_size=4
    )
    assert same(after, batch.replace(truncated=~batch.truncated))


@pytest.mark.filterwarnings("ignore")
def test_orbax_writes_and_reads_states(tmp_path):
    checkpoint = pytest.importorskip("orbax.checkpoint", reason="orbax comes with `train`")
    state = filled(shapes(gaia_jax.make("base", players=2)))
    with checkpoint.StandardCheckpointer() as files:
        files.save(tmp_path / "state", state)
        files.wait_until_finished()
        restored = files.restore(tmp_path / "state", state)
    assert same(restored, state)


@pytest.mark.parametrize("kind", [gaia_jax.State, gaia_jax.AutoState])
@pytest.mark.parametrize("id", ["lost_fleet", "base"])
def test_a_program_over_states_can_be_exported(kind, id):
    env = gaia_jax.make(id)
    face = env if kind is gaia_jax.State else gaia_jax.auto_reset(env)
    state = jax.eval_shape(face.init, jax.random.key(0))
    exported = export.export(jax.jit(lambda x: x.replace(step_count=x.step_count + 1)))(state)
    loaded = export.deserialize(exported.serialize())
    assert (loaded.in_tree, loaded.out_tree) == (exported.in_tree, exported.out_tree)
    given = filled(state)
    after = loaded.call(given)
    assert type(after) is kind and after.ruleset == id
    assert same(after, given.replace(step_count=given.step_count + 1))


def test_flax_writes_and_reads_states_and_set_ups():
    serialization = pytest.importorskip("flax.serialization", reason="flax comes with `train`")
    for id in ("lost_fleet", "base"):
        states = shapes(gaia_jax.make(id))
        value, other = filled(states, 1), filled(states, 2)
        restored = serialization.from_bytes(other, serialization.to_bytes(value))
        assert same(restored, value) and not same(other, value)
        assert jax.tree.structure(restored) == jax.tree.structure(value)
    state = serialization.to_state_dict(value)
    assert set(state["game"]["setup"]) < set(vars(value.game.setup))
    state["game"]["turn"].pop("small")
    with pytest.raises(ValueError, match="of a Turn lacks small, at path ./game/turn"):
        serialization.from_state_dict(other, state)


def test_flax_may_be_imported_before_or_after_and_is_not_imported_for_it():
    code = """
        import sys
        if sys.argv[1] == "before":
            import flax.serialization
        import jax, numpy as np
        import gaia_jax
        assert ("flax" in sys.modules) == (sys.argv[1] == "before")
        env = gaia_jax.make("base")
        state = jax.eval_shape(env.draw_setup, jax.random.key(0))
        state = jax.tree.map(lambda x: np.ones(x.shape, x.dtype), state)
        import flax.serialization
        assert "economy_side" in flax.serialization.to_state_dict(state)
        print("written")
    """
    for order in ("before", "after"):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), order],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        assert "written" in done.stdout, done.stderr


MESHES = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
    import gaia_jax
    from tests.stub_env import StubEnv
    from tests.trees import same

    env = gaia_jax.make("base", players=2)
    stub = StubEnv()
    keys = jax.random.split(jax.random.key(0), 8)
    mesh = jax.make_mesh((4,), ("games",))  # with Explicit axes, as JAX makes it
    auto = jax.make_mesh((4,), ("games",), axis_types=(AxisType.Auto,))

    def sharded(mesh, tree):
        place = NamedSharding(mesh, P("games"))
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=place), tree)

    def refused(words, function, *args):
        try:
            jax.eval_shape(function, *args)
        except TypeError as error:
            text = str(error)
            assert words in text and len(text.splitlines()) == 1, text
        else:
            raise AssertionError("no error")

    states = jax.eval_shape(jax.vmap(env.init), keys)
    actions = jax.ShapeDtypeStruct((8,), jnp.int32)
    faces = [
        (env.init, (keys,)), (env.step, (states, actions)), (env.observe, (states, actions)),
        (env.draw_setup, (keys,)), (env.legal_mask, (states.game,)),
    ]
    for method, args in faces:
        spec = dict(in_specs=(P("games"),) * len(args), out_specs=P("games"))
        for over in (mesh, auto):
            split = jax.shard_map(jax.vmap(method), mesh=over, **spec)
            refused("check_vma=False", split, *sharded(over, args))
        if method != env.legal_mask and method != env.draw_setup:
            refused("AxisType.Auto", jax.vmap(method), *sharded(mesh, args))

    # What is documented works, and plays as a batch without a mesh.
    def play(keys):
        state = jax.vmap(stub.init)(keys)
        for _ in range(3):
            state = jax.vmap(stub.step)(state, jnp.argmax(state.legal_action_mask, -1))
        return state, jax.vmap(stub.observe)(state, state.current_player)

    right = jax.jit(play)(keys)
    for over in (mesh, auto):
        split = jax.shard_map(
            play, mesh=over, in_specs=P("games"), out_specs=P("games"), check_vma=False
        )
        assert same(jax.jit(split)(jax.device_put(keys, NamedSharding(over, P("games")))), right)
    placed = jax.device_put(keys, NamedSharding(auto, P("games")))
    assert same(jax.jit(play)(placed), right)
    for method, args in faces[1:3]:
        spec = dict(in_specs=(P("games"),) * len(args), out_specs=P("games"))
        split = jax.shard_map(jax.vmap(method), mesh=mesh, check_vma=False, **spec)
        jax.eval_shape(split, *sharded(mesh, args))
    print("as documented")
"""


@pytest.mark.slow
def test_meshes_work_as_documented_and_are_refused_in_one_line_otherwise():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MESHES)],
        cwd=ROOT, env=on_devices(4), capture_output=True, text=True,
    )  # fmt: skip
    assert "as documented" in done.stdout, done.stderr
