"""An illegal move never pays: last place, no VP, no share of the win; the report counts it."""

import jax.numpy as jnp
import numpy as np
import pytest
import toy_env
from seatings import ONE_AGAINST_THREE

from training.agents import Agent, random_agent
from training.games.engine import Match
from training.games.report import evaluation_report, format_evaluation
from training.games.stats import places, scores, wins

ENV = toy_env.make("toy")


def best(params, state, mask, key):
    """The mine that pays the most, or any legal action."""
    games = jnp.arange(len(mask))
    worth = state.game.worth[games, state.game.clock]
    gain = jnp.zeros(mask.shape).at[:, : toy_env.C].set(worth)
    return jnp.where(mask, gain + 1, 0).argmax(-1)


def cheat(params, state, mask, key):
    """Plays the best, and illegally as soon as it leads: by far too high, negative, or masked."""
    vp, games = state.game.players.vp.astype(int), jnp.arange(len(mask))
    leads = vp[games, state.current_player] > jnp.sort(vp, axis=-1)[:, -2]
    wrong = jnp.choose(
        games % 3, [jnp.full_like(games, 10**6), -1 - games, mask.argmin(-1)], mode="clip"
    )
    return jnp.where(leads, wrong, best(params, state, mask, key))


@pytest.fixture(scope="module")
def results():
    agents = [Agent("cheat", cheat), random_agent(ENV)]
    return Match(ENV, agents, ONE_AGAINST_THREE, setups=12).play(seed=0)


def test_whoever_moves_illegally_is_last_and_the_game_goes_on(results):
    forfeits = results.illegal > 0
    assert forfeits.sum() >= 24 and not (forfeits & (results.entry == 1)).any()
    forfeit_places = places(results.vp, results.illegal)[forfeits]
    assert (forfeit_places == 4).all()
    assert (wins(results.vp, results.illegal)[forfeits] == 0).all()
    assert (scores(results.vp, results.illegal)[forfeits] == 0).all()
    # The others have a whole game of it: as many decisions as without.
    honest = Match(ENV, [Agent("best", best), random_agent(ENV)], ONE_AGAINST_THREE, setups=12)
    assert (honest.play(seed=0).decisions == results.decisions).all()
    assert (results.decided.sum(-1) == results.decisions).all()


def test_the_report_names_it(results):
    report = evaluation_report(results, ENV.ruleset.ids) | {
        "env": "toy", "env_version": "1", "opponent": "random", "likeliest": False,
    }  # fmt: skip
    moves = report["illegal_moves"]["policy"]
    assert moves["moves"] == results.illegal.sum() and 0 < moves["rate"] < 1
    assert moves["forfeits"] == (results.illegal > 0).any(-1).sum()
    assert report["illegal_moves"]["opponent"]["rate"] == 0
    assert report["games"] == 48
    assert f"policy: {moves['moves']} illegal moves in" in format_evaluation(report)
    lost = (results.illegal > 0).any(-1).mean()
    assert report["win_share"]["policy"]["mean"] <= 1 - lost


def test_places_and_wins_with_forfeits_by_hand():
    vp = np.array([[50, 40, 40, 10], [50, 40, 30, 20]])
    illegal = np.array([[2, 0, 0, 0], [1, 0, 3, 0]])
    assert places(vp, illegal).tolist() == [[4, 1.5, 1.5, 3], [3.5, 1, 3.5, 2]]
    assert wins(vp, illegal).tolist() == [[0, 0.5, 0.5, 0], [0, 1, 0, 0]]
    assert scores(vp, illegal).tolist() == [[0, 40, 40, 10], [0, 40, 0, 20]]
    assert wins(vp[:1], np.ones((1, 4))).tolist() == [[0, 0, 0, 0]]
    assert wins(vp).tolist() == [[1, 0, 0, 0]] * 2
