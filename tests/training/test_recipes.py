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


def test_the_programs_print_their_answers(tmp_path):
    page = recipes.PAGE.read_text("utf-8")
    assert_close(recipes.update(page, tmp_path), page)
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in recipes.PICTURES.iterdir()}


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
