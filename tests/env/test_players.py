"""The printed games for two and three players: what the number of players changes (PLA)."""

from __future__ import annotations

import itertools
import json
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import render, replay
from gaia_jax.components import base_game, published
from gaia_jax.rules.scoring import prizes
from gaia_jax.ruleset import (
    BASE,
    BASE_FOR_TWO,
    PUBLISHED_FOR_THREE,
    PUBLISHED_FOR_TWO,
    RULESETS,
    VARIANTS,
)
from gaia_jax.setup.draw import board_planets, draw_tables, same_types_touch
from gaia_jax.setup.setup_json import setup_to_dict
from gaia_jax.state import Turn
from tests.trees import same, take_row

FEW = [(id, players) for id in ("base", "lost_fleet_published") for players in (2, 3)]
SETUPS = 256


@pytest.fixture(scope="module", params=FEW, ids=lambda variant: f"{variant[0]}-{variant[1]}")
def env(request: Any) -> Any:
    id, players = request.param
    return gaia_jax.make(id, players=players)


@pytest.fixture(scope="module")
def drawn(env: Any) -> Any:
    return jax.jit(jax.vmap(env.draw_setup))(jax.random.split(jax.random.key(0), SETUPS))


def test_pla_01_only_the_printed_games_are_for_fewer_than_four() -> None:
    assert {id for id, players in VARIANTS if players in (2, 3)} == set(RULESETS) - {"lost_fleet"}
    with pytest.raises(ValueError, match="'lost_fleet' is a game for 4 players, not 2"):
        gaia_jax.make("lost_fleet", players=2)
    with pytest.raises(ValueError, match="'lost_fleet' is a game for 4 players, not 1"):
        gaia_jax.make("lost_fleet", players=1)
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
    tiles = len(ruleset.map.sector_tiles)
    assert tiles == (7 if players == 2 else 10 if env.id == "base" else 9)
    assert (np.sort(drawn.sector_tile) == np.arange(tiles)).all()
    laid = jax.jit(jax.vmap(partial(board_planets, ruleset=ruleset)))(drawn)
    touch = jax.vmap(partial(same_types_touch, tables=draw_tables(ruleset)))(laid)
    assert not touch.any()
    middle = np.asarray(drawn.sector_tile)[:, list(ruleset.map.center_slots)]
    pool = [t.id for t in ruleset.map.sector_tiles if t.id in ruleset.map.center_pool]
    assert (middle < len(pool)).all()
    boards = [{a, b} for a, b in ruleset.faction_boards]
    names = np.array(ruleset.ids["faction"])[np.asarray(drawn.faction)]
    assert all(sum(bool(board & set(seats)) for board in boards) == players for seats in names)


def test_pla_03_the_other_sides_of_three_tiles() -> None:
    usual, for_two = (
        {t.id: dict(t.planets) for t in r.map.sector_tiles} for r in (BASE, BASE_FOR_TWO)
    )
    assert [*for_two] == ["M01", "M02", "M03", "M04", "M05B", "M06B", "M07B"]
    differences = {
        id: sorted(usual[id].items() - for_two[f"{id}B"].items()) for id in ("M05", "M06", "M07")
    }
    assert differences["M05"] == [((0, -2), "Yellow")]
    assert differences["M06"] == [((-1, 1), "Brown")]
    assert differences["M07"] == [((0, 1), "Red"), ((1, -1), "Gaia"), ((1, 1), "Brown")]
    assert sorted(for_two["M07B"].items() - usual["M07"].items()) == [
        ((0, 1), "Gaia"),
        ((1, -1), "Brown"),
    ]


