"""The shown price and gain of a choice are what the engine then takes and gives.

The shown effects are from a batch of copies (`Rules.effects_of_all`). The tests compare them with
the fields of the state after the played step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

from gaia_jax import replay
from gaia_jax.render import Effects
from tests.browser import Watched
from tests.play.page import PRICED, begin, go, opened
from tests.play.server import Server
from tests.render.choices import check
from tests.render.records import RECORDS
from training.play import caps
from training.play.game import HUMAN, Game

SLOW_GAMES = 50


@pytest.fixture(scope="module")
def rules() -> Any:
    """The rules of the table, prices compiled."""
    from training.play.compiled_rules import Rules

    compiled = Rules("lost_fleet")
    assert not compiled.prices_ready
    compiled.prepare_prices()
    assert compiled.prices_ready
    return compiled


def compare(rules: Any, seed: int, interval: int) -> tuple[int, int]:
    """Compare all choices of each `interval`-th decision, otherwise the played one.

    Returns:
        How many decisions there were, and how many choices were compared.
    """
    rng, ruleset = np.random.default_rng(seed), rules.env.ruleset
    state, decisions, choices = rules.start(rules.draw(seed)), 0, 0
    while not state.terminated:
        effects: dict[int, Effects] = rules.effects_of_all(state)
        legal = np.flatnonzero(state.legal_action_mask).tolist()
        assert list(effects) == legal
        played = int(rng.choice(legal))
        after = None
        for action in legal if (decisions + seed) % interval == 0 else [played]:
            reached = rules.after(state, action)
            label = f"seed {seed}, decision {decisions}, {ruleset.actions.texts[action]}"
            check(effects[action], ruleset, state, reached, label)
            choices += 1
            after = reached if action == played else after
        state, decisions = after, decisions + 1
    return decisions, choices


def test_the_price_shown_is_the_price_paid(rules: Any) -> None:
    decisions, choices = compare(rules, 2, 8)
    assert decisions > 100 and choices > 1.3 * decisions


def with_full_stocks(state: Any) -> Any:
    """A state in which every player has nearly all goods that there is room for."""
    players = state.game.players
    full = np.asarray(players.resources).copy()
    full[:, :3] = [29, 14, 15]
    return state.replace(game=state.game.replace(players=players.replace(resources=full)))


@pytest.mark.parametrize("verb", ["power", "booster"])
def test_goods_without_room_are_named(rules: Any, verb: str) -> None:
    """Compared with what the same decisions bring with room; the last to pass begins a round."""
    record = replay.read(RECORDS["lost_fleet"])
    states = [jax.device_get(state) for state in replay.states(record)]
    at = next(
        n
        for n, text in enumerate(record.actions)
        if text.startswith(verb) and int(states[n].game.turn.round) > 0
        and (verb == "power" or states[n + 1].game.turn.round > states[n].game.turn.round)
    )  # fmt: skip
    state, table = states[at], rules.table(states[at])
    filled = with_full_stocks(state)
    fresh, changed = rules.effects_of_all(state), rules.effects_of_all(filled)
    lost = caps.goods_without_room(rules, filled, changed)
    named = list[str]()
    for action, effect in fresh.items():
        for p in effect.names if effect.begins_round else [table.player]:
            with_room, without = effect.fields(p), changed[action].fields(p)
            missing = {n: with_room.get(n, 0) - without.get(n, 0) for n in caps.IN_STOCK}
            expected = {name: n for name, n in missing.items() if n}
            assert lost.get(action, {}).get(p, {}) == expected, rules.text(action)
            named += caps.lost_goods_in_words(table, {p: expected}) if expected else []
    assert any(words.startswith("no room for ") for words in named)
    assert any(": no room for" in words for words in named) is (verb == "booster")


def test_the_log_names_goods_without_room_once_prices_are_ready(
    rules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page may show the log before that; its texts are made once in each language."""
    record = replay.read(RECORDS["lost_fleet"])
    states = [jax.device_get(state) for state in replay.states(record)]
    at = next(
        n
        for n, text in enumerate(record.actions)
        if text.startswith("booster") and states[n + 1].game.turn.round > states[n].game.turn.round
    )
    game = Game("g", rules, rules.draw(0), [HUMAN] * 4)
    game.nodes[0].state = with_full_stocks(states[at])
    game.play(record.actions[at])
    texts = []
    for is_ready in (False, True, False):
        monkeypatch.setattr(type(rules), "prices_ready", is_ready)
        texts.append(game.effects_text(1))
    assert texts[0] and texts[0] == texts[2]
    assert texts[1].startswith(texts[0]) and "no room for" in texts[1].removeprefix(texts[0])


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", ["lost_fleet", "base"])
def test_the_price_shown_is_the_price_paid_in_many_games(rules: Any, ruleset: str) -> None:
    if ruleset != rules.env.id:
        rules = type(rules)(ruleset)
        rules.prepare_prices()
    for seed in range(SLOW_GAMES):
        decisions, choices = compare(rules, 100 + seed, 8)
        assert decisions > 100 and choices > decisions


