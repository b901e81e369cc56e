"""The solo game as an environment: one seat, rewards against the Automa, hidden cards (AUT)."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import render, replay
from gaia_jax.render.automa_turns import AutomaTurn, automa_turns
from gaia_jax.rewards import reward_at_end
from gaia_jax.rules.automa.cards import turned
from gaia_jax.ruleset import ruleset_of
from gaia_jax.setup.automa_draw import Seen, draw_automa, redraw
from gaia_jax.setup.setup_json import setup_from_json, setup_to_dict
from gaia_jax.state import AUTOMA, HUMAN, Node
from tests.conftest import GAMES
from tests.referee.engine import compiled
from tests.referee.solo import draw_spread
from tests.trees import take_row

LEVELS = ("automalein", "automa", "automachtig", "ultoma", "alptrauma")
RULES = ruleset_of("base", 1)


@pytest.fixture(
    scope="module",
    params=["base", pytest.param("lost_fleet_published", marks=pytest.mark.slow)],
)
def env(request: Any) -> Any:
    return compiled(request.param, 1)[0]


@pytest.fixture(scope="module")
def played(env: Any) -> tuple[list[Any], list[Any]]:
    """All states of random games until every game has ended, and the actions between them.

    The levels are in turn. The programs are those of `tests/duel/test_solo_duel.py`.
    """
    _, init, step = compiled(env.id, 1)

    @jax.jit
    @jax.vmap
    def choose(state: Any, key: Any) -> Any:
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        return jax.random.categorical(key, logits)

    drawn = [draw_spread(seed, env.id) for seed in range(GAMES)]
    setups = [setup_from_json(setup, env.ruleset) for setup in drawn]
    states, actions = [init(jax.tree.map(lambda *x: jnp.stack(x), *setups))], []
    while not np.all(states[-1].terminated):
        assert len(states) < 1000
        keys = jax.random.split(jax.random.key(len(states)), GAMES)
        actions.append(choose(states[-1], keys))
        states.append(step(states[-1], actions[-1]))
    return [jax.device_get(state) for state in states], jax.device_get(actions)


@pytest.fixture(scope="module")
def history(played: Any) -> list[Any]:
    return played[0]


def test_arrays_have_two_players_and_one_reward(env: Any) -> None:
    state = jax.eval_shape(env.init, jax.random.key(0))
    assert (env.num_players, state.rewards.shape) == (1, (1,))
    assert state.game.num_players == env.observation_shape["players"][0] == 2
    assert state.game.num_seats == 1


def test_random_games_end_and_their_vp_add_up(history: list[Any]) -> None:
    last = history[-1]
    assert (last.game.turn.node == Node.ENDED).all() and not last.truncated.any()
    for state in history:
        assert state.legal_action_mask.any(-1).all()
        assert (state.current_player == HUMAN).all()
        players = state.game.players
        assert (players.vp == players.vp_source.sum(-1)).all()
        assert not players.resources[:, AUTOMA].any() and not players.power[:, AUTOMA].any()
        row = np.sort(state.game.automa.booster_row, axis=-1)
        owned = np.sort(players.booster, axis=-1)
        together = np.sort(np.concatenate([row, owned], -1), axis=-1)[:, 2:]
        assert (together == np.sort(state.game.setup.boosters, axis=-1)).all()


def test_the_automa_takes_as_many_turns_as_its_level_allows(history: list[Any]) -> None:
    """N cards are at least N - 4 and at most N - 1 actions, and the pass (AUT-13)."""
    last = history[-1]
    sizes = (last.game.setup.automa.deck[:, -1] > 0).sum(-1)
    turns = last.game.automa.turns
    assert (turns >= sizes - 4 + 1).all() and (turns <= sizes - 1 + 1).all()
    assert sizes.tolist() == [(11, 12, 13, 14, 14)[game % len(LEVELS)] for game in range(GAMES)]


def test_the_end_is_paid_by_the_margin_over_the_automa(history: list[Any]) -> None:
    for before, state in zip(history, history[1:], strict=False):
        ends = state.terminated & ~before.terminated
        vp = state.game.players.vp.astype(int)
        margin = (vp[:, HUMAN] - vp[:, AUTOMA]) / 100
        expected = np.where(ends, margin, 0)
        np.testing.assert_allclose(state.rewards[:, 0], expected, atol=1e-6)


def test_aut_32_the_automa_has_no_income_and_spaces_are_free_in_the_next_round(
    history: list[Any],
) -> None:
    cleared = 0
    for before, state in zip(history, history[1:], strict=False):
        automa = {x: getattr(state.game.players, x)[:, AUTOMA] for x in ("income", "gaia_power")}
        assert not any(value.any() for value in automa.values())
        old, new = before.game.turn, state.game.turn
        # Before a turn of the Automa, which may cover a space.
        begins = (new.round > old.round) & (state.game.automa.turns == 0)
        used = (new.power_used > 0) | (new.ship_used > 0)
        assert not (begins & used).any()
        cleared += (begins & (old.power_used > 0)).sum()
    assert cleared > GAMES


@pytest.mark.parametrize(
    ("kind", "human", "paid"),
    [("win", 40, 1), ("win", 39, 0.5), ("win", 38, 0), ("rank", 40, 1), ("rank", 39, 0)],
)
def test_aut_34_equal_vp_are_half_a_win(kind: str, human: int, paid: float) -> None:
    vp = jnp.array([human, 39], jnp.int16)
    assert float(reward_at_end(kind, vp)[HUMAN]) == paid


def test_what_is_hidden_changes_neither_observation_nor_mask(env: Any, history: list[Any]) -> None:
    """All states of the games, each with its unseen cards drawn again (AUT-08, AUT-12)."""
    observe = jax.jit(
        jax.vmap(lambda state: (env.observe(state, HUMAN), env.legal_mask(state.game)))
    )
    hide = jax.jit(jax.vmap(env.redraw_hidden))
    seen_cards = jax.jit(jax.vmap(partial(turned, env.ruleset)))
    changed = 0
    for number in range(0, len(history), 7):
        state = history[number]
        redrawn = hide(state, jax.random.split(jax.random.key(number), GAMES))
        for own, drawn_again in zip(
            jax.tree.leaves(observe(state)), jax.tree.leaves(observe(redrawn)), strict=True
        ):
            np.testing.assert_array_equal(own, drawn_again)
        before, after = state.game.setup.automa.deck, np.asarray(redrawn.game.setup.automa.deck)
        is_seen = np.arange(14) < np.asarray(seen_cards(state.game))[..., None]
        assert (before == after)[is_seen].all()
        assert ((before > 0) == (after > 0)).all()
        for earlier, later in zip(after.swapaxes(0, 1), after.swapaxes(0, 1)[1:], strict=False):
            assert all({*a[a > 0]} < {*b[b > 0]} for a, b in zip(earlier, later, strict=True))
        ships = redrawn.game.setup.automa.explored_ship
        np.testing.assert_array_equal(ships, state.game.setup.automa.explored_ship)
        rest = dataclasses.replace(redrawn.game.setup, automa=state.game.setup.automa)
        same = redrawn.replace(game=redrawn.game.replace(setup=rest))
        jax.tree.map(np.testing.assert_array_equal, same, state)
        changed += (before != after).any(-1).any(-1).sum()
    assert changed > GAMES


def test_a_state_is_drawn(history: list[Any]) -> None:
    for state in (history[0], history[len(history) // 2], history[-1]):
        first = take_row(state)
        assert "against the Automa" in render.svg(first)
        assert str(first.game.players.vp[AUTOMA]) in render.text(first)


def test_a_record_is_read_and_played_as_it_was_written(
    env: Any, played: Any, tmp_path: Any
) -> None:
    """The last game as record, file, replay and list of moves."""
    states, actions = played
    length = next(n for n, state in enumerate(states) if state.terminated[-1])
    setup = take_row(states[0].game.setup, -1)
    end = take_row(states[length], -1)
    played_actions = [int(row[-1]) for row in actions[:length]]
    record = replay.Record.of(env, setup, played_actions, end.game.players.vp)
    replay.write(tmp_path / "solo.json", record)
    read = replay.read(tmp_path / "solo.json")
    assert dataclasses.replace(read, lines=()) == record and len(record.final_vp) == 2
    jax.tree.map(np.testing.assert_array_equal, replay.play(read), end)
    assert replay.main([str(tmp_path / "solo.json"), "--moves"]) == 0


def test_the_automa_explores_every_ship_that_it_may(env: Any, history: list[Any]) -> None:
    """It has shuttles on the explored ship from the start, and never loses one (AUT-42)."""
    shuttles = np.array([state.game.players.shuttles[:, AUTOMA] for state in history])
    first = history[0].game.setup.automa.explored_ship
    if not env.ruleset.ships:
        assert not shuttles.any() and first.size == 0
        return
    assert (shuttles[0] == 1 << first[:, 0]).all()
    assert (shuttles[1:] & shuttles[:-1] == shuttles[:-1]).all()
    assert (shuttles[-1] == 7).any()
    observed = history[-1].game.players.shuttles[0, AUTOMA]
    names = [column.name for column in env.observation_spec.players]
    end = take_row(history[-1])
    view = jax.jit(lambda state: env.observe(state, HUMAN))(end).players[AUTOMA]
    seen = [view[names.index(f"shuttle.{ship}")] for ship in env.ruleset.ships]
    assert [int(x) for x in seen] == [observed >> i & 1 for i in range(len(seen))]


def test_aut_42_the_human_charges_by_the_place_after_the_automa(env: Any, played: Any) -> None:
    """The second shuttle of a ship charges 2 (EXP-02), for factions that pay no token for it."""
    states, actions = played
    texts, ids = env.ruleset.actions.texts, env.ruleset.ids["faction"]
    others = [ids.index(x) for x in ("TAKLONS", "NEVLAS", "ITARS")]
    charged = 0
    for before, after, row in zip(states, states[1:], actions, strict=False):
        for game in np.flatnonzero(~before.terminated):
            verb, _, ship = texts[int(row[game])].partition(" ")
            old, new = (x.game.players.power[game, HUMAN] for x in (before, after))
            if verb != "explore" or old[0] < 2:
                continue
            bits = before.game.players.shuttles[game, AUTOMA]
            if before.game.setup.faction[game, HUMAN] not in others:
                amount = 2 * (bits >> env.ruleset.ships.index(ship) & 1)
                assert (new - old).tolist() == [-amount, amount, 0]
                charged += amount
    assert bool(charged) == bool(env.ruleset.ships)


def test_pgx_has_one_player(env: Any) -> None:
    adapter = pytest.importorskip("gaia_jax.adapters.pgx").PgxEnv(env, observation="vector")
    state = jax.eval_shape(adapter.init, jax.random.key(0))
    state = jax.eval_shape(adapter.step, state, 0)
    assert (adapter.num_players, state.rewards.shape) == (1, (1,))
    assert adapter.id == f"gaia_project-{env.id}-1p"


def test_other_games_have_nothing_hidden() -> None:
    env = gaia_jax.make("base", players=2)
    state = jax.eval_shape(env.init, jax.random.key(0))
    filled = jax.tree.map(lambda x: np.ones(x.shape, x.dtype), state)
    jax.tree.map(
        np.testing.assert_array_equal, env.redraw_hidden(filled, jax.random.key(0)), filled
    )


def test_a_card_seen_late_is_as_likely_to_have_come_in_each_round() -> None:
    """Two cards that are seen in round 3 were added in any two of rounds 1 to 3."""
    level = LEVELS.index("automalein")
    draws = draw_automa(RULES, level, jax.random.key(0))
    deck = np.array(draws.deck)
    cards = [int(card) for card in deck[2] if card]
    added = [card for card in cards if card not in RULES.automa.levels[level].fixed_cards][:2]
    deck[2, : len(cards)] = [*added, *(card for card in cards if card not in added)]
    draws = draws.replace(deck=jnp.asarray(deck))
    seen = Seen(jnp.array([0, 0, 2, 0, 0, 0]), jnp.int32(2), jnp.bool_(True))
    keys = jax.random.split(jax.random.key(1), 3000)
    decks = np.asarray(jax.jit(jax.vmap(lambda key: redraw(RULES, draws, seen, key)))(keys).deck)
    assert (decks[:, 2, :2] == added).all()
    in_first = (decks[:, 0, :, None] == np.array(added)).any(1).mean(0)
    in_second = (decks[:, 1, :, None] == np.array(added)).any(1).mean(0)
    # Three places for two cards: each is in the first with 1/3, in the first two with 2/3.
    np.testing.assert_allclose(in_first, 1 / 3, atol=0.04)
    np.testing.assert_allclose(in_second, 2 / 3, atol=0.04)
    assert len(np.unique(decks[:, 0], axis=0)) > 500, "the order of the first deck is free"


def test_aut_04_the_first_game_is_hadsch_hallas_against_taklons() -> None:
    setup = gaia_jax.first_game(1, automa="ultoma")
    part = setup_to_dict(setup, RULES)
    assert (part["factions"], part["automa"]["faction"]) == (["HADSCH_HALLAS"], "TAKLONS")
    assert part["automa"]["level"] == "ultoma" and len(part["automa"]["decks"][5]) == 14


def test_the_described_turns_are_those_played(env: Any, history: list[Any]) -> None:
    """Card by card they bring the VP, structures, levels and satellites of the Automa (AUT-14)."""
    for game in range(0, GAMES, GAMES // len(LEVELS)):
        states = [take_row(state, game) for state in history]
        length = int(states[-1].step_count) + 1
        rounds: dict[int, list[AutomaTurn]] = {}
        for before, after in zip(states, states[1:length], strict=False):
            turns = automa_turns(before, after, env.ruleset)
            vp, mines, levels, satellites = _of_automa(after) - _of_automa(before)
            steps = [step.verb for turn in turns for step in turn.steps]
            assert mines == steps.count("mine") and levels == steps.count("advance")
            assert satellites == sum(turn.satellite for turn in turns)
            assert after.terminated or vp == sum(turn.vp for turn in turns)
            owned = np.flatnonzero(after.game.board.piece_owner == AUTOMA)
            cells = {"{},{}".format(*cell) for cell in env.ruleset.geometry.cells[owned]}
            assert cells.issuperset(
                step.place for turn in turns for step in turn.steps if step.verb == "mine"
            )
            for turn in turns:
                rounds.setdefault(turn.round, []).append(turn)
        assert sorted(rounds) == list(range(7))
        draws = states[0].game.setup.automa
        steps = [step for turn in rounds[0] for step in turn.steps]
        cards_of_setup = [*draws.start_cards.tolist()[: len(steps) - 1], int(draws.booster_card)]
        assert [step.card for step in steps] == cards_of_setup
        assert all(bool(step.decided_by) == (len(step.options) > 1) for step in steps)
        decks = draws.deck
        for number in range(1, 7):
            cards = [card for card in decks[number - 1].tolist() if card]
            round_turns = rounds[number]
            assert [turn.support for turn in round_turns] == cards[: len(round_turns)]
            assert [turn.action for turn in round_turns] == (cards[1:] + [0])[: len(round_turns)]
            assert [turn.passes for turn in round_turns] == [False] * (len(round_turns) - 1) + [
                True
            ]
            assert [turn.number for turn in round_turns] == list(range(1, len(round_turns) + 1))


def _of_automa(state: Any) -> np.ndarray:
    """(4,) VP, structures, research levels, satellites."""
    players = state.game.players
    structures = players.built[AUTOMA].sum()
    out = players.vp[AUTOMA], structures, players.tracks[AUTOMA].sum(), players.satellites[AUTOMA]
    return np.array([int(x) for x in out])
