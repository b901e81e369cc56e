"""The functions of `training.study` on planted data: what is there is found, what is not is not."""

import inspect
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
import pyarrow as pa
import pyarrow.parquet as pq

from gaia_jax import ruleset as rules
from training.study import board, chart, decided, effects, pieces, play, position, strength
from training.study.table import Table

DRAWS = 100
ENOUGH = 90
FACTIONS = [f"F{i}" for i in range(8)]
SOURCES = ["START", "ROUND_TILE", "BOOSTER", "RESEARCH"]
TOKENS = [f"T{i}" for i in range(6)]


def shuffled(rng, rows, count):
    return rng.permuted(np.tile(np.arange(count), (rows, 1)), axis=1)


def rotated(rng, deals=150, rotations=4):
    """A table of four agents, no effect of anything but agents, deals and chance."""
    games = deals * rotations
    deal = np.repeat(np.arange(deals), rotations)
    faction = shuffled(rng, deals, len(FACTIONS))[:, :4][deal]
    order = shuffled(rng, deals, 4)[deal] + 1
    agent = (np.arange(4) - np.tile(np.arange(rotations), deals)[:, None]) % 4
    # A deal is good for everybody, and for a seat: games of one deal are not independent.
    shared = rng.normal(0, 8, deals)[deal][:, None] + rng.normal(0, 8, (deals, 4))[deal]
    vp = 90 + 10.0 * (agent == 2) + shared + rng.normal(0, 12, (games, 4))
    names = np.array(TOKENS)
    boosters = names[shuffled(rng, deals, len(TOKENS))[:, :3]][deal]
    rounds = names[shuffled(rng, deals, len(TOKENS))[:, :2]][deal]
    sources = rng.integers(0, 12, (games, 4, len(SOURCES))).astype(float)
    return finished(
        Table(
            deal, vp, vp, vp, sources, faction, order, agent,
            {"boosters": boosters, "round_tiles": rounds},
            {"faction": FACTIONS, "agent": list("ABCD"), "source": SOURCES},
        )
    )  # fmt: skip


def finished(table, vp=None):
    """The table with the places and wins of its VP, or of others."""
    fields = dict(vars(table))
    vp = table.vp if vp is None else vp
    fields["vp"] = vp
    fields["place"] = (vp[:, None] > vp[:, :, None]).sum(-1) + 1.0
    fields["win"] = (vp == vp.max(-1, keepdims=True)).astype(float)
    return Table(**fields)


def acted(rng, table, kinds=("leech CHARGE", "leech DECLINE", "mine", "upgrade")):
    counts = rng.poisson(2.0, (*table.vp.shape, len(kinds))).astype(np.int16)
    opening = rng.choice([2, 3], (*table.vp.shape, 3)).astype(np.int16)
    passed = shuffled(rng, len(table.vp) * 6, 4).reshape(-1, 6, 4).transpose(0, 2, 1) + 1
    turns = rng.poisson(4.0, passed.shape).astype(np.int16)
    return decided.Decided(counts, list(kinds), opening, passed.astype(np.int8), turns)


# Each case: what is asked -> effects; a name, its size, and the VP (G, P) that plant it.
def for_factions(rng, size):
    table = rotated(rng)
    planted = size * (table.faction == 3)
    table = finished(table, table.vp + planted)
    return strength.factions(table), "F3", size * (1 - 1 / len(FACTIONS))


def for_seats(rng, size):
    table = rotated(rng)
    table = finished(table, table.vp + size * (table.order == 1))
    return strength.seats(table), "1 to move", size * 3 / 4


def for_seats_of_a_faction(rng, size):
    table = rotated(rng, 400, 2)
    table = finished(table, table.vp + size * ((table.order == 4) & (table.faction == 1)))
    return strength.seats(table, "F1"), "4 to move", size * 3 / 4


def for_opponents(rng, size):
    table = rotated(rng, 400, 2)
    there = (table.faction == 5).any(-1, keepdims=True)
    table = finished(table, table.vp + size * (there & (table.faction == 2)))
    return strength.opponents(table, "F2"), "F5", size * 6 / 7


def for_board(rng, size):
    table = rotated(rng)
    feature = rng.normal(5, 2, (150, 4))[table.deal]
    other = rng.normal(0, 1, (150, 4))[table.deal]
    table = finished(table, table.vp + size * (feature - feature.mean()) / feature.std())
    return strength.board(table, {"near": feature, "other": other}), "near", size


def for_sources(rng, size):
    table = rotated(rng)
    sources = table.sources.copy()
    sources[..., 1] += np.where(table.win > 0, size, 0)
    return (
        strength.sources(Table(**(vars(table) | {"sources": sources}))),
        "ROUND_TILE",
        size,
    )


