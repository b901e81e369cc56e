"""The environment: what holds at every decision, rewards, ends, new games (A3, A7, A15, RL)."""

import copy
import dataclasses
import functools
import pickle
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.arguments import scalar
from gaia_jax.rewards import reward_at_end
from gaia_jax.setup.setup_json import setup_from_json, setup_to_json
from tests.conftest import GAMES
from tests.stub_env import StubEnv
from tests.trees import same, take_row

ROOT = Path(__file__).resolve().parents[2]


# Making one.


def test_the_face():
    env = gaia_jax.make()
    assert (env.id, env.reward, env.num_players) == ("lost_fleet", "margin", 4)
    assert env.max_steps == 8192  # RL-04
    assert env.num_actions == env.ruleset.actions.num_actions <= 1024
    assert env.action_planes == ("mine", "project", "upgrade", "pick")


def test_it_is_hashable_equal_by_what_it_is_and_a_static_argument():
    env = gaia_jax.make("lost_fleet", reward="win")
    assert env == gaia_jax.make("lost_fleet", reward="win")
    assert len({env, gaia_jax.make("lost_fleet", reward="win"), gaia_jax.make()}) == 2
    double = jax.jit(lambda env, x: x * env.num_players, static_argnums=0)
    assert double(env, 2) == 8


class Weighted(StubEnv):
    """A subclass with an attribute that is no field of a dataclass."""

    def __init__(self, weight):
        super().__init__()
        object.__setattr__(self, "weight", weight)


@dataclasses.dataclass(frozen=True, repr=False)
class Tuned(StubEnv):
    """A dataclass with a field, and with an attribute that is none."""

    tuning: int = 1
    note: str = dataclasses.field(default="", compare=False)

    @functools.cached_property
    def double(self):
        return 2 * self.tuning


def test_environments_that_differ_in_any_attribute_are_not_equal():
    """Equal ones get one another's program: of a static argument, and in caches."""
    weigh = jax.jit(lambda env: jnp.float32(env.weight), static_argnums=0)
    first, second = Weighted(1.0), Weighted(2.0)
    assert first != second and first == Weighted(1.0) and hash(first) == hash(Weighted(1.0))
    assert (float(weigh(first)), float(weigh(second))) == (1.0, 2.0)
    assert gaia_jax.auto_reset(first) != gaia_jax.auto_reset(second)
    assert gaia_jax.auto_reset(first) == gaia_jax.auto_reset(Weighted(1.0))
    assert replay.compiled(first) is not replay.compiled(second)

    tuned = Tuned(tuning=2)
    before = hash(tuned)
    assert tuned == Tuned(tuning=2, note="other") and tuned != Tuned() and tuned.double == 4
    assert hash(tuned) == before and tuned == Tuned(tuning=2)
    object.__setattr__(tuned, "extra", 1)
    assert tuned != Tuned(tuning=2)
    assert StubEnv() != Weighted(1.0)


def test_environments_of_other_options_look_different():
    options = [{}, {"reward": "vp"}, {"max_steps": 100}, {"short_turns": True}]
    options += [{"automa": "ultoma"}, {"automa_faction": "TAKLONS"}]
    assert len({repr(gaia_jax.make("base", players=1, **x)) for x in options}) == len(options)


@pytest.mark.parametrize("weight", [[1.0], np.ones(2), {"a": 1}])
def test_an_attribute_that_is_not_hashable_is_named(weight):
    env = Weighted(weight)
    with pytest.raises(TypeError, match="Weighted.weight must be hashable, .* use a tuple"):
        hash(env)
    assert env == env and env != Weighted(np.zeros(2))


@pytest.mark.parametrize("id", gaia_jax.RULESETS)
def test_pickled_and_copied_it_is_equal(id):
    env = gaia_jax.make(id, reward="win", max_steps=99)
    for copied in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert copied == env and hash(copied) == hash(env)
    edited = dataclasses.replace(env.ruleset, id="of mine")
    assert pickle.loads(pickle.dumps(edited)).id == "of mine"


