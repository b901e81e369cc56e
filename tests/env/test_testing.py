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
    with pytest.raises(ValueError, match="games must be at least 1, not 0"):
        check(StubEnv(), games=0)


@pytest.mark.parametrize("env", [None, "base", gaia_jax.auto_reset(gaia_jax.make())])
def test_what_is_no_environment_is_refused(env):
    with pytest.raises(TypeError, match="env must be what gaia_jax.make makes, not"):
        testing.check(env)


# Environments with one fault each, and what `check` says of it.


def faulty(message):
    """Note what must be said of a class of environments."""

    def note(cls):
        FAULTS.append(pytest.param(cls, message, id=cls.__name__))
        return dataclasses.dataclass(frozen=True, repr=False)(cls)

    return note


FAULTS: list = []


@faulty("game 0 starts with an empty legal_action_mask")
class StartsStuck(StubEnv):
    def init_from(self, setup):
        state = super().init_from(setup)
        return state.replace(legal_action_mask=state.legal_action_mask & False)


@faulty("game 0, after decision 4: legal_action_mask is empty")
class GetsStuck(StubEnv):
    def legal_mask(self, game):
        return super().legal_mask(game) & (game.turn.setup_done < 4)


@faulty("is neither terminated nor truncated after 128 decisions")
class NeverEnds(StubEnv):
    reward: str = "vp"
    max_steps: int = 128
    length: int = 10_000

    def decide(self, state, action):
        after = super().decide(state, action)
        return after.replace(truncated=after.truncated & False)


@faulty("legal_action_mask is not all True")
class ForgetsTheFullMask(StubEnv):
    def with_mask(self, state):
        return state.replace(legal_action_mask=jnp.arange(self.num_actions) % 2 == 0)


@faulty("rewards were paid before the end")
class PaysEarly(StubEnv):
    def step(self, state, action):
        after = super().step(state, action)
        return after.replace(rewards=jnp.where(after.step_count == 3, 0.5, after.rewards))


@faulty("rewards sum to")
class PaysWrong(StubEnv):
    def step(self, state, action):
        after = super().step(state, action)
        ended = after.game.turn.node == Node.ENDED
        return after.replace(rewards=jnp.where(ended, 2 * after.rewards, after.rewards))


@faulty("after the end changed game.players.vp")
class ThawsAfterTheEnd(StubEnv):
    def decide(self, state, action):
        after = super().decide(state, action)
        players = after.game.players
        players = players.replace(vp=players.vp + state.terminated)
        return after.replace(game=after.game.replace(players=players))


@faulty("illegal action")
class ForgivesIllegalActions(StubEnv):
    def decide(self, state, action):
        return super().decide(
            state.replace(legal_action_mask=state.legal_action_mask | True), action
        )


@faulty("it changed turn.setup_done")
class ChangesOnIllegalActions(StubEnv):
    def decide(self, state, action):
        after = super().decide(state, action)
        illegal = after.terminated & (after.game.turn.node != Node.ENDED) & ~state.terminated
        turn = after.game.turn
        turn = turn.replace(setup_done=turn.setup_done + illegal)
        return after.replace(game=after.game.replace(turn=turn))