@pytest.mark.parametrize(("players", "cells", "neighbours"), [(2, 157, 0), (3, 203, 1)])
def test_pla_08_the_map_of_the_lost_fleet(players: int, cells: int, neighbours: int) -> None:
    rules = gaia_jax.make("lost_fleet_published", players=players).ruleset
    geometry, parts = rules.geometry, rules.map
    assert geometry.num_cells == cells
    main = geometry.num_main_sectors
    around = geometry.sector[geometry.neighbors[geometry.interface_cells]]
    assert (geometry.neighbors[geometry.interface_cells] >= 0).all()
    assert ((around >= 0) & (around < main)).all()  # single holes between sector tiles
    deep = geometry.deep_cells
    assert (geometry.distance[deep[:, :, None], deep[:, None]] <= 1).all()
    for slot, group in zip(parts.deep_slots, deep, strict=True):
        (q, r), *others = slot.cells  # as the tile, or turned by 60 degrees (MAP-10)
        turned = {"A": [(q + 1, r), (q + 1, r - 1)], "B": [(q, r - 1), (q + 1, r - 1)]}
        assert others == turned[slot.orientation]
        touched = geometry.neighbors[group]
        near = set(geometry.sector[touched[touched >= 0]].tolist())
        assert len(near & set(range(main))) == 2  # between two sector tiles
    pairs = itertools.combinations(deep, 2)
    assert sum(geometry.distance[np.ix_(a, b)].min() == 1 for a, b in pairs) == neighbours
    holes = [geometry.interface_cells[list(chosen)] for chosen in parts.ship_cell_sets]
    distances = {int(d) for h in holes for d in geometry.distance[np.ix_(h, h)].ravel()} - {0}
    assert min(distances) == 5 and (players == 3 or distances == {5})
    assert len(parts.interface_cells) == len(rules.ships) + len(parts.interface_tiles)


def test_pla_10_the_asteroid_mission_has_six_asteroids(env: Any, drawn: Any) -> None:
    rules = env.ruleset
    if rules.map.required_planets is None:
        return
    laid = np.asarray(jax.vmap(partial(board_planets, ruleset=rules))(drawn))
    asteroids = (laid == rules.ids["planet"].index("Asteroid")).sum(-1)
    mission = rules.final_missions.index("ASTEROID_BUILDINGS")
    counted = (np.asarray(drawn.final_missions) == mission).any(-1)
    assert asteroids[counted].min() >= 6 and asteroids[~counted].min() == 5
    index = np.flatnonzero(asteroids == 5)[0]
    data = setup_to_dict(take_row(drawn, int(index)), rules)
    data["final_missions"] = ["ASTEROID_BUILDINGS", "BUILDINGS"]
    with pytest.raises(ValueError, match="deep: ASTEROID_BUILDINGS requires 6 Asteroid .* 'DS6A'"):
        gaia_jax.setup_from_json(data, rules)
    turned = [x | {"tile": x["tile"].replace("DS6A", "DS6B")} for x in data["deep"]]
    laid = np.asarray(
        board_planets(gaia_jax.setup_from_json(data | {"deep": turned}, rules), rules)
    )
    assert (laid == rules.ids["planet"].index("Asteroid")).sum() == 7


def test_set_ups_are_written_and_read(env: Any, drawn: Any) -> None:
    setup = take_row(drawn, 0)
    written = gaia_jax.setup_to_json(setup, env.ruleset)
    assert f'"players": {env.num_players}' in written
    back = gaia_jax.setup_from_json(written, env.ruleset)
    assert same(setup, back)
    for_four = RULESETS[env.id]
    with pytest.raises(ValueError, match="players, this game for 4"):
        gaia_jax.setup_from_json(written, for_four)
    data = setup_to_dict(setup, env.ruleset)
    del data["players"]
    gaia_jax.setup_from_json(data, env.ruleset)
    with pytest.raises(ValueError, match=r"must be a list of \d+"):
        gaia_jax.setup_from_json(data, for_four)


def test_pla_04_three_may_leave_out_two_tiles() -> None:
    env = gaia_jax.make("base", players=3)
    setup = env.draw_setup(jax.random.key(1), small=True)
    assert setup.sector_tile[8:].tolist() == [-1, -1]
    assert sorted(setup.sector_tile[:8].tolist()) == list(range(8))
    data = setup_to_dict(setup, env.ruleset)
    assert len(data["sectors"]) == 8
    back = gaia_jax.setup_from_json(data, env.ruleset)
    assert same(setup, back)
    geometry, planets = env.ruleset.geometry, env.ruleset.ids["planet"]
    laid = np.asarray(board_planets(setup, env.ruleset))
    off = np.isin(geometry.sector, (8, 9))
    assert ((laid == planets.index("Ship")) == off).all()
    for players in (2, 4):
        with pytest.raises(ValueError, match="has no small map"):
            gaia_jax.make("base", players=players).draw_setup(jax.random.key(1), small=True)
    data["sectors"][0]["tile"] = "M09"
    with pytest.raises(ValueError, match="unknown value 'M09'"):
        gaia_jax.setup_from_json(data, env.ruleset)


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


