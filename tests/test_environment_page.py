"""The code of docs/environment.md runs as it stands, on a stand-in for the game."""

import re
from pathlib import Path

import gaia_jax
from tests.stub_env import StubEnv

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "environment.md").read_text("utf-8")


def test_its_blocks_run_one_after_another(monkeypatch, capsys):
    """About 6 s."""
    made = []

    def make(id, reward="margin"):
        made.append((id, reward))
        return StubEnv(reward=reward)

    monkeypatch.setattr(gaia_jax, "make", make)
    scope: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "environment.md", "exec"), scope)
    assert made == [("lost_fleet", "margin")]
    assert scope["state"].step_count == 1
    assert bool(scope["state"].legal_action_mask[scope["action"]])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("mine ") and said[1] == "(224, 59) (4, 216) (525,)"
    assert scope["flat"].shape == (224 * 59 + 4 * 216 + 525,)
    assert scope["ended"].shape == (20, 8) and scope["ended"].sum() == 16
    assert (scope["vp"][~scope["ended"]] == 0).all()


def test_what_it_says_of_rewards_is_what_there_is():
    told = re.findall(r'^\| `"(\w+)"`', PAGE, re.M)
    assert tuple(told) == gaia_jax.REWARDS
    assert gaia_jax.make().reward == "margin" and '`"margin"` (default)' in PAGE
    assert gaia_jax.make().max_steps == 8192 and "max_steps=8192" in PAGE