@faulty("step_count is not the number of decisions")
class Miscounts(StubEnv):
    def decide(self, state, action):
        after = super().decide(state, action)
        return after.replace(step_count=after.step_count // 2)


@faulty("current_player is no player")
class NamesNobody(StubEnv):
    def decide(self, state, action):
        after = super().decide(state, action)
        return after.replace(current_player=after.current_player + 4 * (after.step_count == 2))


@faulty("a legal action ended the episode as an illegal one")
class RefusesWhatItOffers(StubEnv):
    def decide(self, state, action):
        narrow = state.legal_action_mask & (jnp.arange(self.num_actions) > 600)
        return super().decide(state.replace(legal_action_mask=narrow), action)


@faulty("observation.players column vp is -3, not in 0..999")
class SeesWhatCannotBe(StubEnv):
    def observe(self, state, player):
        seen = super().observe(state, player)
        column = [c.name for c in self.observation_spec.players].index("vp")
        return dataclasses.replace(seen, players=seen.players.at[1, column].set(-3))


@faulty("rewards is float16, not float32")
class WrongDtype(StubEnv):
    def init_from(self, setup):
        state = super().init_from(setup)
        return state.replace(rewards=state.rewards.astype(jnp.float16))


@faulty("init(key) and init_from(draw_setup(key)) differ in game.players.vp")
class InitsTwoWays(StubEnv):
    def init(self, key):
        state = super().init(key)
        players = state.game.players
        players = players.replace(vp=players.vp + 1)
        return state.replace(game=state.game.replace(players=players))


# Faults that keep to all shapes and ranges, seen only beside the rules' own answer, or the game's.


class WrongMask(StubEnv):
    """After five decisions the mask is not the rules'."""

    def spoil(self, mask):
        raise NotImplementedError

    def with_mask(self, state):
        after = super().with_mask(state)
        mask = after.legal_action_mask
        wrong = jnp.where(after.step_count == 5, self.spoil(mask), mask)
        return after.replace(legal_action_mask=wrong)


@faulty("after decision 5: legal_action_mask offers 'mine ")
class OffersOneMore(WrongMask):
    def spoil(self, mask):
        return mask.at[jnp.argmin(mask)].set(True)


@faulty("after decision 5: legal_action_mask lacks 'mine ")
class LacksOne(WrongMask):
    def spoil(self, mask):
        return mask.at[jnp.argmax(mask)].set(False)


@faulty("after decision 5: legal_action_mask offers 'mine ")
class AllowsEverything(WrongMask):
    def spoil(self, mask):
        return mask | True


@faulty("seats of player 0 are [0, 0, 0, 0], turn order")
class SeatsNobodyElse(StubEnv):
    def seats(self, state, player):
        return jnp.zeros(self.num_players, jnp.int32)


@faulty("after decision 4: VP are not in 0..999")
class DipsIntoDebt(StubEnv):
    def with_mask(self, state):
        after = super().with_mask(state)
        players = after.game.players
        vp = jnp.where(after.step_count == 4, -30_000, players.vp)
        return after.replace(game=after.game.replace(players=players.replace(vp=vp)))


@faulty("after decision 3: VP are not the sum of vp_source")
class ForgetsTheSource(StubEnv):
    def decide(self, state, action):
        after = super().decide(state, action)
        players = after.game.players
        source = players.vp_source.at[0, 1].add(state.step_count == 2)
        return after.replace(game=after.game.replace(players=players.replace(vp_source=source)))


@faulty("after decision 6: resources are negative or above their caps")
class LendsOre(StubEnv):
    def decide(self, state, action):
        after = super().decide(state, action)
        players = after.game.players
        ore = jnp.where(after.step_count == 6, -1, players.ore)
        return after.replace(game=after.game.replace(players=players.replace(ore=ore)))


@faulty("decision 0: player 0 observes cells column planet.")
class SeesNothing(StubEnv):
    def observe(self, state, player):
        return jax.tree.map(jnp.zeros_like, super().observe(state, player))


@faulty("decision 0: player 1 observes players column ")
class SeesFromOneSeat(StubEnv):
    def observe(self, state, player):
        return super().observe(state, 0)


@faulty("decision 64: player 0 observes players column vp row ")
class SeesTheStart(StubEnv):
    length: int = 70

    def observe(self, state, player):
        start = self.deal(state.game.setup)
        return super().observe(state.replace(game=start), player)


@faulty("32 keys deal the same setup.sector_tile: ")
class DealsOneSetup(StubEnv):
    def draw_setup(self, key):
        return super().draw_setup(jax.random.key(7))


@faulty("32 keys deal the same setup.faction: ")
class DealsOneTable(StubEnv):
    def draw_setup(self, key):
        return super().draw_setup(key).replace(faction=jnp.array([0, 2, 4, 6], jnp.int8))


@faulty("init(key) and init_from(draw_setup(key)) differ in setup.")
class InitsOneSetup(StubEnv):
    def init(self, key):
        return super().init(jax.random.key(7))


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
        pytest.param(
            *(id, *fault.values),
            id=f"{fault.id}-{id}",
            marks=pytest.mark.slow,
        )
        for fault in FAULTS if fault.id in OF_A_RULESET
        for id in ("base", "lost_fleet_published")
    ],
)  # fmt: skip
def test_a_broken_promise_is_named_in_every_ruleset(id, cls, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check(cls(RULESETS[id]), games=2, seed=0)


def test_the_table_of_faults_is_whole():
    assert len(FAULTS) >= 21 and {fault.id for fault in FAULTS} >= set(OF_A_RULESET)


# The game's own rules answer where `check` is given no others.
@pytest.mark.slow
@pytest.mark.parametrize("id", RULESETS)
@pytest.mark.parametrize("fault", ["offers", "lacks", "offers all"])
def test_a_wrong_mask_of_the_real_game_is_named(id, fault):
    class Spoiled(gaia_jax.GaiaEnv):
        def with_mask(self, state):
            after = super().with_mask(state)
            mask = after.legal_action_mask
            wrong = {
                "offers": mask.at[jnp.argmin(mask)].set(True),
                "lacks": mask.at[jnp.argmax(mask)].set(False),
                "offers all": mask | True,
            }[fault]
            wrong = jnp.where(after.step_count == 40, wrong, mask)
            return after.replace(legal_action_mask=wrong)

    says = fault.split()[0]
    with pytest.raises(AssertionError, match=f"after decision 40: legal_action_mask {says} '"):
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
        wanted = np.argmax(np.cumsum(mask, -1) > k[:, None], -1)
        np.testing.assert_array_equal(sample(mask, uniform), wanted)


@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 65])
def test_the_sampler_takes_masks_of_any_width(width):
    for only in (0, width // 2, width - 1):
        mask = np.arange(width) == only
        assert sample_legal(jnp.asarray(mask), jnp.float32(0.999)) == only
