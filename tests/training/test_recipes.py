"""`docs/reference/recipes.md`: every program runs, and prints and draws what the page shows."""

import re

import numpy as np
from exported import pq

from tools import recipes

DOCS = recipes.ROOT / "docs"
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")


def close(text, other):
    """The same words, and numbers that differ by their last digit at most."""
    if NUMBER.sub("#", text) != NUMBER.sub("#", other):
        return False
    numbers = [[float(n.replace(",", "")) for n in NUMBER.findall(x)] for x in (text, other)]
    return all(abs(a - b) < 0.11 for a, b in zip(*numbers, strict=True))


def test_every_answer_is_what_its_program_prints(tmp_path):
    """About 6 s."""
    held = recipes.PAGE.read_text("utf-8")
    made = recipes.made(held, tmp_path)
    for line, other in zip(made.splitlines(), held.splitlines(), strict=True):
        assert close(line, other), f"{other!r} is {line!r} now: python -m tools.recipes"
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {path.name for path in recipes.PICTURES.iterdir()}
    for name in drawn:
        there = (recipes.PICTURES / name).read_text("utf-8")
        assert close((tmp_path / name).read_text("utf-8"), there), name


def test_a_recipe_has_a_program_an_answer_with_an_interval_and_a_picture():
    asked = re.split(r"\n## ", recipes.PAGE.read_text("utf-8"))[2:]
    assert len(asked) >= 4
    for recipe in asked:
        title = recipe.splitlines()[0]
        (answer,) = re.findall(r"^> (.+)$", recipe, re.M)
        assert re.search(r"\(\S+ to \S+\)", answer), title
        (picture,) = re.findall(r"!\[.+\]\(recipes/(\w+)\.svg\)", recipe)
        assert f'"{picture}"' in recipe.split("```")[1], title


def test_an_answer_takes_the_place_of_the_one_before(tmp_path):
    one, two = "```python\nx = 2\n```\n", "```python\nprint(x + 1,\n  'VP')\n```\n"
    page = f"# T\n\n{one}\nText.\n\n{two}\n> old\n"
    made = recipes.made(page, tmp_path)
    assert made == page.replace("> old", "> 3 VP")
    assert recipes.made(made, tmp_path) == made
    assert recipes.made(page.replace("\n> old\n", ""), tmp_path) == made


def test_power_on_offer_is_what_is_paid_for():
    """For what was taken of offers, less 1, VP are paid: the columns of both files agree."""
    games = pq.read_table(DOCS / "sample_decided" / "games.parquet", columns=["vp_LEECH"])
    rows = pq.read_table(
        DOCS / "sample_decided" / "decisions.parquet",
        columns=["game", "seat", "node", "text", "leech"],
    ).to_pandas()
    asked = rows.node == "LEECH"
    assert (rows.leech[~asked] == 0).all() and (rows.leech[asked] > 0).mean() > 0.9
    taken = rows[rows.text == "leech CHARGE"]
    paid = np.zeros((len(games), 4), int)
    np.add.at(paid, (taken.game.to_numpy(), taken.seat.to_numpy()), taken.leech.to_numpy() - 1)
    first = rows[rows.text == "leech TOKEN_FIRST"]  # a token more, so more room: the Taklons
    apart = np.zeros((len(games), 4), bool)
    apart[first.game.to_numpy(), first.seat.to_numpy()] = True
    told = -np.array(games["vp_LEECH"].to_pylist())
    assert paid.sum() > 1000 and (paid == told)[~apart].all()