def test_the_version_is_the_first_of_its_history():
    text = (ROOT / "docs" / "reference" / "rulesets.md").read_text(encoding="utf-8")
    headings = [line[4:] for line in text.splitlines() if line.startswith("### ")]
    versions = {gaia_jax.make(id).version for id in gaia_jax.RULESETS}
    assert headings[0] == max(versions) and versions <= set(headings)
    assert len(set(headings)) == len(headings)


def test_all_names_of_the_public_face_are_there():
    assert all(hasattr(gaia_jax, name) for name in gaia_jax.__all__)
    for package in (gaia_jax, replay):
        assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("name", ["", "no_such_name", "env.no_such_name", "no_such.name", "make_"])
def test_a_name_that_is_none_is_an_attribute_error(name):
    assert not hasattr(gaia_jax, name)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("reset", "env.init"),
        ("observation_space", "env.observation_shape"),
        ("action_space", "env.num_actions"),
        ("num_agents", "env.num_players"),
        ("default_params", "gaia_jax.make"),
        ("render", "gaia_jax.render.svg"),
    ],
)
def test_names_of_other_libraries_are_answered_with_ours(name, right):
    env = StubEnv()
    for face in (env, gaia_jax.auto_reset(env)):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; .*{right}"):
            getattr(face, name)
        assert not hasattr(face, name)


# A child each: one module may import another. Most of a start is the import of JAX.
EACH_ALONE = """
import operator, os, sys, warnings
import jax

warnings.simplefilter("ignore")  # of JAX that it forks
for name in sys.argv[1:]:
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0, name
        continue
    import gaia_jax
    operator.attrgetter(name)(gaia_jax)
    sys.exit(0)
"""


def test_modules_of_the_documentation_are_attributes_after_one_import():
    names = ("adapters.spaces", "importers.boardgamers", "observation.scaling", "render", "replay")
    subprocess.run([sys.executable, "-c", EACH_ALONE, *names], check=True)


def test_arguments_of_other_libraries_are_answered_with_ours():
    env, key = StubEnv(), jax.random.key(0)
    state = jax.eval_shape(env.init, key)
    for call in (lambda: env.step(state, 0, key), lambda: env.step(state, 0, key=key)):
        with pytest.raises(TypeError, match=r"step\(\) takes no 'key': .*auto_reset"):
            call()
    with pytest.raises(TypeError, match=r"make\(\) takes no 'num_players': .*players"):
        gaia_jax.make("base", num_players=2)


# The state.


def test_a_state_is_at_most_4_kilobytes(env):
    state = jax.eval_shape(env.init, jax.random.key(0))
    assert sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(state.game)) <= 3072
    assert sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(state)) <= 4096


def test_step_gives_the_shapes_and_dtypes_that_it_takes(env):
    state = jax.eval_shape(env.init, jax.random.key(0))
    after = jax.eval_shape(env.step, state, jnp.int32(0))
    assert jax.tree.structure(state) == jax.tree.structure(after)
    for x, y in zip(jax.tree.leaves(state), jax.tree.leaves(after), strict=True):
        assert (x.shape, x.dtype, x.weak_type) == (y.shape, y.dtype, y.weak_type)


def test_init_is_init_from_a_drawn_setup_also_through_json(env, init):
    key, init_from = jax.random.key(3), jax.jit(env.init_from)
    setup = jax.jit(env.draw_setup)(key)
    state = init_from(setup)
    assert same(init(key), state) and same(state.game.setup, setup)
    written = setup_to_json(setup, env.ruleset)
    assert same(init_from(setup_from_json(written, env.ruleset)), state)