def for_sources_by_place(rng, size):
    table = rotated(rng)
    table.sources[..., 1] = rng.normal(0, 4, table.vp.shape) + size * (table.place == 2)
    return strength.sources_by_place(table)["ROUND_TILE"], "place 2", size


def for_sources_by_agent(rng, size):
    table = rotated(rng)
    table.sources[..., 2] = rng.normal(0, 4, table.vp.shape) + size * (table.agent == 3)
    return strength.sources_by_agent(table)["BOOSTER"], "D", size


def for_boosters(rng, size):
    table = rotated(rng, 400, 1)
    there = (table.setup["boosters"] == "T4").any(-1, keepdims=True)
    table = finished(table, table.vp + size * there)
    return pieces.in_play(table, "boosters"), "T4", size * 5 / 6


def for_the_first_round_tile(rng, size):
    table = rotated(rng, 400, 1)
    there = table.setup["round_tiles"][:, :1] == "T2"
    table = finished(table, table.vp + size * there)
    return pieces.in_play(table, "round_tiles", place=0), "T2", size * 5 / 6


def for_taken_paired(rng, size):
    table = rotated(rng)
    # A seat that is good takes more: only the pairs of one seat tell the two apart.
    good = rng.normal(0, 10, (150, 4))[table.deal]
    counts = rng.poisson(np.exp(good / 20)[..., None] * [1.0, 1.0, 0.2])
    table = finished(table, table.vp + good + size * counts[..., 2])
    return pieces.taken(table, counts, ["a", "b", "c"]), "c", size


def for_taken(rng, size):
    table = rotated(rng, 500, 1)
    counts = rng.poisson(0.4, (*table.vp.shape, 3))
    table = finished(table, table.vp + size * counts[..., 0])
    return pieces.taken(table, counts, ["a", "b", "c"]), "a", size


def for_taken_equally(rng, size):
    table = rotated(rng, 300, 2)
    counts = rng.multinomial(5, [0.2] * 5, table.vp.shape)
    table = finished(table, table.vp + size * counts[..., 3])
    return pieces.taken(table, counts, list("abcde")), "d", size * 4 / 5


