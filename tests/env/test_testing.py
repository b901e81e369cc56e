"""`gaia_jax.testing.check` passes on the game, and finds what is wrong with others."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import testing
from gaia_jax.ruleset import RULESETS
from gaia_jax.state import Node
from gaia_jax.testing import conformance, sample_legal
from tests.conftest import GAMES
from tests.stub_env import StubEnv

LOOKS: dict = {}  # compiled, by what they depend on


@pytest.fixture(autouse=True)
def one_look(monkeypatch):
    """Environments that show the same are looked at by one program, 40 % of the time of a check."""
    make = conformance._make_look

    def look(env):
        kind = type(env)
        alike = kind.observe, kind.seats, kind.deal, env.ruleset
        if alike not in LOOKS:
            LOOKS[alike] = make(env)
        return LOOKS[alike]

    monkeypatch.setattr(conformance, "_make_look", look)


def check(env, **options):
    """`testing.check` of an environment of the stub's rules."""
    sound = StubEnv(env.ruleset, length=env.length)
    return testing.check(env, legal_mask=sound.legal_mask, **options)


@pytest.mark.slow
def test_the_game_keeps_its_promises(env):
    played = testing.check(env, games=GAMES, seed=1)  # as many as others compile `init` for
    assert played.vp.shape == (GAMES, 4)
    assert (played.decisions > 60).all()
    np.testing.assert_allclose(played.rewards.sum(-1), 0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("reward", gaia_jax.REWARDS)
def test_a_sound_environment_passes(reward):
    played = check(StubEnv(reward=reward), games=3, seed=0)
    assert (played.decisions == 9).all()


@pytest.mark.slow
def test_the_guard_is_an_end():
    assert (check(StubEnv(length=10_000, max_steps=70), games=2).decisions == 70).all()


def test_no_games_are_refused():
    with pytest.raises(ValueError, match="games 0 is not in 1 .. "):
        check(StubEnv(), games=0)


@pytest.mark.parametrize("env", [None, "base", gaia_jax.auto_reset(gaia_jax.make())])
def test_what_is_no_environment_is_refused(env):
    with pytest.raises(TypeError, match="env must be what gaia_jax.make makes, not"):
        testing.check(env)


# Environments with one fault each, and the message of `check`.
FAULTS: list = []


def fault(name, message, **changes):
    """An environment with one fault.

    Args:
        message: the message of `check`.
        changes: new values of fields, and by the name of a method what makes another result of it:
            of the environment, the usual result and the arguments.
    """

    def method(name, change):
        usual = getattr(StubEnv, name)
        return lambda env, *args: change(env, usual(env, *args), *args)

    fields = {key: value for key, value in changes.items() if not callable(value)}
    members = {key: method(key, change) for key, change in changes.items() if callable(change)}
    members["__annotations__"] = {key: type(value) for key, value in fields.items()}
    cls = dataclasses.dataclass(frozen=True, repr=False)(type(name, (StubEnv,), members | fields))
    FAULTS.append(pytest.param(cls, message, id=name))


def players(state, **values):
    """The state with other fields of its players."""
    return state.replace(game=state.game.replace(players=state.game.players.replace(**values)))


def ended(state):
    return state.game.turn.node == Node.ENDED


fault(
    "StartsStuck",
    "game 0 starts with an empty legal_action_mask",
    init_from=lambda env, s, setup: s.replace(legal_action_mask=s.legal_action_mask & False),
)
fault(
    "GetsStuck",
    "game 0, after decision 4: legal_action_mask is empty",
    legal_mask=lambda env, mask, game: mask & (game.turn.setup_done < 4),
)
fault(
    "NeverEnds",
    "is neither terminated nor truncated after 128 decisions",
    reward="vp",
    max_steps=128,
    length=10_000,
    decide=lambda env, after, *_: after.replace(truncated=after.truncated & False),
)
fault(
    "ForgetsTheFullMask",
    "legal_action_mask is not all True",
    with_mask=lambda env, _, state: state.replace(
        legal_action_mask=jnp.arange(env.num_actions) % 2 == 0
    ),
)
fault(
    "PaysEarly",
    "rewards were paid before the end",
    step=lambda env, s, *_: s.replace(rewards=jnp.where(s.step_count == 3, 0.5, s.rewards)),
)
fault(
    "PaysWrong",
    "rewards sum to",
    step=lambda env, s, *_: s.replace(rewards=jnp.where(ended(s), 2 * s.rewards, s.rewards)),
)
fault(
    "ThawsAfterTheEnd",
    "after the end changed game.players.vp",
    decide=lambda env, after, s, _: players(after, vp=after.game.players.vp + s.terminated),
)
fault(
    "ForgivesIllegalActions",
    "illegal action",
    decide=lambda env, _, s, action: StubEnv.decide(
        env, s.replace(legal_action_mask=s.legal_action_mask | True), action
    ),
)


def moves_on(env, after, state, action):
    turn, illegal = after.game.turn, after.terminated & ~ended(after) & ~state.terminated
    turn = turn.replace(setup_done=turn.setup_done + illegal)
    return after.replace(game=after.game.replace(turn=turn))


fault("ChangesOnIllegalActions", "it changed turn.setup_done", decide=moves_on)
fault(
    "Miscounts",
    "step_count is not the number of decisions",
    decide=lambda env, after, *_: after.replace(step_count=after.step_count // 2),
)
fault(
    "NamesNobody",
    "current_player is no player",
    decide=lambda env, after, *_: after.replace(
        current_player=after.current_player + 4 * (after.step_count == 2)
    ),
)


def refuses(env, _, state, action):
    narrow = state.legal_action_mask & (jnp.arange(env.num_actions) > 600)
    return StubEnv.decide(env, state.replace(legal_action_mask=narrow), action)


def sees_debt(env, seen, state, player):
    column = [c.name for c in env.observation_spec.players].index("vp")
    return dataclasses.replace(seen, players=seen.players.at[1, column].set(-3))


fault("RefusesWhatItOffers", "a legal action ended the episode as an illegal one", decide=refuses)
fault("SeesWhatCannotBe", "observation.players column vp is -3, not in 0..999", observe=sees_debt)
fault(
    "WrongDtype",
    "rewards is float16, not float32",
    init_from=lambda env, s, setup: s.replace(rewards=s.rewards.astype(jnp.float16)),
)
fault(
    "InitsTwoWays",
    "init(key) and init_from(draw_setup(key)) differ in game.players.vp",
    init=lambda env, s, key: players(s, vp=s.game.players.vp + 1),
)

# Faults that keep to all shapes and ranges, seen only next to the rules' own answer, or the game's.


def wrong_mask(name, message, spoil):
    """After five decisions the mask is not that of the rules."""

    def change(env, after, state):
        mask = after.legal_action_mask
        return after.replace(legal_action_mask=jnp.where(after.step_count == 5, spoil(mask), mask))

    fault(name, f"after decision 5: legal_action_mask {message} 'mine ", with_mask=change)


SPOILED = {
    "offers": lambda mask: mask.at[jnp.argmin(mask)].set(True),
    "lacks": lambda mask: mask.at[jnp.argmax(mask)].set(False),
    "offers all": lambda mask: mask | True,
}
for name, (kind, spoil) in zip(
    ("OffersOneMore", "LacksOne", "AllowsEverything"), SPOILED.items(), strict=True
):
    wrong_mask(name, kind.split()[0], spoil)
fault(
    "SeatsNobodyElse",
    "seats of player 0 are [0, 0, 0, 0], turn order",
    seats=lambda env, *_: jnp.zeros(env.num_players, jnp.int32),
)
fault(
    "DipsIntoDebt",
    "after decision 4: VP are not in 0..999",
    with_mask=lambda env, after, _: players(
        after, vp=jnp.where(after.step_count == 4, -30_000, after.game.players.vp)
    ),
)
fault(
    "ForgetsTheSource",
    "after decision 3: VP are not the sum of vp_source",
    decide=lambda env, after, s, _: players(
        after, vp_source=after.game.players.vp_source.at[0, 1].add(s.step_count == 2)
    ),
)
fault(
    "LendsOre",
    "after decision 6: resources are negative or above their caps",
    decide=lambda env, after, *_: players(
        after, ore=jnp.where(after.step_count == 6, -1, after.game.players.ore)
    ),
)
fault(
    "SeesNothing",
    "decision 0: player 0 observes cells column planet.",
    observe=lambda env, seen, *_: jax.tree.map(jnp.zeros_like, seen),
)
fault(
    "SeesFromOneSeat",
    "decision 0: player 1 observes players column ",
    observe=lambda env, seen, state, player: StubEnv.observe(env, state, 0),
)
fault(
    "SeesTheStart",
    "decision 64: player 0 observes players column vp row ",
    length=70,
    observe=lambda env, _, state, player: StubEnv.observe(
        env, state.replace(game=env.deal(state.game.setup)), player
    ),
)
fault(
    "DealsOneSetup",
    "32 keys deal the same setup.sector_tile: ",
    draw_setup=lambda env, *_: StubEnv.draw_setup(env, jax.random.key(7)),
)
fault(
    "DealsOneTable",
    "32 keys deal the same setup.faction: ",
    draw_setup=lambda env, setup, _: setup.replace(faction=jnp.array([0, 2, 4, 6], jnp.int8)),
)
fault(
    "InitsOneSetup", "init(key) and init_from(draw_setup(key)) differ in setup.",
    init=lambda env, *_: StubEnv.init(env, jax.random.key(7)),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "message"), FAULTS)
def test_a_broken_promise_is_named(cls, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check(cls(), games=2, seed=0)


# Masks, seats, ranges, observations and draws have tables of their own in each ruleset.
OF_A_RULESET = (
    "OffersOneMore", "LacksOne", "AllowsEverything", "SeatsNobodyElse", "DipsIntoDebt",
    "SeesTheStart", "DealsOneSetup",
)  # fmt: skip


@pytest.mark.parametrize(
    ("id", "cls", "message"),
    [
        pytest.param(*(id, *case.values), id=f"{case.id}-{id}", marks=pytest.mark.slow)
        for case in FAULTS if case.id in OF_A_RULESET
        for id in ("base", "lost_fleet_published")
    ],
)  # fmt: skip
def test_a_broken_promise_is_named_in_every_ruleset(id, cls, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check(cls(RULESETS[id]), games=2, seed=0)


# The game's own rules answer where `check` is given no others.
@pytest.mark.slow
@pytest.mark.parametrize("id", RULESETS)
@pytest.mark.parametrize("fault", SPOILED)
def test_a_wrong_mask_of_the_real_game_is_named(id, fault):
    class Spoiled(gaia_jax.GaiaEnv):
        def with_mask(self, state):
            after = super().with_mask(state)
            mask = after.legal_action_mask
            wrong = jnp.where(after.step_count == 40, SPOILED[fault](mask), mask)
            return after.replace(legal_action_mask=wrong)

    problem = fault.split()[0]
    with pytest.raises(AssertionError, match=f"after decision 40: legal_action_mask {problem} '"):
        testing.check(Spoiled(RULESETS[id]), games=2, seed=0)


# The sampler.


def test_the_sampler_takes_the_kth_legal_action():
    rng = np.random.default_rng(0)
    sample = jax.jit(jax.vmap(sample_legal))
    for density in (0.002, 0.1, 0.9):
        mask = rng.random((500, 1023)) < density
        mask[np.arange(500), rng.integers(1023, size=500)] = True
        uniform = rng.random(500).astype(np.float32)
        uniform[:2] = 0, np.nextafter(np.float32(1), np.float32(0))
        legal = mask.sum(-1)
        k = np.minimum((uniform * legal.astype(np.float32)).astype(int), legal - 1)
        expected = np.argmax(np.cumsum(mask, -1) > k[:, None], -1)
        np.testing.assert_array_equal(sample(mask, uniform), expected)


@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 65])
def test_the_sampler_takes_masks_of_any_width(width):
    for only in (0, width // 2, width - 1):
        mask = np.arange(width) == only
        assert sample_legal(jnp.asarray(mask), jnp.float32(0.999)) == only
