"""The parts of the questions: regressions, charts, positions, counts of decisions."""

from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from planted import SOURCES, draw_games

from gaia_jax import ruleset as rules
from training.analysis import candidate_outcomes
from training.stats import chart, effects
from training.stats.agreement import compare_rankings, rank_correlation
from training.study import (
    component_effects,
    decision_counts,
    decision_effects,
    map_features,
    opponent_pairs,
    strength,
)
from training.study.game_table import GameTable


def test_games_of_one_deal_are_one_sample():
    """The same games four times over make no interval narrower."""
    rng = np.random.default_rng(0)
    single = draw_games(rng, 100, 1)
    fields = {n: np.repeat(x, 4, axis=0) for n, x in vars(single).items() if n not in
              ("setup", "names")}  # fmt: skip
    four = GameTable(**fields, setup=single.setup, names=single.names)
    for narrow, repeated in zip(strength.seats(single), strength.seats(four), strict=True):
        assert repeated.estimate == pytest.approx(narrow.estimate)
        assert repeated.high - repeated.low == pytest.approx(narrow.high - narrow.low, rel=0.02)


def test_a_regression_of_known_numbers():
    x = np.array([[1.0, 1], [1, 2], [1, 3], [1, 4]])
    (constant, two) = effects.regression(np.array([3.0, 5, 7, 9]), x, np.arange(4), ["one", "two"])
    assert constant.estimate == pytest.approx(1) and two.estimate == pytest.approx(2)
    assert two.low == pytest.approx(2) and two.significant
    twice = np.concatenate([x, x[:, :1]], axis=1)
    (constant, _, _) = effects.regression(np.ones(4), twice, np.arange(4), ["a", "b", "a again"])
    assert np.isnan(constant.estimate) and not constant.significant