def for_openings(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    first = (done.opening[..., :2] == [2, 3]).all(-1) & (table.faction == 0)
    table = finished(table, table.vp + size * first)
    expected = size * (1 - first[table.faction == 0].mean())
    return play.openings(table, done, "F0", depth=2, least=5), "mine / upgrade", expected


def for_passing(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    table = finished(table, table.vp + size * done.passed[..., 3])
    return play.passing(table, done), "round 4", size


def for_turns(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    table = finished(table, table.vp + size * done.turns[..., 1])
    return play.turns(table, done), "round 2", size


def for_a_position(rng, size):
    vp = rng.normal(90, 12, (5, 200, 4))
    vp[2, :, 1] += size
    told = position.Outcomes(np.array([4, 9, 7, 1, 3]), np.full(5, np.nan), vp, 1)
    return told.effects([f"action {n}" for n in range(10)]), "action 7", size * 4 / 5


def for_leech(rng, size):
    table = rotated(rng)
    done = acted(rng, table)
    table = finished(table, table.vp + size * done.counts[..., 0])
    return play.leech(table, done), "leech CHARGE", size


CASES = [
    (for_factions, 8.0), (for_seats, 7.0), (for_seats_of_a_faction, 14.0), (for_opponents, 12.0),
    (for_board, 4.0), (for_sources, 2.0), (for_boosters, 5.0), (for_the_first_round_tile, 8.0),
    (for_taken_paired, 4.0), (for_taken, 5.0), (for_taken_equally, 4.0),
    (for_openings, 14.0), (for_passing, 2.0), (for_leech, 2.0), (for_turns, 2.0),
    (for_sources_by_place, 2.0), (for_sources_by_agent, 2.0), (for_a_position, 6.0),
]  # fmt: skip


@pytest.mark.parametrize(("case", "size"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_planted_effect_is_found_within_its_interval(case, size):
    hits = 0
    for seed in range(DRAWS):
        found, name, expected = case(np.random.default_rng(seed), size)
        (effect,) = [e for e in found if e.name == name]
        hits += effect.found and effect.low <= expected <= effect.high
    assert hits >= ENOUGH


@pytest.mark.parametrize(("case", "size"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_where_nothing_is_planted_nothing_is_found(case, size):
    quiet = 0
    for seed in range(DRAWS):
        found, _, _ = case(np.random.default_rng(1000 + seed), 0.0)
        if case is for_sources:  # winners have more VP, but not of any one source
            found = [e for e in found if e.name != "none"]
        quiet += not any(e.found for e in found)
    assert quiet >= ENOUGH


def test_every_question_is_among_the_cases():
    """A function that gives effects is tested on planted data, or is a part of one that is."""
    asked = {
        f"{module.__name__.rsplit('.', 1)[-1]}.{name}"
        for module in (pieces, play, strength)
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__
        and "Effect" in str(function.__annotations__["return"]) and not name.startswith("_")
    }  # fmt: skip
    called = "\n".join(inspect.getsource(case) for case, _ in CASES)
    assert {name for name in asked if f"{name}(" not in called} == set()
    assert len(asked) == 13


def test_games_of_one_deal_are_one_sample():
    """The same games four times over make no interval narrower."""
    rng = np.random.default_rng(0)
    one = rotated(rng, 100, 1)
    fields = {n: np.repeat(x, 4, axis=0) for n, x in vars(one).items() if n not in
              ("setup", "names")}  # fmt: skip
    four = Table(**fields, setup=one.setup, names=one.names)
    for few, many in zip(strength.seats(one), strength.seats(four), strict=True):
        assert many.estimate == pytest.approx(few.estimate)
        assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.02)


def test_a_regression_of_known_numbers():
    x = np.array([[1.0, 1], [1, 2], [1, 3], [1, 4]])
    (one, two) = effects.regression(np.array([3.0, 5, 7, 9]), x, np.arange(4), ["one", "two"])
    assert one.estimate == pytest.approx(1) and two.estimate == pytest.approx(2)
    assert two.low == pytest.approx(2) and two.found
    twice = np.concatenate([x, x[:, :1]], axis=1)
    (one, _, _) = effects.regression(np.ones(4), twice, np.arange(4), ["a", "b", "a again"])
    assert np.isnan(one.estimate) and not one.found


def test_holm_keeps_what_stands_out_together():
    chances = np.array([0.04, 0.001, 0.02, 0.9])
    assert effects.holm(chances).tolist() == [False, True, False, False]
    assert effects.holm(np.array([0.04])).tolist() == [True]


def test_families_together_are_judged_as_one():
    """Of 300 pairs without an effect about 15 intervals leave 0 out, and none stands out."""
    rng = np.random.default_rng(0)
    pairs = [effects.Effect(str(k), z, z - 1.96, z + 1.96, 9, False) for k, z in
             enumerate(rng.normal(0, 1, 300))]  # fmt: skip
    assert sum(e.low > 0 or e.high < 0 for e in pairs) >= 5
    assert not any(e.found for e in effects.together(pairs))
    strong = effects.Effect("strong", 6.0, 4.04, 7.96, 9, False)
    unknown = effects.Effect("unknown", np.nan, np.nan, np.nan, 0, False)
    told = effects.together([*pairs, strong, unknown])
    assert [e.name for e in told if e.found] == ["strong"] and len(told) == 301


def test_sources_by_place_are_means():
    table = rotated(np.random.default_rng(1), 50)
    told = strength.sources_by_place(table)
    for k, name in enumerate(SOURCES):
        for place, effect in enumerate(told[name]):
            here = table.place == place + 1
            assert effect.estimate == pytest.approx(table.sources[..., k][here].mean())
            assert effect.size == here.sum()


def test_what_lies_near_home():
    """Counted by hand on one tile of the base map: M10 alone in the middle has Yellow at 1,-1."""
    ruleset = rules.RULESETS["base"]
    tiles = [f"M{n:02}" for n in (10, 1, 2, 3, 4, 5, 6, 7, 8, 9)]
    one = rotated(np.random.default_rng(0), 1, 1)
    names = list(ruleset.ids["faction"])
    setup = {"sectors_tile": np.array([tiles]), "sectors_rotation": np.zeros((1, 10), int)}
    xenos = names.index("XENOS")
    fields = vars(one) | {"setup": setup, "faction": np.full((1, 4), xenos)}
    fields["names"] = {"faction": names, "agent": list("ABCD"), "source": SOURCES}
    found = board.features(Table(**fields), ruleset)
    laid = {}
    for (q, r), tile in zip(ruleset.map.sector_centers, tiles, strict=True):
        (printed,) = [t for t in ruleset.map.sector_tiles if t.id == tile]
        laid |= {(q + dq, r + dr): planet for (dq, dr), planet in printed.planets}
    cycle = list(board.COLOURS)
    near, easy, homes = 0, 0, [c for c, planet in laid.items() if planet == "Yellow"]
    for q, r in homes:
        for (a, b), planet in laid.items():
            if 0 < max(abs(a - q), abs(b - r), abs(a - q + b - r)) <= 3 and planet != "Transdim":
                near += 1
                if planet != "Gaia":
                    apart = abs(cycle.index(planet) - cycle.index("Yellow"))
                    easy += min(apart, 7 - apart) <= 1
    assert len(homes) == 6
    assert found["planets near home"][0, 0] == pytest.approx(near / 6)
    assert found["of these at most one step away"][0, 0] == pytest.approx(easy / 6)


def test_the_picture_shows_every_effect():
    told = [effects.Effect("a & b", 2.0, 1.0, 3.0, 10, True),
            effects.Effect("c", -1.0, -2.0, 0.5, 9, False),
            effects.Effect("unknown", np.nan, np.nan, np.nan, 0, False)]  # fmt: skip
    svg = ElementTree.fromstring(chart.forest(told, "Title", "VP"))
    circles = svg.findall("{http://www.w3.org/2000/svg}circle")
    assert [c.get("fill") for c in circles] == [chart.FOUND, chart.PLAIN]
    assert float(circles[0].get("cx")) > float(circles[1].get("cx"))
    assert chart.ticks(-2.0, 3.0) == [-2, -1, 0, 1, 2, 3]


def test_a_position_is_played_out():
    """On rules of three lines: the end is known, whoever plays."""
    import jax

    from tests import stub_env
    from training.agents import random_agent

    env = stub_env.StubEnv(length=6)
    state = jax.jit(env.init)(jax.random.key(0))
    found = position.play_out(env, random_agent(env), state, most=3, playouts=5)
    assert found.actions.tolist() == [0, 3, 6] and np.isnan(found.policy).all()
    # The actions of the six decisions pay 0, 1, 2, 0, 1, 2 VP, in turn to the four seats.
    gains = np.zeros(4, int)
    for number in range(6):
        gains[(found.seat + number) % 4] += number % 3
    start = np.asarray(state.game.players.vp)
    assert (found.vp == start + gains).all() and found.vp.shape == (3, 5, 4)
    texts = [str(action) for action in range(env.num_actions)]
    lines = position.table(found, texts).splitlines()
    assert len(lines) == 4 and lines[1].startswith("0 ")


def test_what_lay_at_a_place_is_counted_by_its_name():
    table = rotated(np.random.default_rng(0), 2, 1)
    table.setup["round_tiles"] = np.array([["T5", "T1"], ["T1", "T3"]])
    kinds = ["tile 1", "mine", "tile 0"]
    counts = np.arange(24, dtype=np.int16).reshape(2, 4, 3)
    done = decided.Decided(counts, kinds, counts, counts, counts)
    placed = done.at(["tile 0", "tile 1", "tile 9"])
    assert (placed[..., 0] == counts[..., 2]).all() and not placed[..., 2].any()
    told, names = pieces.by_thing(table, placed[..., :2], "round_tiles")
    assert names == ["T1", "T3", "T5"]
    assert (told[0] == np.stack([counts[0, :, 0], 0 * counts[0, :, 0], counts[0, :, 2]], -1)).all()
    assert (told[1] == np.stack([counts[1, :, 2], counts[1, :, 0], 0 * counts[1, :, 0]], -1)).all()


def test_what_each_seat_did_is_counted(tmp_path):
    """Two games by hand: openings, pieces of upgrades, the order of passing, over row groups."""
    told = [
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
    columns = list(zip(*told, strict=True))
    names = ["game", "round", "node", "seat", "text"]
    table = pa.table(dict(zip(names, columns, strict=True)) | {"number": list(range(len(told)))})
    pq.write_table(table, tmp_path / "decisions.parquet", row_group_size=5)
    found = decided.load(tmp_path, games=1, players=2)
    assert found.counts.shape == (1, 2, len(found.kinds))
    leech, kinds = found.of("leech ")
    assert kinds == ["leech CHARGE"] and leech[0].tolist() == [[1], [0]]
    named = [[found.kinds[k] if k >= 0 else "-" for k in seat] for seat in found.opening[0]]
    assert named == [
        ["piece RL", "advance economy", "booster RB1"],
        ["mine", "booster RB3", "upgrade"],
    ]
    assert found.passed[0].tolist() == [[2, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 2]]
    assert found.turns[0].tolist() == [[2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]]


def test_a_key_a_place_or_a_faction_that_is_not_there_is_named():
    table = rotated(np.random.default_rng(0), 8, 1)
    with pytest.raises(ValueError, match=r"unknown key 'booster'; table.setup has .*boosters"):
        pieces.in_play(table, "booster")
    for place in ("booster", -1, 99):
        with pytest.raises(ValueError, match="place of boosters is 0 to .* or None, not "):
            pieces.in_play(table, "boosters", place)
    for question in (strength.seats, strength.opponents):
        with pytest.raises(ValueError, match="unknown faction 'f0'; the dataset has F0, F1"):
            question(table, "f0")
