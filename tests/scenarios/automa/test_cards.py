"""The cards of a turn, passing, VP, the row of boosters (AUT-11 to AUT-17, AUT-28, AUT-29)."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gaia_jax.rules.automa import boosters, cards, play
from gaia_jax.rules.automa.choice import numbered
from gaia_jax.rules.scoring import final_score
from gaia_jax.state import AUTOMA, HUMAN
from tests.scenarios.automa.positions import alptrauma, arranged, passing
from tests.scenarios.automa.solo import RULES
from tests.trees import same


def support_and_action(table):
    """The numbers of the next turn's cards, and whether it passes."""
    draws, turns = table.game.setup.automa, int(table.game.automa.turns)
    deck = [int(card) for card in draws.deck[int(table.field("round")) - 1] if card]
    passes = bool(cards.turn_cards(RULES, table.game).passes)
    return deck[turns], deck[turns + 1] if turns + 1 < len(deck) else None, passes


@pytest.mark.parametrize(
    ("deck", "turns"),
    [
        ((4, 6, 7, 9), [(4, 6, False), (6, 7, False), (7, 9, False), (9, None, True)]),
        ((6, 7, 1, 2, 3), [(6, 7, False), (7, 1, True)]),
        ((6, 1, 7, 2, 3), [(6, 1, False), (1, 7, False), (7, 2, True)]),
    ],
    ids=["X02", "X03", "X04"],
)
def test_aut_12_and_13_the_action_card_supports_next_and_a_late_red_card_passes(deck, turns):
    table = arranged()
    assert [support_and_action(table.deck(*deck, turns=k)) for k in range(len(turns))] == turns


def test_aut_13_a_pass_takes_the_booster_of_the_support_card():
    table = arranged(round=2).deck(6, 7, 1, 2, 3, turns=1).give(AUTOMA, booster=0)
    row = table.row()
    after = table.turn()
    assert RULES.ids["booster"][after.player(AUTOMA).booster] == row[2]  # card 7 shows the right
    assert after.field("passed").tolist() == [0, 1]


def test_aut_14_vp_of_the_card_come_even_if_nothing_can_be_done():
    table = arranged().give(AUTOMA, built=(0, 8, 4, 3, 1, 1, 1)).cards(4, 8)
    after = table.turn()
    assert after.structures(AUTOMA) == table.structures(AUTOMA)
    assert after.vp(AUTOMA, "FACTION") == 3


def test_aut_15_level_5_brings_nothing_but_the_level():
    table = arranged().levels(AUTOMA, navigation=4).set_turn(advanced_left=0).cards(15, 3)
    after = table.turn()
    assert after.player(AUTOMA).tracks[1] == 5 and after.player(AUTOMA).resources == (0, 0, 0, 0)
    assert not after.field("lost_planet") and after.player(AUTOMA).power == (0, 0, 0)


@pytest.mark.parametrize(
    ("card", "open_places", "chosen"),
    [
        (1, (0, 1, 2), 0),
        (2, (0, 4, 9), 4),
        (17, (1, 2, 3), 2),
        (12, (0, 1, 2), 2),
        (9, (3, 5, 7), 5),
        (5, (3, 5, 7, 9), 9),
        (7, (6,), 6),
    ],
)
def test_aut_17_x05_a_number_counts_from_its_side_and_wraps(card, open_places, chosen):
    options = np.isin(np.arange(10), open_places)
    picked = numbered(jnp.asarray(options), cards.card(RULES, jnp.int32(card)))
    assert np.flatnonzero(picked).tolist() == [chosen]


def test_aut_17_without_options_nothing_is_chosen():
    assert not numbered(jnp.zeros(6, bool), cards.card(RULES, jnp.int32(2))).any()


def test_aut_11_x17_each_gain_is_one_more_at_alptrauma():
    after = alptrauma().turn()
    assert after.structures(AUTOMA) == {(-2, 0): "TS"}
    assert after.vp(AUTOMA, "FACTION") == 8


def test_aut_11_a_card_of_no_vp_is_no_gain():
    after = arranged(level="alptrauma").cards(1, 7).turn()
    assert after.vp(AUTOMA, "FACTION") == 0


@pytest.mark.parametrize(("round", "vp"), [(3, 4), (4, 6)])
def test_aut_28_x15_the_round_tile_pays_and_the_booster_goes_round(round, vp):
    after, ids = passing(round).turn(), RULES.ids["booster"]
    assert after.vp(AUTOMA, "ROUND_TILE") == vp
    assert (ids[after.player(AUTOMA).booster], after.row()) == ("RB7", ["RB2", "RB1", "RB9"])


