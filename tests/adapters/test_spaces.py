"""Spaces: what is sampled is inside, what is observed is inside, what is beyond is not."""

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax.adapters.layout import arranged, as_picture, bounds, environment
from gaia_jax.adapters.spaces import action_space, observation_space
from gaia_jax.observation import Observation
from tests.stub_env import StubEnv

STUB = StubEnv()


@pytest.fixture(scope="module")
def seen():
    state = jax.jit(STUB.init)(jax.random.key(0))
    return jax.jit(STUB.observe)(state, 2)


def test_actions():
    space = action_space(gaia_jax.make("base"))
    assert space.n == gaia_jax.make("base").num_actions and space.shape == ()
    assert space.contains(space.sample(jax.random.key(0)))
    assert not space.contains(space.n) and not space.contains(-1)


@pytest.mark.parametrize("kind", ["tree", "vector", "picture"])
def test_observations(seen, kind):
    space = observation_space(STUB, kind)
    shaped = arranged(kind, STUB.ruleset, seen)
    shaped = vars(shaped) if kind == "tree" else shaped
    assert space.contains(shaped)
    assert space.contains(space.sample(jax.random.key(1)))
    if kind != "tree":
        assert (shaped.shape, shaped.dtype) == (space.shape, space.dtype)
        assert not space.contains(shaped.at[(0,) * shaped.ndim].set(1000))


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match="unknown kind 'flat'; known are tree, vector, picture"):
        observation_space(STUB, "flat")


def test_what_an_adapter_is_asked_for():
    """`PgxEnv`, `aec_env` and `GaiaMARL` take an environment, or what `gaia_jax.make` takes."""
    assert environment("base", "vp", 2) == gaia_jax.make("base", "vp", players=2)
    assert environment(STUB, None, None) is environment(STUB, "margin", 4) is STUB
    with pytest.raises(
        ValueError, match="'lost_fleet' .* 4 players, not 2; rulesets for 2 players: base"
    ):
        environment("lost_fleet", None, 2)
    with pytest.raises(ValueError, match="players 2, but the environment given has 4"):
        environment(STUB, None, 2)
    with pytest.raises(ValueError, match="reward 'vp', but the environment given has 'margin'"):
        environment(STUB, "vp", None)


@pytest.mark.parametrize("ruleset", gaia_jax.RULESETS.values(), ids=lambda r: r.id)
def test_a_picture_holds_every_number_once(ruleset):
    shape = bounds(ruleset)[0]
    sizes = [x.size for x in vars(shape).values()]
    # Numbers that are all different, but for cells, which are int8.
    cells = np.ones(shape.cells.shape, np.int8)
    rest = np.arange(2, 2 + sizes[1] + sizes[2], dtype=np.int16)
    tables = rest[: sizes[1]].reshape(shape.players.shape), rest[sizes[1] :]
    picture = np.asarray(as_picture(ruleset, Observation(cells, *tables)))
    assert picture.shape[-1] == shape.cells.shape[-1]
    assert (picture == 1).sum() == sizes[0]
    values = picture[picture > 1]
    assert sorted(values.tolist()) == rest.tolist()
    assert (picture == 0).sum() == picture.size - sum(sizes)
