"""The base game for two and three players: what the number of players changes (PLA)."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import render, replay
from gaia_jax.components import base_game
from gaia_jax.rules.scoring import prizes
from gaia_jax.ruleset import BASE, BASE_FOR_TWO, RULESETS, VARIANTS
from gaia_jax.setup.draw import board_planets, draw_tables, same_types_touch
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Turn
from tests.trees import one

FEW = (2, 3)
SETUPS = 256


@pytest.fixture(scope="module", params=FEW)
def env(request: Any) -> Any:
    return gaia_jax.make("base", players=request.param)


@pytest.fixture(scope="module")
def drawn(env: Any) -> Any:
    return jax.jit(jax.vmap(env.draw_setup))(jax.random.split(jax.random.key(0), SETUPS))


def test_pla_01_only_the_base_game_is_for_fewer_than_four() -> None:
    assert {id for id, players in VARIANTS if players != 4} == {"base"}
    for id in set(RULESETS) - {"base"}:
        with pytest.raises(ValueError, match=f"'{id}' is a game for 4 players, not 2"):
            gaia_jax.make(id, players=2)
    for wrong in (0, 5, True, 2.0, "2", None):
        with pytest.raises(ValueError, match="'base' is a game for 1, 2, 3, 4 players, not"):
            gaia_jax.make("base", players=wrong)


def test_pla_01_every_array_has_the_players(env: Any) -> None:
    players = env.num_players
    state = jax.eval_shape(env.init, jax.random.key(0))
    game = state.game
    assert state.rewards.shape == (players,)
    assert game.players.small.shape[0] == game.steps.shape[0] == players
    assert game.setup.faction.shape == game.setup.turn_order.shape == (players,)
    layout = Turn.layout(players)
    sizes = {name: field.lengths for name, field in layout.items() if field.shape}
    assert sizes["order"] == sizes["passed"] == (players,)
    assert sizes["leech"] == (3, players)
    seen = jax.eval_shape(lambda state: env.observe(state, 0), state)
    assert seen.players.shape[0] == players
    owners = [x.name for x in env.observation_spec.cells if x.name.startswith("owner.")]
    assert len(owners) == players


def test_pla_02_and_03_drawn_set_ups(env: Any, drawn: Any) -> None:
    players, ruleset = env.num_players, env.ruleset
    assert drawn.boosters.shape == (SETUPS, players + 3)
    assert (np.sort(drawn.turn_order) == np.arange(players)).all()
    tiles = {2: 7, 3: 10}[players]
    assert (np.sort(drawn.sector_tile) == np.arange(tiles)).all()
    laid = jax.jit(jax.vmap(partial(board_planets, ruleset=ruleset)))(drawn)
    touch = jax.vmap(partial(same_types_touch, tables=draw_tables(ruleset)))(laid)
    assert not touch.any()
    boards = [{a, b} for a, b in ruleset.faction_boards]
    names = np.array(ruleset.ids["faction"])[np.asarray(drawn.faction)]
    assert all(sum(bool(board & set(seats)) for board in boards) == players for seats in names)


def test_pla_03_the_other_sides_of_three_tiles() -> None:
    one, other = ({t.id: dict(t.planets) for t in r.map.sector_tiles} for r in (BASE, BASE_FOR_TWO))
    assert [*other] == ["M01", "M02", "M03", "M04", "M05B", "M06B", "M07B"]
    gone = {id: sorted(one[id].items() - other[f"{id}B"].items()) for id in ("M05", "M06", "M07")}
    assert gone["M05"] == [((0, -2), "Yellow")]
    assert gone["M06"] == [((-1, 1), "Brown")]
    assert gone["M07"] == [((0, 1), "Red"), ((1, -1), "Gaia"), ((1, 1), "Brown")]
    assert sorted(other["M07B"].items() - one["M07"].items()) == [
        ((0, 1), "Gaia"),
        ((1, -1), "Brown"),
    ]


def test_set_ups_are_written_and_read(env: Any, drawn: Any) -> None:
    setup = one(drawn, 0)
    written = gaia_jax.setup_to_json(setup, env.ruleset)
    assert f'"players": {env.num_players}' in written
    back = gaia_jax.setup_from_json(written, env.ruleset)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), setup, back))
    with pytest.raises(ValueError, match="players, this game for 4"):
        gaia_jax.setup_from_json(written, BASE)
    told = setup_to_dict(setup, env.ruleset)
    del told["players"]
    gaia_jax.setup_from_json(told, env.ruleset)
    with pytest.raises(ValueError, match=r"a list of \d+ is wanted"):
        gaia_jax.setup_from_json(told, BASE)


def test_pla_04_three_may_leave_out_two_tiles() -> None:
    env = gaia_jax.make("base", players=3)
    setup = env.draw_setup(jax.random.key(1), small=True)
    assert setup.sector_tile[8:].tolist() == [-1, -1]
    assert sorted(setup.sector_tile[:8].tolist()) == list(range(8))
    told = setup_to_dict(setup, env.ruleset)
    assert len(told["sectors"]) == 8
    back = gaia_jax.setup_from_json(told, env.ruleset)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), setup, back))
    geometry, planets = env.ruleset.geometry, env.ruleset.ids["planet"]
    laid = np.asarray(board_planets(setup, env.ruleset))
    off = np.isin(geometry.sector, (8, 9))
    assert ((laid == planets.index("Ship")) == off).all()
    for players in (2, 4):
        with pytest.raises(ValueError, match="has no small map"):
            gaia_jax.make("base", players=players).draw_setup(jax.random.key(1), small=True)
    told["sectors"][0]["tile"] = "M09"
    with pytest.raises(ValueError, match="unknown value 'M09'"):
        gaia_jax.setup_from_json(told, env.ruleset)


@pytest.mark.parametrize(
    ("counts", "right"),
    [
        ((12, 4), (18, 6)),  # the neutral player, 11, is between them
        ((12, 12), (15, 15)),
        ((11, 4), (15, 6)),  # shares the first two places with the neutral player
        ((11, 11), (12, 12)),
        ((3, 3), (9, 9)),
        ((3, 0), (12, 0)),
        ((0, 0), (0, 0)),
    ],
)
def test_pla_06_the_neutral_player_takes_a_rank(
    counts: tuple[int, int], right: tuple[int, int]
) -> None:
    mission = jnp.int8(BASE_FOR_TWO.ids["final_mission"].index("BUILDINGS"))
    assert base_game.NEUTRAL_PLAYER["BUILDINGS"] == 11
    assert prizes(BASE_FOR_TWO, jnp.array(counts), mission).tolist() == list(right)


def test_pla_06_three_have_no_neutral_player() -> None:
    three = gaia_jax.make("base", players=3).ruleset
    assert not three.neutral_player and not BASE.neutral_player
    assert prizes(three, jnp.array([5, 3, 5]), jnp.int8(0)).tolist() == [15, 6, 15]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_pla_07_the_first_game(players: int) -> None:
    env = gaia_jax.make("base", players=players)
    told = setup_to_dict(gaia_jax.first_game(players), env.ruleset)
    assert told["factions"] == list(base_game.FIRST_FACTIONS[players])
    numbers = [int(tile["tile"][1:3]) for tile in told["sectors"]]
    assert numbers == list(range(1, 1 + len(numbers)))
    gaia_jax.setup_from_json(told, env.ruleset)  # no two planets of one type touch
    other = gaia_jax.first_game(players, jax.random.key(5))
    assert setup_to_dict(other, env.ruleset)["boosters"] != told["boosters"]


def test_states_of_another_number_of_players_are_refused(env: Any) -> None:
    state = jax.eval_shape(env.init, jax.random.key(0))
    wanted = f"state is of {env.num_players} players, this environment is for 4"
    with pytest.raises(ValueError, match=wanted):
        gaia_jax.make("base").observe(state, 0)


@pytest.mark.slow  # the game for four is held to it in every run: test_testing.py
@pytest.mark.parametrize("players", [2, 3])
def test_the_contract(players: int) -> None:
    env = gaia_jax.make("base", players=players)
    played = gaia_jax.testing.check(env, games=16, seed=players)
    assert played.vp.shape == (16, players)
    assert np.abs(played.rewards.sum(-1)).max() < 1e-5


@pytest.mark.slow
def test_a_record_and_its_picture() -> None:
    env = gaia_jax.make("base", players=2)
    init_from, step = replay.compiled(env)
    setup = gaia_jax.first_game(2)
    state, taken = init_from(setup), []
    for _ in range(12):
        taken.append(int(jnp.argmax(state.legal_action_mask)))
        state = step(state, taken[-1])
    record = replay.Record.of(env, setup, taken, ())
    again = replay.parse(json.loads(replay.to_text(record)))
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), replay.play(again), state))
    assert "for 2 players" in render.svg(state)
    assert "neutral: " in render.text(state)


SLOW = pytest.mark.slow  # each traces the scripted player for 4 s


@pytest.mark.slow
@pytest.mark.parametrize(
    ("id", "players"),
    [
        ("base", 2),
        *(
            pytest.param(*variant, marks=SLOW)
            for variant in sorted(VARIANTS)
            if variant not in {("lost_fleet", 4), ("base", 2)}
        ),
    ],
)
def test_the_scripted_player_plays_every_variant(id: str, players: int) -> None:
    from training.agents import make_agent

    env = gaia_jax.make(id, players=players)
    greedy = make_agent("greedy", env)
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))
    state = jax.eval_shape(jax.vmap(env.init), keys)
    key = jax.eval_shape(lambda: jax.random.key(0))
    chosen = jax.eval_shape(greedy.act, greedy.params, state, state.legal_action_mask, key)
    assert chosen.shape == (3,)