def test_aut_28_in_round_6_the_boosters_stay():
    table = arranged(round=6).give(AUTOMA, booster=3).deck(8, 12, 2, 3)
    after = table.turn()
    assert after.player(AUTOMA).booster == 3 and after.row() == table.row()
    assert after.vp(AUTOMA, "ROUND_TILE") == 2


def test_aut_29_after_the_last_pass_the_round_is_over():
    table = arranged().deck(8, 12, 2, 3)
    assert bool(table.turn().stop.human_moves) and not bool(table.turn().stop.round_over)
    alone = table.set_turn(passed=np.array([1, 0])).turn()
    assert alone.field("passed").tolist() == [1, 2] and bool(alone.stop.round_over)


def test_aut_29_who_has_not_passed_plays_on():
    alone = arranged().set_turn(passed=np.array([1, 0])).cards(4, 15).turn()
    stop = alone.stop
    assert not (stop.round_over or stop.human_moves or stop.offer_waits)
    assert int(alone.field("active")) == AUTOMA


def test_aut_29_the_row_closes_up_and_the_old_booster_goes_to_the_right_end():
    row = jnp.array([3, 5, 7, -1, -1], jnp.int8)
    exchange = boosters.exchange
    after = exchange(row, jnp.int32(3), jnp.int32(9), jnp.bool_(True))
    assert after.tolist() == [5, 7, 9, -1, -1]
    assert exchange(row, jnp.int32(7), jnp.int32(-1), jnp.bool_(True)).tolist() == [
        3,
        5,
        -1,
        -1,
        -1,
    ]
    assert exchange(row, jnp.int32(3), jnp.int32(9), jnp.bool_(False)).tolist() == row.tolist()


@pytest.fixture(scope="module")
def score():
    return jax.jit(lambda game: final_score(RULES, game))


def scored(score, table):
    """The table after final scoring."""
    return table._arranged(players=score(table.game))


def test_aut_33_x16_final_missions_of_three(score):
    missions = ["BUILDINGS", "FEDERATION_BUILDINGS"]
    table = arranged(final_missions=missions).give(AUTOMA, built=(0, 6, 3, 2, 1, 0, 0))
    table = table.give(HUMAN, built=(0, 6, 3, 2, 0, 0, 0))
    after = scored(score, table)
    assert (after.vp(AUTOMA, "FINAL_1"), after.vp(HUMAN, "FINAL_1")) == (18, 9)
    # The human has no federation; the Automa counts 11, the neutral player 10.
    assert (after.vp(AUTOMA, "FINAL_2"), after.vp(HUMAN, "FINAL_2")) == (18, 0)


def test_aut_33_a_count_of_0_scores_nothing(score):
    after = scored(score, arranged(final_missions=["GAIA_BUILDINGS", "BUILDINGS"]))
    assert after.vp(AUTOMA, "FINAL_1") == 0


@pytest.mark.parametrize(("level", "vp"), [("ultoma", 16), ("alptrauma", 17)])
def test_aut_34_research_scores_for_each_level_from_3_on_and_resources_do_not(score, level, vp):
    table = arranged(level=level).levels(AUTOMA, terraforming=5, gaia=3, science=2)
    after = scored(score, table)
    assert (after.vp(AUTOMA, "RESEARCH_END"), after.vp(AUTOMA, "RESOURCES")) == (vp, 0)


def test_aut_29_alone_the_automa_plays_to_the_end_of_the_round():
    """One game and a batch, in which another game needs one turn and a third none."""
    table = arranged().give(HUMAN, power=(0, 0, 4)).deck(4, 6, 7, 9, 8, 12, 13, 2)
    alone = table.set_turn(passed=np.array([1, 0]))
    run = partial(play.play, RULES)
    game, stop = jax.jit(run)(alone.game, jnp.bool_(True))
    # Card 12 is red and the sixth of eight.
    assert int(game.automa.turns) == 5 and bool(stop.round_over)
    games = jax.tree.map(lambda *x: jnp.stack(x), alone.game, table.game, table.game)
    batch, stops = jax.jit(jax.vmap(run))(games, jnp.array([True, True, False]))
    assert batch.automa.turns.tolist() == [5, 1, 0]
    assert stops.round_over.tolist() == [True, False, False]
    expected = jax.tree.map(lambda *x: np.stack(x), game, table.turn().game, table.game)
    assert same(batch, expected)
