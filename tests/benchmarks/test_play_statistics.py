"""Games that prefer federating: every federation holds, and the checks see one that does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import formings
from benchmarks.formings import Formings, Log, between, bounds, changed, checks
from benchmarks.games import Policy
from benchmarks.play_statistics import FEDERATING, page
from gaia_jax.testing import sample_legal
from tests.conftest import ENOUGH, GAMES

HIVE = "HIVES"


@pytest.fixture(scope="module")
def decisions(env: Any, new_games: Any, step_games: Callable[..., Any]) -> list[tuple[Any, Any]]:
    """States of GAMES games before and after each decision that formed a federation in one."""
    policy = FEDERATING.tables(env.ruleset)
    taste = jnp.zeros(env.num_players, jnp.int32)
    choose = jax.jit(jax.vmap(lambda s, u: policy.choose(env.ruleset, s, taste, u)))
    rng, state, out = np.random.default_rng(0), new_games, []
    for _ in range(ENOUGH):
        uniform = jnp.asarray(rng.random(GAMES), jnp.float32)
        after = step_games(state, choose(state, uniform))
        if np.asarray(changed(state, after)).any():
            out.append((jax.device_get(state), jax.device_get(after)))
        if np.asarray(after.terminated).all():
            break
        state = after
    return out


@pytest.fixture(scope="module")
def formed(decisions: list[tuple[Any, Any]]) -> Formings:
    """The federations of these games."""
    rows = []
    for before, after in decisions:
        all_games = between(before, after, np.arange(GAMES), before.step_count)
        here = np.asarray(changed(before, after))
        rows.append(jax.tree.map(lambda x, here=here: np.asarray(x)[here], all_games))
    return jax.tree.map(lambda *x: np.concatenate(x), *rows)


def broken(env: Any, e: Formings) -> set[str]:
    found = checks(env.ruleset, e)
    assert all(ok.dtype == bool for ok in found.values())  # callers negate them with ~
    return {name for name, ok in found.items() if not ok.all()}


@pytest.mark.slow
def test_fed_01_every_federation_holds(env: Any, formed: Formings) -> None:
    assert len(formed.player) > GAMES
    assert broken(env, formed) == set()


def one(env: Any, formed: Formings, grows: bool = False) -> Formings:
    """A first federation that laid satellites and was paid in tokens."""
    rows = np.arange(len(formed.player))
    laid = (np.asarray(formed.players_after.satellites) - np.asarray(formed.players.satellites))[
        rows, formed.player
    ]
    hive = formed.faction == env.ruleset.ids["faction"].index(HIVE)
    first = np.asarray(formed.players.formed)[rows, formed.player] == 0
    row = np.flatnonzero((laid > 1) & ~hive & first)[0]
    return jax.tree.map(lambda x: np.array(x)[row : row + 1], formed)


def own_cells(e: Formings, shift: int) -> np.ndarray:
    """Cells of the new federation: its satellites (0) or its members (4)."""
    bit = 1 << (int(e.player[0]) + shift)
    return np.flatnonzero(e.federation_bits_after[0] & ~e.federation_bits[0] & bit)


def change(e: Formings, name: str, player: int, value: Any, after: bool = True) -> Formings:
    """The row with a field of a player changed, after the decision or before it."""
    which = "players_after" if after else "players"
    players = getattr(e, which)
    field = np.array(getattr(players, name))
    field[0, player] = value
    return e.replace(**{which: players.replace(**{name: jnp.asarray(field)})})


def test_fed_05_a_neighbouring_federation_is_seen(env: Any, formed: Formings) -> None:
    e = one(env, formed)
    cells = np.union1d(own_cells(e, 0), own_cells(e, 4))
    around = np.flatnonzero((env.ruleset.geometry.distance[cells] == 1).any(0))
    beside = np.setdiff1d(around, cells)[0]
    for federation_bits in (e.federation_bits, e.federation_bits_after):
        federation_bits[0, beside] |= 1 << e.player[0]  # a satellite that lay there before
    assert "it touches no other federation of its owner" in broken(env, e)


def test_fed_06_a_satellite_that_nobody_paid_is_seen(env: Any, formed: Formings) -> None:
    e, player = one(env, formed), int(one(env, formed).player[0])
    power = np.array(e.players_after.power)[0, player]
    cheap = change(e, "power", player, power + [0, 0, 1])
    assert broken(env, cheap) >= {"tokens paid are satellites laid"}
    paid = change(e, "qic", player, np.array(e.players_after.qic)[0, player] - 1)
    assert broken(env, paid) == {"QIC paid are satellites laid"}


def test_fed_06_tokens_from_another_bowl_are_seen(env: Any, formed: Formings) -> None:
    e, player = one(env, formed), int(one(env, formed).player[0])
    power = np.array(e.players_after.power)[0, player]
    swapped = change(e, "power", player, power + [1, 0, -1])
    assert broken(env, swapped) == {"tokens go from bowls I, II, III, the brainstone last"}


def test_fed_01_a_satellite_apart_is_seen(env: Any, formed: Formings) -> None:
    e = one(env, formed)
    cells = np.union1d(own_cells(e, 0), own_cells(e, 4))
    far = int(np.argmax(env.ruleset.geometry.distance[cells].min(0)))
    e.federation_bits_after[0, far] |= 1 << e.player[0]
    assert broken(env, e) >= {"it is one piece", "tokens paid are satellites laid"}


def test_fed_04_a_satellite_on_a_planet_is_seen(env: Any, formed: Formings) -> None:
    e = one(env, formed)
    e.planet[0, own_cells(e, 0)[0]] = env.ruleset.ids["planet"].index("Red")
    assert broken(env, e) == {"satellites lie on empty cells without an own station"}


def test_fed_07_a_structure_left_out_is_seen(env: Any, formed: Formings) -> None:
    e = one(env, formed)
    e.federation_bits_after[0, own_cells(e, 4)[0]] &= ~(16 << int(e.player[0])) & 255
    assert "own structures beside it have joined" in broken(env, e)


def test_fed_10_a_weak_federation_is_seen(env: Any, formed: Formings) -> None:
    e = one(env, formed)
    e.piece[0, own_cells(e, 4)] = 1  # mines
    few = len(own_cells(e, 4)) < 6
    assert ("its power suffices" in broken(env, e)) == few
    e.federation_bits[0, own_cells(e, 4)[0]] |= 0
    e.piece_owner[0, own_cells(e, 4)] = (e.player[0] + 1) % 4
    assert {"its power suffices", "its members are own structures and stations"} <= broken(env, e)


def test_bounds_a_federation_too_many_is_seen(env: Any, formed: Formings) -> None:
    e, player = one(env, formed), int(one(env, formed).player[0])
    most = int(bounds(env.ruleset)[e.faction[0]])
    e = change(change(e, "formed", player, most, after=False), "formed", player, most + 1)
    assert broken(env, e) == {"federations within the bound"}
    other = change(one(env, formed), "formed", (player + 1) % 4, 3)
    assert broken(env, other) == {"one federation more, the decider's"}


def test_bounds_are_those_of_the_power_on_the_map(env: Any) -> None:
    ids = env.ruleset.ids["faction"]
    most = dict(zip(ids, bounds(env.ruleset).tolist(), strict=True))
    assert most == dict.fromkeys(ids, 5) | {"MOWEYDS": 6}


def test_the_log_keeps_what_was_formed_and_says_what_it_lost(
    decisions: list[tuple[Any, Any]],
) -> None:
    live = jnp.ones(GAMES, bool)
    seen = decisions[:3]
    log = Log(capacity=GAMES, at_once=GAMES)
    record = log.start(jax.tree.map(jnp.asarray, seen[0][0]))
    see = jax.jit(log.see)
    for before, after in seen:
        record = see(record, before, live, after, live)
    rows = formings.read(record)
    games = [np.flatnonzero(np.asarray(changed(*pair))) for pair in seen]
    assert rows.game.tolist() == np.concatenate(games).tolist()
    for row, game in enumerate(games[0]):
        assert (
            rows.federation_bits_after[row] == seen[0][1].game.board.federation_bits[game]
        ).all()
        assert rows.player[row] == seen[0][0].current_player[game]
    none = see(record, seen[0][0], live, seen[0][1], ~live)
    assert none[1] == record[1]
    with pytest.raises(OverflowError, match="did not fit"):
        formings.read((record[0], record[1], jnp.int32(1)))


def test_the_page_counts_seats(env: Any) -> None:
    end = {
        "formed": np.array([[0, 1, 2, 1]]),
        "satellites": np.array([[0, 3, 7, 2]]),
        "vp": np.full((1, 4), 50),
        "tokens": np.array([[0, 1, 2, 1]]),
        "faction": np.array([[0, 1, 0, 2]]),
        "count": np.array([300]),
        "vp_source": np.tile(np.arange(len(env.ruleset.ids["vp_source"])), (1, 4, 1)),
    }
    text = page(env.ruleset, end, np.array([3, 4, 3, 2]))
    assert "Federations: 4, 1.000 a seat, 4.00 a game. Satellites: 12, 3.00 a federation" in text
    assert "| 1 | 2 | 0.5000 |" in text
    assert "| HIVES | 2 | 50.00 | 1.000 | 1 | 1 | 0 | 0 | 2 | 5 |" in text
    assert f"| {env.ruleset.ids['vp_source'][3]} | 3.00 |" in text


def test_weights_count_actions_more_than_once() -> None:
    weights = jnp.zeros(40, jnp.int32).at[jnp.array([3, 17, 39])].set(jnp.array([1, 6, 3]))
    drawn = jax.vmap(lambda u: sample_legal(weights, u))(jnp.arange(1000) / 1000)
    found, counts = np.unique(drawn, return_counts=True)
    assert found.tolist() == [3, 17, 39] and counts.tolist() == [100, 600, 300]


def test_a_policy_reads_the_most_exact_name(env: Any) -> None:
    rules = env.ruleset
    weights = {"free": 2, "free burn": 3, "AFTER: free": 4, "AFTER: free burn": 5}
    table = np.asarray(Policy("x", weights, other=7).tables(rules).weights)[0]
    burn, pay = (rules.actions.index("free", x) for x in ("burn", "P1_to_C"))
    turn, after = 6, 18
    assert table[turn, [pay, burn]].tolist() == [2, 3]
    assert table[after, [pay, burn]].tolist() == [4, 5]
    assert table[turn, 0] == 7
    with pytest.raises(ValueError, match="'sail' is no node and action"):
        Policy("x", {"sail": 1}).tables(rules)
