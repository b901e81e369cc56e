"""`gaia check`: the hash of random games, and what the command says of it."""

import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.testing import signature
from tests.stub_env import StubEnv
from training import check
from training.system import cli


def test_actions_are_drawn_by_whole_numbers():
    mask = np.random.default_rng(0).random((64, 40)) < 0.3
    mask[:, 5] = True
    actions, counts = signature.choose(jnp.asarray(mask), jnp.uint32(7))
    for game, row in enumerate(mask):
        x = (game * 0x9E3779B1 + 7 * 0x85EBCA77) % 2**32
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            x = (x ^ x >> shift) * factor % 2**32
        legal = np.flatnonzero(row)
        assert counts[game] == len(legal)
        assert actions[game] == legal[(x ^ x >> 16) % len(legal)]


def test_the_command_compares_with_the_release(monkeypatch, capsys):
    own, decisions = signature.signature(StubEnv(), 4)
    assert decisions == 4 * 9 and signature.signature(StubEnv(length=8), 4)[0] != own
    monkeypatch.setattr(gaia_jax, "make", lambda *args, **options: StubEnv())
    monkeypatch.setattr(signature, "GAMES", 4)
    for released, code, word in ((own, 0, "equal"), ("0" * 64, 1, "differs: this machine")):
        monkeypatch.setitem(signature.RELEASED, "lost_fleet", released)
        assert cli.run(lambda: check.main([])) == code
        head, *lines, last = capsys.readouterr().out.splitlines()
        assert head.startswith("4 games of lost_fleet") and "36 decisions in" in head
        assert lines == [f"this machine  {own}", f"released      {released}"]
        assert last.startswith(word)


def test_an_unknown_ruleset_is_one_line(capsys):
    assert cli.run(lambda: check.main(["--env", "lost"])) == 2
    assert "'lost'" in (err := capsys.readouterr().err) and err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("ruleset", signature.RELEASED)
def test_the_released_signatures_are_those_of_this_version(ruleset):
    assert signature.signature(gaia_jax.make(ruleset))[0] == signature.RELEASED[ruleset]
