"""The recorded games of the default ruleset still end in the same states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax import actions
from gaia_jax.rules import federation
from gaia_jax.setup import setup_json
from gaia_jax.state import Node
from tests import golden
from tests.conftest import GAMES
from tests.referee.policies import POLICIES

RECORDED = golden.read()
NO_ACTION = 0  # of a game that has ended: changes nothing


def test_the_games_are_varied() -> None:
    assert len(RECORDED) == 20
    assert {game["policy"] for game in RECORDED} == set(POLICIES)
    assert len({faction for game in RECORDED for faction in game["setup"]["factions"]}) == 18


@pytest.fixture(scope="module")
def played(env: Any, step_games: Callable[..., Any]) -> tuple[list[Any], list[Any]]:
    """The last state of each recorded game, and all states at every 8th decision, [GAMES] each."""
    init = jax.jit(jax.vmap(env.init_from))
    ends, moments = [], []
    for first in range(0, len(RECORDED), GAMES):
        games = (RECORDED[first : first + GAMES] + [RECORDED[0]] * GAMES)[:GAMES]
        length = max(len(game["actions"]) for game in games)
        script = np.full((length, GAMES), NO_ACTION, np.int32)
        for lane, game in enumerate(games):
            texts = game["actions"]
            script[: len(texts), lane] = [actions.from_text(env.ruleset, text) for text in texts]
        setups = [setup_json.setup_from_json(game["setup"], env.ruleset) for game in games]
        states = init(jax.tree.map(lambda *x: jnp.stack(x), *setups))
        for number, row in enumerate(script):
            states = step_games(states, row)
            moments += [states] if number % 8 == 0 else []
        states = jax.device_get(states)
        ends += [jax.tree.map(lambda leaf, i=i: leaf[i], states) for i in range(GAMES)]
    return ends[: len(RECORDED)], moments


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_recorded_game_ends_as_it_did(env: Any, played: Any, number: int) -> None:
    recorded, end = RECORDED[number], played[0][number]
    assert recorded["version"] == env.version
    assert end.step_count == len(recorded["actions"])
    assert end.terminated and end.game.turn.node == Node.ENDED
    assert end.game.players.vp.tolist() == recorded["final_vp"]
    assert golden.digests(end.game) == recorded["digests"]


@pytest.mark.slow
def test_a10_what_a_game_remembers_is_what_a_fresh_search_finds(env: Any, played: Any) -> None:
    """Also: a mask is a question, and gives the same whenever it is asked."""
    unknown = {
        "min_satellites_feasible": federation.UNKNOWN_FEASIBLE,
        "max_satellites_infeasible": federation.UNKNOWN_INFEASIBLE,
    }

    def search_afresh(game: Any) -> tuple[Any, Any]:
        forgotten = federation.forget(game.players, np.ones(4, bool))
        game = federation.resolve(env.ruleset, game.replace(players=forgotten))
        return game.federation, env.legal_mask(game)

    search, num_options, num_remembered = jax.jit(jax.vmap(search_afresh)), 0, 0
    for states in played[1]:
        remembered, (fresh, mask) = states.game.federation, search(states.game)
        for name in ("may_form", "addable", "complete"):
            assert np.array_equal(getattr(remembered, name), getattr(fresh, name)), name
        assert np.array_equal(mask, states.legal_action_mask)
        num_options += int(remembered.may_form.sum()) + int((remembered.addable != 0).any(-1).sum())
        at_turn = np.asarray(~states.terminated & (states.game.turn.node == Node.TURN))
        seats = np.arange(GAMES), np.asarray(states.current_player)
        for name, value in unknown.items():
            limit = np.asarray(getattr(states.game.players, name))[seats]
            num_remembered += int((at_turn & (limit != value)).sum())
    assert num_options > 20 and num_remembered > 0