@pytest.mark.parametrize(("mission", "count"), published.NEUTRAL_PLAYER.items())
def test_pla_14_the_neutral_player_of_the_lost_fleet(mission: str, count: int) -> None:
    """Who counts as much shares with it, who counts one more is first."""
    number = jnp.int8(PUBLISHED_FOR_TWO.final_missions.index(mission))
    counts = jnp.array([count + 1, count])
    assert prizes(PUBLISHED_FOR_TWO, counts, number).tolist() == [18, 9]


def test_pla_06_three_have_no_neutral_player() -> None:
    assert not PUBLISHED_FOR_THREE.neutral_player
    three = gaia_jax.make("base", players=3).ruleset
    assert not three.neutral_player and not BASE.neutral_player
    assert prizes(three, jnp.array([5, 3, 5]), jnp.int8(0)).tolist() == [15, 6, 15]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_pla_07_the_first_game(players: int) -> None:
    env = gaia_jax.make("base", players=players)
    data = setup_to_dict(gaia_jax.first_game(players), env.ruleset)
    assert data["factions"] == list(base_game.FIRST_FACTIONS[players])
    numbers = [int(tile["tile"][1:3]) for tile in data["sectors"]]
    assert numbers == list(range(1, 1 + len(numbers)))
    gaia_jax.setup_from_json(data, env.ruleset)  # no two planets of one type touch
    other = gaia_jax.first_game(players, jax.random.key(5))
    assert setup_to_dict(other, env.ruleset)["boosters"] != data["boosters"]


def test_states_of_another_number_of_players_are_refused(env: Any) -> None:
    state = jax.eval_shape(env.init, jax.random.key(0))
    message = f"state is of {env.num_players} players, this environment is for 4"
    with pytest.raises(ValueError, match=message):
        gaia_jax.make(env.id).observe(state, 0)


@pytest.mark.slow  # the game for four is held to it in every run: test_testing.py
@pytest.mark.parametrize(("id", "players"), FEW)
def test_the_contract(id: str, players: int) -> None:
    env = gaia_jax.make(id, players=players)
    played = gaia_jax.testing.check(env, games=16, seed=players)
    assert played.vp.shape == (16, players)
    assert np.abs(played.rewards.sum(-1)).max() < 1e-5


@pytest.mark.slow
def test_a_record_and_its_picture() -> None:
    env = gaia_jax.make("base", players=2)
    init_from, step = replay.compiled(env)
    setup = gaia_jax.first_game(2)
    state, actions = init_from(setup), []
    for _ in range(12):
        actions.append(int(jnp.argmax(state.legal_action_mask)))
        state = step(state, actions[-1])
    record = replay.Record.of(env, setup, actions, ())
    replayed = replay.parse(json.loads(replay.to_text(record)))
    assert same(replay.play(replayed), state)
    assert "for 2 players" in render.svg(state)
    assert "neutral: " in render.text(state)


@pytest.mark.slow  # each traces the scripted player for 4 s
@pytest.mark.parametrize(("id", "players"), sorted(VARIANTS.keys() - {("lost_fleet", 4)}))
def test_the_scripted_player_plays_every_variant(id: str, players: int) -> None:
    from training.agents import make_agent

    env = gaia_jax.make(id, players=players)
    greedy = make_agent("greedy", env)
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))
    state = jax.eval_shape(jax.vmap(env.init), keys)
    key = jax.eval_shape(lambda: jax.random.key(0))
    chosen = jax.eval_shape(greedy.act, greedy.params, state, state.legal_action_mask, key)
    assert chosen.shape == (3,)