def test_init_from_refuses_what_is_no_setup(env):
    with pytest.raises(TypeError, match="setup must be a Setup, not dict"):
        env.init_from({})
    setup = jax.eval_shape(env.draw_setup, jax.random.key(0))
    with pytest.raises(ValueError, match=r"setup.faction must be of shape \(4,\), not \(3,\)"):
        env.init_from(setup.replace(faction=jnp.zeros(3, jnp.int8)))


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (1.5, TypeError, "action must be an integer, not float64: 1.5"),
        (True, TypeError, "action must be an integer, not bool"),
        (np.zeros(8, np.int32), ValueError, r"of shape \(8,\); use jax.vmap"),
        ("pass", TypeError, "action must be an integer"),
    ],
)
def test_step_refuses_what_is_no_action(action, error, message):
    env = StubEnv()
    auto, key = gaia_jax.auto_reset(env), jax.random.key(0)
    with pytest.raises(error, match=message):
        env.step(jax.eval_shape(env.init, key), action)
    with pytest.raises(error, match=message):
        auto.step(jax.eval_shape(auto.init, key), action, key)


def test_an_action_is_legal_if_the_mask_says_so(env, games_under_way):
    state = take_row(games_under_way, 0)
    is_legal = jax.jit(env.is_legal)
    legal, mask = int(state.legal_action_mask.argmax()), state.legal_action_mask
    assert is_legal(state, legal) and not is_legal(state, int(mask.argmin()))
    assert not is_legal(state, -1) and not is_legal(state, env.num_actions)
    with pytest.raises(ValueError, match="vmap"):
        env.is_legal(games_under_way, legal)


def test_the_first_state_is_that_of_init_but_for_the_mask(env, new_games):
    state = take_row(new_games, 0)
    first = env.first_state(state.game)
    assert not first.legal_action_mask.any()
    assert same(first.replace(legal_action_mask=state.legal_action_mask), state)


@pytest.mark.parametrize("action", [3, np.int64(3), np.uint8(3), jnp.int8(3), np.array(3)])
def test_step_takes_any_integer_type(action):
    converted = scalar("action", action)
    assert converted == 3 and converted.dtype == jnp.int32


def test_an_index_beyond_int32_is_unknown_not_wrapped():
    assert scalar("action", 2**32 + 3) not in range(1024)
    assert scalar("action", -(2**40)) not in range(1024)


# The course of the game, over the real rules.


def test_games_end_in_round_6_with_every_vp_accounted_for(ended_games):
    game = ended_games.game
    assert ended_games.terminated.all() and not ended_games.truncated.any()
    assert (game.turn.round == 6).all()
    assert (game.turn.node == 19).all()
    np.testing.assert_array_equal(game.players.vp, game.players.vp_source.sum(-1))


def test_a7_an_ended_game_is_frozen(ended_games, step_games):
    assert ended_games.legal_action_mask.all()
    actions = jnp.arange(GAMES, dtype=jnp.int32) * 60 - 1  # -1, then indices of all kinds
    after = step_games(ended_games, actions)
    assert not after.rewards.any()
    assert same(after, ended_games.replace(rewards=after.rewards))


def test_rl_02_an_illegal_action_ends_the_episode_and_changes_nothing_else(
    games_under_way, step_games, env
):
    mask = np.asarray(games_under_way.legal_action_mask)
    actions = np.argmin(mask, axis=-1).astype(np.int32)
    actions[:3] = -1, env.num_actions, np.iinfo(np.int32).max
    after = step_games(games_under_way, actions)
    goes_on = ~np.asarray(games_under_way.terminated)
    assert after.terminated.all() and not after.truncated.any()
    assert same(after.game, games_under_way.game)
    assert after.legal_action_mask.all()
    own = np.arange(4) == np.asarray(games_under_way.current_player)[:, None]
    np.testing.assert_array_equal(after.rewards, np.where(own & goes_on[:, None], -1, 0))
    np.testing.assert_array_equal(after.current_player, games_under_way.current_player)


def test_a_batch_steps_as_its_games_alone(games_under_way, step_games, step):
    actions = np.argmax(games_under_way.legal_action_mask, axis=-1).astype(np.int32)
    together = step_games(games_under_way, actions)
    for i in range(0, GAMES, 5):
        assert same(step(take_row(games_under_way, i), actions[i]), take_row(together, i))