def test_rounding_is_no_effect():
    """A response without noise, one cluster, one observation a column: nothing is significant."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (40, 3))
    for clusters in (np.arange(40), np.zeros(40, int)):
        for y in (np.zeros(40), x[:, 1] * 0.1):
            results = effects.regression(y, x, clusters, ["a", "b", "c"])
            assert not results[0].significant and not results[2].significant
    (alone,) = effects.regression(x[:, 0], x[:, 1:2], np.zeros(40, int), ["one cluster"])
    assert np.isnan(alone.low) and not alone.significant
    constant = effects.means(np.full(30, 0.1), np.zeros(30, int), np.arange(30) % 7, ["x"])
    assert effects.estimable(constant) == []


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_rank_of_a_design_does_not_depend_on_units(scale):
    """Dummies less the mean of their group sum to 0: one direction is undetermined."""
    rng = np.random.default_rng(1)
    groups, kinds = np.repeat(np.arange(50), 4), rng.integers(0, 5, 200)
    dummies = effects.demean(effects.dummies(kinds, 5), groups)
    own = effects.demean(rng.normal(0, scale, 200), groups)
    y = 3 * own / scale + effects.demean(rng.normal(0, 1, 200), groups)
    x = np.column_stack([own, dummies])
    results = effects.regression(y, x, groups, ["own", *"abcde"])
    assert results[0].low * scale < 3 < results[0].high * scale
    assert all(np.isnan(e.estimate) for e in results[1:])
    _, determined = effects.inverse_gram(x)
    assert round(np.trace(determined)) == 5
    x = np.column_stack([x, own + scale * 1e-4 * rng.normal(0, 1, 200)])
    assert round(np.trace(effects.inverse_gram(x)[1])) == 6


def test_holm_keeps_what_stands_out_together():
    chances = np.array([0.04, 0.001, 0.02, 0.9])
    assert effects.holm(chances).tolist() == [False, True, False, False]
    assert effects.holm(np.array([0.04])).tolist() == [True]


def test_families_together_are_judged_as_one():
    """Of 300 pairs without an effect about 15 intervals leave 0 out, and none is significant."""
    rng = np.random.default_rng(0)
    pairs = [effects.Effect(str(k), z, z - 1.96, z + 1.96, 9, False) for k, z in
             enumerate(rng.normal(0, 1, 300))]  # fmt: skip
    assert sum(e.low > 0 or e.high < 0 for e in pairs) >= 5
    assert not any(e.significant for e in effects.adjust_jointly(pairs))
    strong = effects.Effect("strong", 6.0, 4.04, 7.96, 9, False)
    unknown = effects.Effect("unknown", np.nan, np.nan, np.nan, 0, False)
    adjusted = effects.adjust_jointly([*pairs, strong, unknown])
    assert [e.name for e in adjusted if e.significant] == ["strong"] and len(adjusted) == 301


def test_what_an_opponent_does_to_all_is_taken_off_pairs():
    """Of 12 factions one costs everybody 5 VP and one pair 8 more; the rest is noise."""
    rng = np.random.default_rng(0)
    estimates = {}
    for a in range(12):
        for b in range(12):
            if a != b:
                estimates[f"F{a} with F{b}"] = (
                    rng.normal(0, 1) - 5 * (b == 3) - 8 * ((a, b) == (2, 3))
                )
    planted = [
        effects.Effect(name, y, y - 1.96, y + 1.96, 400, False) for name, y in estimates.items()
    ]
    split = opponent_pairs.split(planted)
    below = [e.name for e in split["against"] if e.significant and e.estimate < 0]
    assert below == ["F3"]  # the others are a little above the mean opponent
    (against,) = [e for e in split["against"] if e.name == "F3"]
    assert against.low < -5 * 11 / 12 - 8 / 11 * 11 / 12 < against.high
    assert [e.name for e in split["pairs"] if e.significant] == ["F2 with F3"]
    assert opponent_pairs.split(planted[:5]) == {}


def test_noise_is_taken_off_a_correlation():
    """Two answers of equal truth and independent noise: 1 without the noise, about 0.5 with it."""
    rng = np.random.default_rng(2)
    true = rng.normal(0, 1, 200)
    first, second = ([effects.Effect(str(k), y, y - 1.96, y + 1.96, 9, False) for k, y in
                 enumerate(true + rng.normal(0, 1, 200))] for _ in range(2))  # fmt: skip
    rank, cleared = compare_rankings("x", first, second)
    assert 0.3 < rank.estimate < 0.65 and 0.8 < cleared <= 1
    noise = [e._replace(estimate=y) for e, y in zip(second, rng.normal(0, 1, 200), strict=True)]
    assert np.isnan(compare_rankings("x", first, noise)[1])


def test_what_lies_near_home():
    """Counted by hand on one tile of the base map: M10 alone in the middle has Yellow at 1,-1."""
    ruleset = rules.RULESETS["base"]
    tiles = [f"M{n:02}" for n in (10, 1, 2, 3, 4, 5, 6, 7, 8, 9)]
    table = draw_games(np.random.default_rng(0), 1, 1)
    names = list(ruleset.ids["faction"])
    setup = {"sectors_tile": np.array([tiles]), "sectors_rotation": np.zeros((1, 10), int)}
    xenos = names.index("XENOS")
    fields = vars(table) | {"setup": setup, "faction": np.full((1, 4), xenos)}
    fields["names"] = {"faction": names, "agent": list("ABCD"), "source": SOURCES}
    features = map_features.planets_near_home(GameTable(**fields), ruleset)
    laid = {}
    for (q, r), tile in zip(ruleset.map.sector_centers, tiles, strict=True):
        (printed,) = [t for t in ruleset.map.sector_tiles if t.id == tile]
        laid |= {(q + dq, r + dr): planet for (dq, dr), planet in printed.planets}
    cycle = list(map_features.COLOURS)
    near, easy, homes = 0, 0, [c for c, planet in laid.items() if planet == "Yellow"]
    for q, r in homes:
        for (a, b), planet in laid.items():
            if 0 < max(abs(a - q), abs(b - r), abs(a - q + b - r)) <= 3 and planet != "Transdim":
                near += 1
                if planet != "Gaia":
                    steps = abs(cycle.index(planet) - cycle.index("Yellow"))
                    easy += min(steps, 7 - steps) <= 1
    assert len(homes) == 6
    assert features[map_features.NAMES[0]][0, 0] == pytest.approx(near / 6)
    assert features[map_features.NAMES[1]][0, 0] == pytest.approx(easy / 6)


def test_a_forest_shows_every_effect_with_an_interval():
    rows = [effects.Effect("a & b", 2.0, 1.0, 3.0, 10, True),
            effects.Effect("c", -1.0, -2.0, 0.5, 9, False),
            effects.Effect("unknown", np.nan, np.nan, np.nan, 0, False)]  # fmt: skip
    svg = chart.forest(rows, "Title", "VP")
    texts = [x.text for x in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert {"a & b", "c", "Title", "VP"} <= set(texts) and "unknown" not in texts
    assert chart.SIGNIFICANT in svg and chart.OTHER in svg
    assert chart.SIGNIFICANT not in chart.forest(rows[1:], "Title", "VP")
    assert svg == chart.forest(rows, "Title", "VP")


def test_a_position_is_played_out():
    """On rules of three lines: every agent gets the same result."""
    import jax

    from tests import stub_env
    from training.agents import random_agent

    env = stub_env.StubEnv(length=6)
    state = jax.jit(env.init)(jax.random.key(0))
    outcomes = candidate_outcomes.play_out(env, random_agent(env), state, limit=3, num_playouts=5)
    assert outcomes.actions.tolist() == [0, 3, 6] and np.isnan(outcomes.probabilities).all()
    # The actions of the six decisions pay 0, 1, 2, 0, 1, 2 VP, in turn to the four seats.
    gains = np.zeros(4, int)
    for number in range(6):
        gains[(outcomes.seat + number) % 4] += number % 3
    start = np.asarray(state.game.players.vp)
    assert (outcomes.vp == start + gains).all() and outcomes.vp.shape == (3, 5, 4)
    assert outcomes.order_by_vp().tolist() == [0, 1, 2]  # all alike


def test_the_played_action_is_a_candidate_of_any_agent(monkeypatch):
    """An agent without a policy had the first ones alone; what Ctrl-C left out counted as 0 VP."""
    from types import SimpleNamespace

    from training.agents import random_agent
    from training.analysis.playouts import Ends

    state = SimpleNamespace(legal_action_mask=np.ones(9, bool), current_player=0)
    agent = random_agent(None)
    actions, chance = candidate_outcomes.choose_candidates(agent, state, 3, played=7)
    assert actions.tolist() == [0, 1, 7] and np.isnan(chance).all()
    assert candidate_outcomes.choose_candidates(agent, state, 3, played=2)[0].tolist() == [0, 1, 2]

    ended = np.array([True, False])
    half = Ends(np.zeros((2, 4)), np.zeros((2, 0)), ended, np.zeros((2, 4, 1)), np.zeros((2, 0)))
    monkeypatch.setattr(candidate_outcomes.Playouts, "play", lambda *_, **__: half)
    with pytest.raises(KeyboardInterrupt):
        candidate_outcomes.play_out(None, agent, state, limit=2, num_playouts=1)


def test_what_lay_at_a_place_is_counted_by_its_name():
    table = draw_games(np.random.default_rng(0), 2, 1)
    table.setup["round_tiles"] = np.array([["T5", "T1"], ["T1", "T3"]])
    kinds = ["tile 1", "mine", "tile 0"]
    counts = np.arange(24, dtype=np.int16).reshape(2, 4, 3)
    decisions = decision_counts.DecisionCounts(counts, kinds, *[counts] * 6)
    placed = decisions.counts_by_name(["tile 0", "tile 1", "tile 9"])
    assert (placed[..., 0] == counts[..., 2]).all() and not placed[..., 2].any()
    by_name, names = component_effects.counts_by_component(table, placed[..., :2], "round_tiles")
    assert names == ["T1", "T3", "T5"]
    assert (
        by_name[0] == np.stack([counts[0, :, 0], 0 * counts[0, :, 0], counts[0, :, 2]], -1)
    ).all()
    assert (
        by_name[1] == np.stack([counts[1, :, 2], counts[1, :, 0], 0 * counts[1, :, 0]], -1)
    ).all()


def test_what_each_seat_did_is_counted(tmp_path):
    """Two games by hand: openings, pieces of upgrades, the order of passing, over row groups."""
    decisions = [
        # game, round, node, seat, text
        (0, 0, "START", 1, "pick 3,-1"),
        (0, 1, "TURN", 1, "free burn"),
        (0, 1, "TURN", 1, "mine 2,2"),
        (0, 1, "LEECH", 0, "leech CHARGE"),
        (0, 1, "TURN", 0, "upgrade 1,1"),
        (0, 1, "PIECE", 0, "piece RL"),
        (0, 1, "TURN", 1, "booster RB3"),
        (0, 1, "TURN", 0, "advance economy"),
        (0, 1, "TURN", 0, "booster RB1"),
        (0, 6, "TURN", 0, "pass"),
        (0, 6, "TURN", 1, "upgrade 2,2"),
        (0, 6, "TURN", 1, "pass"),
        (1, 1, "TURN", 0, "leech DECLINE"),
        (1, 1, "TURN", 1, "booster RB2"),
    ]
    columns = list(zip(*decisions, strict=True))
    names = ["game", "round", "node", "seat", "text"]
    power = [0] * len(decisions)
    power[3], power[12] = 3, 9
    tracks = [[k % 3] * 6 for k in range(len(decisions))]
    other_columns = {"number": list(range(len(decisions))), "leech": power, "tracks": tracks}
    other_columns["vp"] = [10 + k for k in range(len(decisions))]
    table = pa.table(dict(zip(names, columns, strict=True)) | other_columns)
    pq.write_table(table, tmp_path / "decisions.parquet", row_group_size=5)
    result = decision_counts.load(tmp_path, games=1, players=2)
    assert result.counts.shape == (1, 2, len(result.kinds))
    leech, kinds = result.counts_by_prefix("leech ")
    assert kinds == ["leech CHARGE"] and leech[0].tolist() == [[1], [0]]
    named = [[result.kinds[k] if k >= 0 else "-" for k in seat] for seat in result.opening[0]]
    assert named == [
        ["piece RL", "advance economy", "booster RB1"],
        ["mine", "booster RB3", "upgrade"],
    ]
    assert [x.tolist() for x in np.nonzero(result.offers)] == [[0], [0], [2], [1]]  # taken for 2 VP
    assert result.levels[0].tolist() == [[2] * 6, [2] * 6]
    assert result.vp_by_round[0].tolist() == [[18, 0, 0, 0, 0, 19], [16, 0, 0, 0, 0, 21]]
    assert result.passing_order[0].tolist() == [[2, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 2]]
    assert result.main_actions[0].tolist() == [[2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]]


def test_a_key_a_place_or_a_faction_that_is_not_there_is_named():
    table = draw_games(np.random.default_rng(0), 8, 1)
    with pytest.raises(ValueError, match=r"unknown key 'booster'; table.setup has .*boosters"):
        component_effects.presence(table, "booster")
    for place in ("booster", -1, 99):
        with pytest.raises(ValueError, match="place of boosters is 0 to .* or None, not "):
            component_effects.presence(table, "boosters", place)
    for question in (strength.seats, strength.opponents):
        with pytest.raises(ValueError, match="unknown faction 'f0'; the dataset has F0, F1"):
            question(table, "f0")


def test_a_rank_correlation_has_an_interval_that_holds_the_true_one():
    """Of 300 draws of 14 normal pairs with a known correlation it holds in about 95 of 100."""
    rng, rho, hits = np.random.default_rng(0), 0.6, 0
    true = 6 / np.pi * np.arcsin(rho / 2)  # Spearman's, of a normal pair
    for _ in range(300):
        first, second = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 14).T
        rank = rank_correlation("x", first, second)
        hits += rank.low <= true <= rank.high
    assert hits >= 275
    assert np.isnan(rank_correlation("x", [1, 2, 3], [1, 2, 3]).low)
    assert rank_correlation("x", range(9), range(9)).estimate == pytest.approx(1)


def test_offers_are_shares_by_what_they_cost():
    """Planted: of six offers for 1 VP four are taken, of two for 3 VP none."""
    table = draw_games(np.random.default_rng(0), 2, 1)
    offers = np.zeros((2, 4, decision_counts.NUM_COSTS, 2), np.int16)
    offers[0, 0, 1], offers[1, 2, 1], offers[1, 3, 3] = (1, 2), (1, 2), (2, 0)
    none = np.zeros((2, 4, 6), np.int16)
    decisions = decision_counts.DecisionCounts(none, [], none, none, none, offers, none, none)
    shares = {
        e.name: (e.estimate, e.size)
        for e in decision_effects.shares_of_offers_taken(table, decisions)
    }
    assert shares == {"1 VP": (pytest.approx(400 / 6), 6), "3 VP": (0, 2)}
    none = next(
        e for e in decision_effects.shares_of_offers_taken(table, decisions) if e.name == "3 VP"
    )
    assert none.low == 0 and none.high == pytest.approx(65.8, abs=0.1)  # Wilson's, of 0 of 2
