"""Pictures of random positions: each piece once, within its box, no two labels over one another."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

import gaia_jax
from gaia_jax import render, replay
from gaia_jax.language import in_language
from gaia_jax.render import colours
from gaia_jax.render.picture import _COLOURS
from gaia_jax.render.shapes import symbols
from gaia_jax.testing import sample_legal
from tests.conftest import GAMES
from tests.render.layout import Layout
from tests.render.pieces import KINDS, expected
from tests.render.records import RECORDS
from tests.trees import take_row


def look_at(state: Any, ruleset: Any, last: int | None = None) -> Layout:
    """Draw a position and check what must hold of every picture."""
    layout = Layout(render.svg(state, ruleset, last))
    twice = [id for id, count in layout.ids.items() if count > 1]
    assert not twice, f"ids that appear twice: {twice}"
    pieces = {id for id in layout.ids if id.startswith(KINDS)}
    expected_ids = expected(state, ruleset)
    mine = {id for id in pieces if not id.startswith(("held-", "token-", "ship-"))}
    assert not expected_ids - pieces, f"not drawn: {sorted(expected_ids - pieces)}"
    assert not {x for x in mine if x not in expected_ids}, sorted(mine - expected_ids)
    assert layout.root.get("aria-label"), "an image has a name for screen readers"
    page, blocks = layout.page, layout.blocks()
    assert len(blocks) == 5
    for box in (*layout.labels, *layout.shapes):
        frame = blocks.get(box.block, page)
        assert box.inside(frame), f"{box} sticks out of {frame}"
    over = [
        f"{a.content!r} and {b.content!r} in {a.block}, {b.block}" for a, b in layout.overlaps()
    ]
    assert not over, f"labels overlap: {over}"
    return layout


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDS)
def test_every_position_of_the_sample_records_is_drawn_whole(name: str) -> None:
    record = replay.read(RECORDS[name])
    env = gaia_jax.make(record.ruleset)
    for number, state in enumerate(replay.states(record)):
        if number % 23 == 0 or number == len(record.actions):
            last = None
            if number:
                last = gaia_jax.actions.from_text(env.ruleset, record.actions[number - 1])
            look_at(state, env.ruleset, last)


@pytest.fixture(scope="module")
def final_picture() -> str:
    """The end of a sample game."""
    return render.svg(replay.play(replay.read(RECORDS["lost_fleet"])))


def test_satellites_show_their_player_and_ship_names_are_on_top(final_picture: str) -> None:
    """A satellite has the number of its player, from 1; no cell is drawn over a name."""
    picture = final_picture
    labels = re.findall(r'id="satellite-(\d)-\d+">.*?>([^<>]+)</text>', picture)
    assert len(labels) > 10 and all(int(label) == int(p) + 1 for p, label in labels), labels
    names = picture.index('id="part-ship-names"')
    assert names > max(at.start() for at in re.finditer('id="part-cell-', picture))
    assert all(
        f">{name}</text>" in picture[names:] for name in ("Twilight", "Rebellion", "TF Mars")
    )


def test_a_turned_federation_token_is_drawn_grey(final_picture: str) -> None:
    """As many are green as can still be turned: 12 VP never is, of the others one is turned."""
    picture = final_picture
    turned = re.findall(r"federation token: ([^<]*), turned", picture)
    assert turned == ["8 VP, 1 QIC"]
    chip = picture[: picture.index(", turned")].rpartition("<g")[2]
    rest = picture[picture.index(", turned") :].partition("</g>")[0]
    assert _COLOURS["token"][0] in chip + rest and _COLOURS["token green"][0] not in chip + rest


def positions(env: Any, rounds: int, interval: int) -> Iterator[Any]:
    """Positions of GAMES random games, each `interval` decisions later."""

    def play_interval(states: Any, key: jax.Array) -> Any:
        def decide(states: Any, key: jax.Array) -> tuple[Any, None]:
            uniform = jax.random.uniform(key, (GAMES,))
            chosen = jax.vmap(sample_legal)(states.legal_action_mask, uniform)
            return jax.vmap(env.step)(states, chosen), None

        return jax.lax.scan(decide, states, jax.random.split(key, interval))[0]

    key = jax.random.key(7)
    go = jax.jit(play_interval)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, GAMES))
    for number in range(rounds):
        yield from (take_row(jax.device_get(states), game) for game in range(GAMES))
        states = go(states, jax.random.fold_in(key, number))


@pytest.mark.slow
@pytest.mark.parametrize("id", gaia_jax.RULESETS)
def test_500_random_positions_of_each_ruleset(id: str) -> None:
    env = gaia_jax.make(id)
    count = 0
    for state in positions(env, rounds=32, interval=9):
        look_at(state, env.ruleset)
        count += 1
    assert count >= 500


def test_a_notebook_shows_the_table(new_games: Any) -> None:
    state = take_row(new_games, 0)
    assert state._repr_html_() == render.svg(state)
    assert new_games._repr_html_() is None, "a batch has no picture"


def test_a_state_is_drawn_by_the_ruleset_that_it_names(new_games: Any) -> None:
    state = take_row(new_games, 0)
    assert render.text(state).startswith("lost_fleet, set-up")
    assert "; nothing built; 0 satellites" in render.text(state)
    other = state.replace(ruleset="lost_fleet_published")  # of the same shapes
    assert "The Lost Fleet (as published)" in render.svg(other)
    with pytest.raises(ValueError, match=r"unknown ruleset .mine., not in .*; pass the ruleset"):
        render.svg(state.replace(ruleset="mine"))


@pytest.mark.parametrize(
    ("players", "code", "game", "last"),
    [
        (2, "de", "Gaia Project für 2 Personen", "zuletzt: "),
        (1, "de", "Gaia Project, gegen den Automa", "zuletzt: "),
        (3, "ko", "가이아 프로젝트, 3인", "마지막: "),
        (3, "en", "Gaia Project for 3 players", "last: "),
    ],
)
def test_a_picture_names_game_and_last_action_in_its_language(
    players: int, code: str, game: str, last: str
) -> None:
    env = gaia_jax.make("base", players=players)
    state = jax.jit(env.init)(jax.random.key(0))
    with in_language(code):
        texts = [label.content for label in Layout(render.svg(state, env.ruleset, 0)).labels]
    assert game in texts
    assert any(text.startswith(last) for text in texts)


@pytest.mark.parametrize("draw", [render.svg, render.text])
def test_a_batch_is_refused(new_games: Any, draw: Callable[..., str]) -> None:
    with pytest.raises(ValueError, match="expected one state, got a batch"):
        draw(new_games)


def test_the_income_shown_is_what_the_next_round_brings() -> None:
    record = replay.read(RECORDS["lost_fleet"])
    env = gaia_jax.make(record.ruleset)
    before = None
    seen = 0
    for state in replay.states(record):
        table = render.Table(state, env.ruleset)
        if before is not None and before.round and table.round == before.round + 1:
            for old, new in zip(before.seats, table.seats, strict=True):
                if old.player == before.player:  # passed with this decision: another booster
                    continue
                # Caps: 30 credits, 15 ore and knowledge; tinkering tiles come later.
                assert new.credits == min(30, old.credits + old.income.credits)
                assert new.ore == min(15, old.ore + old.income.ore)
                assert new.knowledge == min(15, old.knowledge + old.income.knowledge)
                seen += 1
        before = table
    assert seen == 15, "five changes of the round, three players each"


@pytest.mark.parametrize(
    "name", [n if n == "lost_fleet" else pytest.param(n, marks=pytest.mark.slow) for n in RECORDS]
)
def test_the_missions_shown_are_the_ones_paid(name: str) -> None:
    """FIN-02: the prizes of the counts in the picture are the VP that the rules have paid."""
    record = replay.read(RECORDS[name])
    env = gaia_jax.make(record.ruleset)
    table = render.Table(replay.play(record), env.ruleset)
    for i, source in enumerate(("FINAL_1", "FINAL_2")):
        counts = [seat.missions[i] for seat in table.seats]
        for seat in table.seats:
            better = sum(c > counts[seat.player] for c in counts)
            equal = counts.count(counts[seat.player])
            prize = sum((18, 12, 6, 0)[better : better + equal]) // equal
            if not env.ruleset.zero_ranks and counts[seat.player] == 0:
                prize = 0
            assert seat.vp_source[source] == prize, f"{table.final_missions[i]} {counts}"


def test_the_terminal_fits_120_columns(games_under_way: Any, env: Any) -> None:
    for game in range(GAMES):
        out = render.text(take_row(games_under_way, game), env.ruleset)
        rows = out.split("planets:")[0].splitlines()
        assert max(map(len, rows)) <= 120
        for seat in render.Table(take_row(games_under_way, game), env.ruleset).seats:
            assert seat.faction.name in out


# Colour blindness of three kinds, whole: linear sRGB as it is seen (Machado et al. 2009).
BLIND = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
}  # fmt: skip
TO_XYZ = ((0.4339, 0.3762, 0.1899), (0.2127, 0.7152, 0.0722), (0.0178, 0.1095, 0.8727))  # white: 1


def seen(colour: str, kind: str) -> Any:
    """(3,) CIELAB of `#rrggbb`, as it is seen."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(BLIND[kind]) @ linear, 0, 1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def too_near(named: dict[str, str], least: float) -> list[str]:
    """Pairs that are nearer than a difference in CIELAB to somebody's eye."""
    return [
        f"{first}, {second}: {kind}"
        for first, second in itertools.combinations(named, 2)
        for kind in BLIND
        if np.linalg.norm(seen(named[first], kind) - seen(named[second], kind)) < least
    ]


