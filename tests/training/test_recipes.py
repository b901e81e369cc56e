"""`docs/reference/recipes.md`: the programs run; on the sample they print the page's answers."""

import re

import numpy as np
import pandas as pd
import pytest
from exported import pq

from tools import recipes
from training import export
from training.system import cli

NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")


def assert_close(text, other):
    """The same words, and numbers that differ by their last digit at most."""
    assert NUMBER.sub("#", text) == NUMBER.sub("#", other)
    numbers = [[float(n.replace(",", "")) for n in NUMBER.findall(x)] for x in (text, other)]
    np.testing.assert_allclose(*numbers, atol=0.11)


def planted_decisions(folder):
    """1,024 games of the sample: Xenos gain 30 VP by a first mine, taking power gives 5 VP."""
    games = pq.read_table(recipes.ROOT / "docs/sample/games.parquet").slice(0, 1024)
    folder.mkdir()
    pq.write_table(games, folder / "games.parquet")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"game": np.repeat(np.arange(1024), 4), "seat": np.tile(np.arange(4), 1024)}
    )
    factions = [games[f"faction_{seat}"].to_pylist() for seat in range(4)]
    is_xenos = np.array(factions).T.ravel() == "XENOS"
    noise = rng.normal(0, 3, (2, len(rows)))
    first = rng.choice(["mine 1,1", "upgrade 2,2"], len(rows))
    turns = rows.assign(
        node="TURN",
        text=first,
        leech=0,
        legal=9,
        vp_end=100 + 30 * is_xenos * (first == "mine 1,1"),
    )
    turns.vp_end += noise[0]
    answer = rng.choice(["leech CHARGE", "leech DECLINE"], len(rows))
    offers = rows.assign(
        node="LEECH", text=answer, leech=3, legal=2, vp_end=100 + 5 * (answer == "leech CHARGE")
    )
    offers.vp_end += noise[1]
    decisions = pd.concat([turns, offers]).assign(round=1, policy=0.5, vp=20, value=80.0)
    decisions.loc[decisions.node == "LEECH", "round"] = 1 + np.arange(len(offers)) % 6
    decisions.to_parquet(folder / "decisions.parquet")
    return folder


def test_the_programs_print_their_answers(tmp_path):
    page = recipes.PAGE.read_text("utf-8")
    assert_close(recipes.update(page, tmp_path), page)
    decided = recipes.update(page, tmp_path / "all", planted_decisions(tmp_path / "decided"))
    assert re.search(
        r"Xenos: `mine` first ends with 1(29|30|31) VP .*`upgrade` first with (99|100)", decided
    )
    assert re.search(r"Taking gives \+(4\.9|5\.[012]) VP", decided)
    assert {p.name for p in (tmp_path / "all").iterdir()} == {
        p.name for p in recipes.PICTURES.iterdir()
    }


def test_an_answer_replaces_the_previous_one(tmp_path):
    first, second = "```python\nx = 2\n```\n", "```python\nprint(x + 1,\n  'VP')\n```\n"
    page = f"# T\n\n{first}\nText.\n\n{second}\n> old\n"
    updated = recipes.update(page, tmp_path)
    assert updated == page.replace("> old", "> 3 VP")
    assert recipes.update(updated, tmp_path) == updated
    assert recipes.update(page.replace("\n> old\n", ""), tmp_path) == updated


@pytest.mark.slow
def test_the_power_offers_of_decisions_are_what_seats_paid_for(tmp_path):
    """The VP paid are the power taken less 1: the decisions agree with the VP of the games."""
    args = ["--merge", str(recipes.ROOT / "docs/sample"), "--games", "32", "--out", str(tmp_path)]
    args += ["--decisions", "--no-policy", "--replay-batch", "32"]
    assert cli.run(lambda: export.main(args)) == 0
    rows = pd.read_parquet(tmp_path / "decisions.parquet")
    is_offer = rows.node == "LEECH"
    assert (rows.leech[~is_offer] == 0).all() and (rows.leech[is_offer] > 0).mean() > 0.9
    charged = rows[rows.text == "leech CHARGE"]
    paid = np.zeros((32, 4), int)
    np.add.at(
        paid, (charged.game.to_numpy(), charged.seat.to_numpy()), charged.leech.to_numpy() - 1
    )
    first = rows[rows.text == "leech TOKEN_FIRST"]  # a new token leaves the Taklons room for more
    is_exact = np.ones((32, 4), bool)
    is_exact[first.game.to_numpy(), first.seat.to_numpy()] = False
    expected = -np.array(pq.read_table(tmp_path / "games.parquet")["vp_LEECH"].to_pylist())
    assert paid.sum() > 60 and (paid == expected)[is_exact].all()
