"""The action index and its text notation."""

import re

import pytest

from gaia_jax import actions
from gaia_jax.ruleset import LOST_FLEET, RULESETS

pytestmark = pytest.mark.no_compile


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS.keys())
def test_every_index_goes_through_its_text(ruleset):
    texts = [actions.to_text(ruleset, a) for a in range(ruleset.actions.num_actions)]
    assert len(set(texts)) == len(texts) <= 1024
    assert [actions.from_text(ruleset, text) for text in texts] == list(range(len(texts)))


def test_white_space_does_not_matter():
    expected = actions.from_text(LOST_FLEET, "power PA_7C")
    assert actions.from_text(LOST_FLEET, "  power \t PA_7C\n") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "unknown verb, one of mine, project"),
        ("build 3,-2", "'build 3,-2': unknown verb, one of mine, project, upgrade, pick, free"),
        ("mine", "mine requires a cell as q,r"),
        ("mine 99,99", "'mine 99,99': mine requires a cell as q,r"),
        ("pass now", "pass takes no argument"),
        ("power PA_8C", "power requires one of PA_TF1, PA_2PT"),
        ("leech", "leech requires one of CHARGE, TOKEN_FIRST, DECLINE"),
        ("advance science ai", "advance requires one of terraforming"),
        ("MINE 0,0", "unknown verb"),
    ],
)
def test_a_text_that_is_no_action_is_refused_with_the_choices(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        actions.from_text(LOST_FLEET, text)


@pytest.mark.parametrize("action", [-1, 1024, 10**9])
def test_an_index_that_is_none_has_no_text(action):
    with pytest.raises(ValueError, match=rf"action {action} is not in 0 \.\. 1023"):
        actions.to_text(LOST_FLEET, action)


def test_the_planes_come_first():
    cells = LOST_FLEET.geometry.cells
    for i, plane in enumerate(actions.PLANES):
        for c in (0, 100, len(cells) - 1):
            q, r = cells[c]
            assert actions.to_text(LOST_FLEET, i * len(cells) + c) == f"{plane} {q},{r}"
            assert LOST_FLEET.actions.cell[i * len(cells) + c] == c
    assert (LOST_FLEET.actions.cell[4 * len(cells) :] == -1).all()