def test_numbers_contrast_with_the_colours_of_players() -> None:
    """WCAG AA for text: 4.5 to 1."""

    def luminance(colour: str) -> float:
        rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    for planet, pair in colours._FACTIONS.items():
        dark, light = sorted(map(luminance, pair))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, planet


def test_every_faction_has_an_emblem_of_its_own() -> None:
    factions = {id for ruleset in gaia_jax.RULESETS.values() for id in ruleset.ids["faction"]}
    drawings = dict(re.findall(r'<symbol id="g-([A-Z_]+)"[^>]*>(.*?)</symbol>', symbols()))
    assert factions and factions <= set(drawings)
    assert len({drawings[id] for id in factions}) == len(factions)


def test_colours_of_charts_stay_apart_for_the_colour_blind() -> None:
    """Of seats, which have their number too, and of sources of VP, which lie on one another."""
    seats = {name: fill for name, (fill, _) in colours._FACTIONS.items()}
    assert too_near(seats, 17) == []
    sources = {str(i): colour for i, colour in enumerate(colours.VP_SOURCES)}
    assert too_near(sources, 11) == []
    # The check detects earlier colours: red and brown, teal and pink.
    before = {**seats, "Brown": "#8a5631", "Asteroid": "#27b5a5", "Proto": "#e56bb4"}
    assert {"Red, Brown: protanopia", "Proto, Asteroid: deuteranopia"} <= set(too_near(before, 17))
    assert too_near({"a": "#ffffff", "b": "#000000"}, 99) == []