@pytest.mark.slow  # a program of its own, for one game
def test_the_price_shown_is_the_price_paid_in_the_base_game_for_two(rules: Any) -> None:
    two = type(rules)("base", 2)
    two.prepare_prices()
    decisions, choices = compare(two, 2, 8)
    assert decisions > 50 and choices > decisions


@pytest.fixture(params=[(1280, 900), (390, 844)])
def page(browser: Any, server: Server, request: Any) -> Iterator[Watched]:
    """The page at two sizes; nothing goes wrong on it."""
    watched = Watched(browser, *request.param)
    yield watched
    watched.page.close()
    watched.check(server.home)


def test_a_choice_has_its_price_and_the_log_its_effect(page: Watched, server: Server) -> None:
    begin(page, server.home, ("you",) * 4, "lost_fleet")
    tab = page.page
    page.until(PRICED, 300)
    page.until("game.progress.length === 0")
    at = tab.evaluate("game.moves.findIndex(m => m.text === 'upgrade 7,-3')")
    go(page, at)
    button = opened(page, "upgrade 7,-3")
    costs = button.locator(".cost").all_inner_texts()
    assert costs == ["\u22123 credits", "\u22122 ore"], costs
    gains = button.locator(".gain").all_inner_texts()
    assert gains == ["+mine to trading station", "+3 credits a round"], gains
    assert "Hadsch Hallas: +1 power" in button.inner_text()
    row = tab.locator(f'.moves li[data-node="{tab.evaluate(f"game.line[{at + 1}]")}"]')
    effects = "\u22123 credits, \u22122 ore, +mine to trading station, +3 credits a round"
    assert row.locator(".effects-text").inner_text().startswith(effects)
    wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert tab.evaluate(wide), "the page scrolls sideways"


def test_prices_come_with_the_view(server: Server) -> None:
    """Also for offered power; the row of a move has its effects."""
    moves = server.request("GET", "/api/offers")[1]
    assert moves["records"]
    id = server.new_game(seats=["you"] * 4, record="lost_fleet")
    game = server.request("GET", f"/api/games/{id}")[1]
    at = next(k for k, move in enumerate(game["moves"]) if move["text"] == "leech DECLINE")
    while not all("effects" in action for action in game["legal"]):
        game = server.request("GET", f"/api/games/{id}?since={game['version']}&at=0")[1]
    game = server.look(id, game["line"][at])
    effects = {action["text"]: action["effects"] for action in game["legal"]}
    assert effects["leech CHARGE"] == {
        "costs": ["2 VP (leech paid)"], "gains": ["3 power"], "notes": ["3 offered, room for 6"],
    }  # fmt: skip
    assert effects["leech DECLINE"] == {"notes": ["3 offered, room for 6"]}
    assert game["moves"][at]["effects_text"] == "3 offered, room for 6"


LATER = """([first, all]) => {
  const of = (texts) => texts.map((text) => ({ text, words: text }));
  [chosenFrom, further] = ["", NOTHING_FURTHER];
  return [first, all].map((texts) => {
    game.legal = of(texts);
    drawLegal();
    const shown = [...byId("legal").querySelectorAll("button")].filter((x) => x.checkVisibility());
    return [byId("kinds").children.length, shown.length];
  });
}"""


@pytest.mark.parametrize(("first", "folded"), [(4, False), (12, True)])
def test_what_is_found_later_folds_nothing(
    tab: Watched, server: Server, first: int, folded: bool
) -> None:
    """A list in view stays open under the finger; one that was folded stays folded."""
    game = server.new_game(ruleset="base", seats=["you"] * 4, seed=3)
    tab.page.goto(f"{server.home}#{game}")
    tab.page.wait_for_selector("#layout", state="visible")
    texts = ["advance economy", "advance science", "power PA_2T", "power PA_7C"]
    texts += [f"free {n}C" for n in range(9)] + ["qic QIC_3TT"]
    (_, before), (kinds, after) = tab.page.evaluate(LATER, [texts[:first], texts])
    assert bool(kinds) is folded
    # The only choice of a kind, the QIC action, is always in view.
    assert (before, after) == ((0, 1) if folded else (first, len(texts)))
