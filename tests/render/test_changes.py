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


def decisions(name):
    """(action, state before, state after) of each decision of a sample record, on the host."""
    record = replay.read(RECORDS[name])
    states = [jax.device_get(state) for state in replay.states(record)]
    return record.env().ruleset, list(zip(record.actions, states, states[1:], strict=False))


@pytest.fixture(scope="module")
def sample():
    return decisions("lost_fleet")


def check_all(ruleset, played):
    for number, (action, before, after) in enumerate(played):
        result = effects(Table(before, ruleset), Table(after, ruleset))
        check(result, ruleset, before, after, f"{ruleset.id} {number} {action}")
        assert json.loads(json.dumps(dataclasses.asdict(result)))["player"] == int(
            before.current_player
        )


def test_every_change_of_a_record_is_told(sample):
    check_all(*sample)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RECORDS if name != "lost_fleet"])
def test_every_change_of_other_records_is_told(name):
    check_all(*decisions(name))


@pytest.mark.slow
def test_every_change_of_random_games_is_told(env, init, step):
    rng, played = np.random.default_rng(5), []
    for game in range(2):
        before = jax.device_get(init(jax.random.key(40 + game)))
        while not before.terminated:
            action = int(rng.choice(np.flatnonzero(before.legal_action_mask)))
            after = jax.device_get(step(before, action))
            played.append((env.ruleset.actions.texts[action], before, after))
            before = after
    check_all(env.ruleset, played)


@pytest.fixture(scope="module")
def lines(sample):
    """The words of each decision of the sample game, by number."""
    ruleset, played = sample
    return {
        number: (action, in_words(effects(Table(before, ruleset), Table(after, ruleset))))
        for number, (action, before, after) in enumerate(played, 1)
    }


def test_the_words_of_a_game(lines):
    assert lines[19] == ("advance economy", "+Economy 0 to 1, +2 credits a round, +1 power a round")
    assert lines[26] == (
        "piece PI",
        "-6 credits, -4 ore, -3 credits a round, +trading station to planetary institute,"
        " +5 VP (round tiles), +1 QIC a round, +4 power a round; Hadsch Hallas: +1 power",
    )
    assert lines[30][1].endswith("+3 credits a round; power offered: 3 to Xenos")
    assert lines[31] == ("leech DECLINE", "3 offered, room for 6")
    assert lines[97] == ("power PA_TF1", "not paid yet: then choose the target")
    assert "1 terraforming step; new planet type" in lines[98][1]
    assert lines[110][1] == (
        "-5 power tokens (bowls 3/4/1 to 0/2/1); 5 satellites; then choose a federation token"
    )
    assert lines[71][1].endswith("round 2 begins") and "Xenos" not in lines[71][1]
    assert lines[max(lines)][1].endswith("the game ends")
    assert "; Hadsch Hallas: " in lines[max(lines)][1], "the final scoring of the others"
    assert "+18 VP (mission: PI to AC)" in lines[max(lines)][1], "which mission, not its number"


def test_a_covered_tile_is_neither_paid_nor_gained(new_games):
    table = Table(jax.device_get(jax.tree.map(lambda x: x[0], new_games)))
    seat, tile = table.seat(0), table.ids["tile"][0]
    (item,) = change_items._pieces(table, seat, dataclasses.replace(seat, covered=(tile,)))
    assert item.side == change_items.NOTE and item.fields == {f"covered.{tile}": 1}
    named = names(table.ruleset)["tile"][tile]
    assert item.words == f"covers the tech tile: {named}"
    result = dataclasses.replace(effects(table, table), player=0, seats={0: (item,)})
    assert result.notes() == result.brief()["notes"] == [item.words]
    assert result.notes(f"cover the tech tile: {named}") == [], "the action names it"


def test_a_piece_that_the_action_names_is_not_named_again(init, step, env):
    state = jax.device_get(init(jax.random.key(2)))
    while Table(state).node != "BOOSTER":
        state = jax.device_get(step(state, int(state.legal_action_mask.argmax())))
    action = int(state.legal_action_mask.argmax())
    result = effects(Table(state), Table(jax.device_get(step(state, action))))
    action_words = say(env.ruleset, env.ruleset.actions.texts[action])
    named = [words for words in result.brief()["gains"] if words.startswith("booster: ")]
    assert len(named) == 1 and named[0] in in_words(result)
    rest = [words for words in result.brief()["gains"] if words not in named]
    assert result.brief(action_words)["gains"] == rest and "booster: " not in in_words(
        result, action_words
    )


def test_power_taken_says_its_price(env, init, step):
    """A player who takes power pays one VP less than the power."""
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
    for line in seen:
        costs, gains = line.brief()["costs"], line.brief()["gains"]
        power = -line.fields(line.player)["vp"] + 1
        assert costs == [f"{power - 1} VP (leech paid)"] and f"{power} power" in gains
        assert power <= min(line.offered, line.room)
        assert f"{line.offered} offered, room for {line.room}" in line.notes()


def test_tables_of_two_games_are_refused(new_games):
    state = jax.device_get(jax.tree.map(lambda x: x[0], new_games))
    table, other = Table(state), Table(state, make("lost_fleet_published").ruleset)
    with pytest.raises(ValueError, match="before is of lost_fleet, after of lost_fleet_published"):
        effects(table, other)
    assert set(RULESETS) >= {table.ruleset.id, other.ruleset.id}


def test_income_and_final_scoring_are_apart_from_the_action(sample, lines):
    ruleset, played = sample
    before, after = Table(played[70][1], ruleset), Table(played[70][2], ruleset)
    passing = effects(before, after)
    assert passing.begins_round == 2 and passing.final == ()
    income = before.seat(passing.player).income
    brief = passing.brief()
    assert not any(words.endswith(("ore", "credits", "knowledge")) for words in brief["gains"])
    assert f"income of round 2: +{income.credits} credits" in lines[71][1]
    before, after = Table(played[-1][1], ruleset), Table(played[-1][2], ruleset)
    last = effects(before, after)
    gained = [after.seat(p).vp - before.seat(p).vp for p in range(4)]
    own = sum(n for name, n in last.fields(last.player).items() if name.startswith("vp_source."))
    in_pass = [gained[p] - n for p, n in enumerate(last.final)]
    assert all(n == 0 for p, n in enumerate(in_pass) if p != last.player)
    assert own == gained[last.player] and 0 <= in_pass[last.player] < 20 < min(gained)
    assert not any("mission" in words for words in last.brief().get("gains", []))
    assert "final scoring: +" in lines[max(lines)][1]