def test_rl_01_the_decider_is_the_node_s(games_under_way):
    over = games_under_way.terminated
    turn = games_under_way.game.turn
    assert ((games_under_way.current_player == turn.player) | over).all()


# Rewards.


@pytest.mark.parametrize(
    ("kind", "vp", "paid"),
    [
        ("margin", (100, 70, 80, 50), (1 / 3, -1 / 15, 1 / 15, -1 / 3)),
        ("margin", (55, 55, 55, 55), (0, 0, 0, 0)),
        ("margin", (20_000, 0, 0, 0), (200, -200 / 3, -200 / 3, -200 / 3)),  # no overflow
        ("rank", (100, 70, 80, 50), (1, -1 / 3, 1 / 3, -1)),
        ("rank", (80, 70, 80, 50), (2 / 3, -1 / 3, 2 / 3, -1)),
        ("rank", (80, 80, 80, 50), (1 / 3, 1 / 3, 1 / 3, -1)),
        ("rank", (80, 50, 50, 50), (1, -1 / 3, -1 / 3, -1 / 3)),
        ("rank", (80, 80, 50, 50), (2 / 3, 2 / 3, -2 / 3, -2 / 3)),
        ("rank", (1, 1, 1, 1), (0, 0, 0, 0)),
        ("win", (100, 70, 80, 50), (1, 0, 0, 0)),
        ("win", (80, 70, 80, 50), (0.5, 0, 0.5, 0)),
        ("win", (80, 80, 80, 80), (0.25, 0.25, 0.25, 0.25)),
    ],
)
def test_a3_what_an_end_pays(kind, vp, paid):
    rewards = reward_at_end(kind, jnp.array(vp, jnp.int16))
    assert rewards.dtype == jnp.float32
    np.testing.assert_allclose(rewards, paid, rtol=1e-6, atol=1e-7)


def play_first_legal(env, decisions):
    """States after each of the decisions, the first legal action every time."""
    step, states = jax.jit(env.step), [jax.jit(env.init)(jax.random.key(0))]
    for _ in range(decisions):
        states.append(step(states[-1], jnp.argmax(states[-1].legal_action_mask)))
    return states


def test_a3_vp_pays_the_change_at_every_decision():
    states = play_first_legal(StubEnv(reward="vp"), 4)
    paid = np.array([state.rewards for state in states])
    # The first legal actions are 0, 1, 2, 0: a % 3 VP for the players in turn.
    order = [int(state.current_player) for state in states]
    expected = np.zeros((5, 4))
    expected[2, order[1]], expected[3, order[2]] = 0.01, 0.02
    np.testing.assert_allclose(paid, expected, atol=1e-7)


@pytest.mark.parametrize("reward", ["margin", "rank", "win"])
def test_a3_the_others_pay_at_the_end(reward):
    states = play_first_legal(StubEnv(reward=reward), 9)
    assert not any(state.rewards.any() for state in states[:-1])
    np.testing.assert_array_equal(
        states[-1].rewards, reward_at_end(reward, states[-1].game.players.vp)
    )
    assert states[-1].terminated and not states[-2].terminated


# The guard.


def test_a15_truncation_pays_like_an_end_and_freezes():
    states = play_first_legal(StubEnv(max_steps=5), 6)
    last, after = states[5], states[6]
    assert not states[4].truncated and last.truncated and not last.terminated
    np.testing.assert_array_equal(last.rewards, reward_at_end("margin", last.game.players.vp))
    assert last.rewards.any() and last.legal_action_mask.all()
    assert last.current_player == states[4].current_player  # the last decider
    assert not after.rewards.any() and same(after, last.replace(rewards=after.rewards))
    assert last.step_count == after.step_count == 5


def test_rl_04_an_end_at_the_guard_is_an_end():
    last = play_first_legal(StubEnv(max_steps=9), 9)[-1]
    assert last.terminated and not last.truncated
