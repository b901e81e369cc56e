"""docs/lab/random_play.md: the pairs that the tables allow, and counts that are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.coverage import LEAST, POLICIES, TASTES, Count, shortfalls, summary, taken
from benchmarks.options import names, places, possible
from gaia_jax.actions import PLANES, to_text
from gaia_jax.state import NODES
from gaia_jax.testing import sample_legal
from tests.conftest import GAMES

DECISIONS = 60


@pytest.fixture(scope="module")
def played(
    env: Any, new_games: Any, games_under_way: Any, step_games: Callable[..., Any]
) -> list[tuple[Any, np.ndarray]]:
    """States and random actions of decisions from the start and from the middle of GAMES games."""
    rng, out = np.random.default_rng(0), []
    choose = jax.jit(jax.vmap(sample_legal))
    for state in (new_games, games_under_way):
        for _ in range(DECISIONS):
            action = choose(state.legal_action_mask, jnp.asarray(rng.random(GAMES), jnp.float32))
            out.append((state, np.asarray(action)))
            state = step_games(state, action)
    return out


def pair(env: Any, state: Any, game: int, action: int) -> tuple[str, str]:
    """Place and option of a decision, from its text and the set-up."""
    rules, setup, turn = env.ruleset, state.game.setup, state.game.turn
    ids, node = rules.ids, NODES[int(turn.node[game])]
    verb, _, what = to_text(rules, action).partition(" ")
    player = int(state.current_player[game])
    faction = rules.factions[int(setup.faction[game, player])]
    pi = int(state.game.players.built[game, player, 4]) > 0
    where = node
    if node in ("TARGET", "FREE_MINE"):
        waiting = turn.pending_op if node == "TARGET" else turn.free_mine
        where = f"{node}: {rules.operations[int(waiting[game])].id}"
    if verb in PLANES:
        return where, verb
    if verb == "artifact":
        what = ids["artifact"][int(setup.artifacts[game, int(what) - 1])]
    elif verb == "advanced":
        slot = ids["advanced_slot"].index(what)
        what = ids["advanced"][int(setup.advanced[game, slot])]
    elif verb == "token" and what in ids["ship"]:
        kind = int(setup.ship_token[game, ids["ship"].index(what)])
        what = rules.ship_tokens[kind].id
    elif verb == "special" and what == "AC_B":
        what = f"AC_B {faction.id}"
    elif verb == "special" and what == "FACTION":
        tile = int(state.game.players.tinkering[game, player])
        what = f"tinkering {ids['tinkering'][tile]}" if faction.tinkering else faction.special
    elif verb == "free" and node == "TERRANS":
        verb, what = "terrans", what[-1]
    elif verb == "free" and faction.id == "NEVLAS" and pi:
        bundles = [bundle.id for bundle in rules.nevlas_pi_bundles]
        verb = "bundle" if what in bundles else verb
    return where, f"{verb} {what}".strip()


def test_every_decision_is_counted_as_what_it_is(
    env: Any, played: list[tuple[Any, np.ndarray]]
) -> None:
    count = Count(env.ruleset)
    record, expected = count.start(played[0][0]), Counter()
    see = jax.jit(lambda record, state, action, live: count.see(record, state, action, state, live))
    for state, action in played:
        live = ~np.asarray(state.terminated)
        record = see(record, state, jnp.asarray(action), jnp.asarray(live))
        here = jax.device_get(state)
        for game in np.flatnonzero(live):
            expected[pair(env, here, game, int(action[game]))] += 1
    found = taken(env.ruleset, np.asarray(record))
    assert found == dict(expected)
    assert len(found) > 60 and {where for where, _ in found} > {"TURN", "LEECH", "AFTER"}
    assert set(found) <= possible(env.ruleset)


def test_what_is_possible_is_named_once(env: Any) -> None:
    rules = env.ruleset
    assert len(set(names(rules))) == len(names(rules))
    assert len(set(places(rules))) == len(places(rules))
    for where, option in possible(rules):
        assert where in places(rules) and option in names(rules)
    assert {where for where, _ in possible(rules)} == set(places(rules))


@pytest.mark.parametrize(
    ("where", "option"),
    [
        ("TOKEN", "token FT_GLEENS"),  # FED-18: no part of the supply
        ("INCOME", "income CH_LABS"),  # SET-16: labs of this ruleset charge nothing
        ("TARGET: ship TWI_K", "explore TWILIGHT"),  # EXP-01: the own shuttle is there
        ("TURN", "free T3_to_2O"),  # FRE-07: with the PI it is paid in whole tokens
        ("FEDERATION", "commit"),  # FED-02: no surplus here
        ("TURN", "skip"),
    ],
)
def test_what_is_impossible_follows_from_the_tables(env: Any, where: str, option: str) -> None:
    assert (where, option) not in possible(env.ruleset)


def test_what_is_missing_and_what_is_wrong_is_said(env: Any) -> None:
    rules = env.ruleset
    enough = dict.fromkeys(possible(rules), LEAST)
    assert shortfalls(rules, enough) == ([], [])
    enough[("TOKEN", "token FT_GLEENS")] = 1
    enough[("LOST_PLANET", "pick")] = LEAST - 1
    assert shortfalls(rules, enough) == (
        [("TOKEN", "token FT_GLEENS")],
        [("LOST_PLANET", "pick")],
    )
    text = summary(rules, {"random": 5}, enough)
    assert "rare: LOST_PLANET: pick: 19" in text
    assert "impossible, but taken: TOKEN: token FT_GLEENS: 1" in text


def test_the_number_of_possible_pairs_is_that_of_the_lab(env: Any) -> None:
    """docs/lab/random_play.md."""
    assert len(possible(env.ruleset)) == 353


def test_the_policies_fit_the_action_index(env: Any) -> None:
    shape = (TASTES, len(NODES), env.num_actions)
    for policy in POLICIES:
        weights = policy.tables(env.ruleset, TASTES).weights
        assert weights.shape == shape and (weights > 0).all()
