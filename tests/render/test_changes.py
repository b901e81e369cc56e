"""What a decision costs and brings: as the engine does it, in the game's words."""

from __future__ import annotations

import dataclasses
import json

import jax
import numpy as np
import pytest

from gaia_jax import RULESETS, make, replay
from gaia_jax.render import Table, change_items, effects, in_words, names, say
from tests.render.choices import check
from tests.render.records import RECORDS


@pytest.mark.parametrize(
    "name", [n if n == "lost_fleet" else pytest.param(n, marks=pytest.mark.slow) for n in RECORDS]
)
def test_every_change_of_a_record_is_told(name):
    record = replay.read(RECORDS[name])
    ruleset, one = record.env().ruleset, None
    for number, reached in enumerate(replay.states(record)):
        two = jax.device_get(reached)
        if one is not None:
            found = effects(Table(one, ruleset), Table(two, ruleset))
            check(found, ruleset, one, two, f"{name} {number} {record.actions[number - 1]}")
            assert json.loads(json.dumps(found.json()))["player"] == int(one.current_player)
        one = two


@pytest.mark.slow
def test_every_change_of_random_games_is_told(env, init, step):
    rng = np.random.default_rng(5)
    for game in range(2):
        one = jax.device_get(init(jax.random.key(40 + game)))
        while not one.terminated:
            action = int(rng.choice(np.flatnonzero(one.legal_action_mask)))
            two = jax.device_get(step(one, action))
            found = effects(Table(one, env.ruleset), Table(two, env.ruleset))
            check(found, env.ruleset, one, two, f"game {game}, {env.ruleset.actions.texts[action]}")
            one = two


@pytest.fixture(scope="module")
def told():
    """The words of each decision of the sample game, by number."""
    record, out, before = replay.read(RECORDS["lost_fleet"]), {}, None
    for number, state in enumerate(replay.states(record)):
        after = Table(jax.device_get(state))
        if before is not None:
            out[number] = (record.actions[number - 1], in_words(effects(before, after)))
        before = after
    return out


def test_the_words_of_a_game(told):
    assert told[19] == ("advance economy", "+Economy 0 to 1, +2 credits a round, +1 power a round")
    assert told[26] == (
        "piece PI",
        "-6 credits, -4 ore, -3 credits a round, +trading station to planetary institute,"
        " +5 VP (round tiles), +1 QIC a round, +4 power a round; Hadsch Hallas: +1 power",
    )
    assert told[30][1].endswith("+3 credits a round; power offered: 3 to Xenos")
    assert told[31] == ("leech DECLINE", "3 offered, room for 6")
    assert told[97] == ("power PA_TF1", "not paid yet: then choose the target")
    assert "1 terraforming step; new planet type" in told[98][1]
    assert told[110][1] == (
        "-5 power tokens (bowls 3/4/1 to 0/2/1); 5 satellites; then choose a federation token"
    )
    assert told[71][1].endswith("round 2 begins") and "Xenos" not in told[71][1]
    assert told[max(told)][1].endswith("the game ends")
    assert "; Hadsch Hallas: " in told[max(told)][1], "the final scoring of the others"
    assert "+18 VP (mission: PI to AC)" in told[max(told)][1], "which mission, not its number"


def test_a_covered_tile_is_neither_paid_nor_gained(new_games):
    table = Table(jax.device_get(jax.tree.map(lambda x: x[0], new_games)))
    seat, tile = table.seat(0), table.ids["tile"][0]
    (found,) = change_items._pieces(table, seat, dataclasses.replace(seat, covered=(tile,)))
    assert found.side == change_items.NOTE and found.fields == {f"covered.{tile}": 1}
    named = names(table.ruleset)["tile"][tile]
    assert found.words == f"covers the tech tile: {named}"


def test_a_piece_that_the_action_names_is_not_named_again(init, step, env):
    state = jax.device_get(init(jax.random.key(2)))
    while Table(state).node != "BOOSTER":
        state = jax.device_get(step(state, int(state.legal_action_mask.argmax())))
    action = int(state.legal_action_mask.argmax())
    found = effects(Table(state), Table(jax.device_get(step(state, action))))
    said = say(env.ruleset, env.ruleset.actions.texts[action])
    named = [words for words in found.brief()["gains"] if words.startswith("booster: ")]
    assert len(named) == 1 and named[0] in in_words(found)
    rest = [words for words in found.brief()["gains"] if words not in named]
    assert found.brief(said)["gains"] == rest and "booster: " not in in_words(found, said)


def test_power_taken_says_its_price(env, init, step):
    """Whoever takes power pays a VP less than he takes."""
    rng, seen = np.random.default_rng(1), []
    state, take = (
        jax.device_get(init(jax.random.key(3))),
        env.ruleset.actions.by_text["leech CHARGE"],
    )
    while not state.terminated and len(seen) < 3:
        legal = np.flatnonzero(state.legal_action_mask)
        after = step(state, take if take in legal else int(rng.choice(legal)))
        if take in legal:
            seen.append(effects(Table(state), Table(jax.device_get(after))))
        state = jax.device_get(after)
    assert seen
    for found in seen:
        costs, gains = found.brief()["costs"], found.brief()["gains"]
        power = -found.fields(found.player)["vp"] + 1
        assert costs == [f"{power - 1} VP (leech paid)"] and f"{power} power" in gains
        assert power <= min(found.offered, found.room)
        assert f"{found.offered} offered, room for {found.room}" in found.notes()


def test_tables_of_two_games_are_refused(new_games):
    state = jax.device_get(jax.tree.map(lambda x: x[0], new_games))
    one, other = Table(state), Table(state, make("lost_fleet_published").ruleset)
    with pytest.raises(ValueError, match="before is of lost_fleet, after of lost_fleet_published"):
        effects(one, other)
    assert set(RULESETS) >= {one.ruleset.id, other.ruleset.id}
