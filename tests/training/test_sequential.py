"""The sequential test of an arena, and experiments whose arms never differ."""

import json
import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_env
from commands import run_command
from jax import Array

import training.arena as arena
from gaia_jax.cli.command_line import UserError
from training.agents import Agent
from training.games import arena as games_arena
from training.games.same_agents import check_games, check_programs
from training.games.sequential import SequentialTest, leads
from training.games.table import BEHAVIOUR, Games, rotated


def best_mine(params: Any, observation: Any, mask: Array, key: Array) -> Array:
    """The legal mine that pays the most, or the first legal action."""
    worth = observation.cells[..., 0] + 1
    value = jnp.zeros(mask.shape).at[:, : worth.shape[1]].set(worth)
    return jnp.where(mask, value + 0.5, 0).argmax(-1)


def best_mine_copy(params: Any, observation: Any, mask: Array, key: Array) -> Array:
    return best_mine(params, observation, mask, key)


def best_mine_doubled(params: Any, observation: Any, mask: Array, key: Array) -> Array:
    """Another program that always chooses as `best_mine` does."""
    return best_mine(params, observation.replace(cells=observation.cells * 2), mask, key)


def games_of(vp: np.ndarray) -> Games:
    """Games of four entries with the VP (S, R, P)."""
    entry, counts = np.broadcast_to(rotated(), vp.shape), np.zeros(vp.shape, int)
    behaviour = np.zeros((*vp.shape, len(BEHAVIOUR)))
    per_game = np.ones(vp.shape[:2])
    return Games(
        entry, counts, counts, vp, vp[..., None], behaviour, per_game, per_game, counts, counts
    )


def command(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    return run_command(capsys, arena.main, toy_env, *args, "--env", "toy")


def test_the_likelihood_ratio_by_hand() -> None:
    test = SequentialTest(0, 2)
    assert np.allclose(test.bounds, (-math.log(19), math.log(19)))
    samples = np.tile([0.0, 4.0], 8)  # mean 2: squares 8 around 0, 4 around 2
    assert math.isclose(test.ratio(samples), 8 * math.log(8 / 4))
    assert test.accepted(samples) == "H1"
    assert test.ratio(samples[:15]) == 0 and test.accepted(np.tile([1.0, 1.0], 99)) == ""
    assert test.accepted(np.zeros(16)) == "H0"  # without variance


@pytest.mark.parametrize("accepted, mean", [("H0", 0), ("H1", 2)])
def test_wrong_decisions_are_as_rare_as_stated(accepted: str, mean: int) -> None:
    """400 simulated arenas, batches of 8 set-ups of 8 VP spread."""
    test, rng = SequentialTest(0, 2, 0.05, 0.05), np.random.default_rng(1)
    wrong, sizes = 0, []
    for _ in range(400):
        samples = rng.normal(mean, 8, 2000)
        size = next(n for n in range(16, 2000, 8) if test.accepted(samples[:n]))
        wrong += test.accepted(samples[:size]) != accepted
        sizes.append(size)
    assert wrong / 400 < 0.07  # three standard errors above 0.05 are 0.083
    # Wald's approximation of the mean size, 85, without what a batch overshoots the bound by.
    assert 80 < np.mean(sizes) < 115


def test_the_lead_is_that_of_all_seats_of_the_first_agent() -> None:
    vp = np.array([10, 20, 30, 40])[rotated()][None]  # of entries 0 to 3, in every rotation
    games = games_of(vp)
    assert leads(games, ["a", "b", "c", "d"]).tolist() == [10 - 30]
    assert leads(games, ["a", "b", "b", "a"]).tolist() == [25 - 25]


def test_programs_that_call_back_into_python_are_not_compared() -> None:
    def calls(function: Any) -> Any:
        shape = jax.ShapeDtypeStruct((2,), jnp.int32)
        return lambda params, state, mask, key: jax.pure_callback(function, shape, mask)

    env = toy_env.make("toy")
    functions = (lambda mask: mask.argmax(-1), lambda mask: mask.argmin(-1))
    check_programs(env, [Agent(name, calls(f)) for name, f in zip("ab", functions, strict=True)])

    def first_legal(params: Any, state: Any, mask: Array, key: Array) -> Array:
        return mask.argmax(-1)

    with pytest.raises(UserError, match="'a' and 'b' never differ"):
        check_programs(env, [Agent(name, first_legal) for name in "ab"])


def test_games_that_are_the_same_in_every_seating_are_an_error() -> None:
    vp = np.broadcast_to(np.arange(16 * 4).reshape(16, 1, 4), (16, 4, 4)).copy()
    names = ["a", "a", "b", "a"]
    with pytest.raises(UserError, match="'a' and 'b' never differ: the first 64 games"):
        check_games(games_of(vp), names)
    check_games(games_of(vp[:15]), names)  # too few to tell
    check_games(games_of(vp), ["a"] * 4)
    vp[15, 3, 0] += 1
    check_games(games_of(vp), names)


def test_an_arena_ends_when_the_test_has_decided(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(games_arena, "GAMES_AT_ONCE", 32)
    names = f"{__name__}:best_mine,random,random,random"
    args = ["--agents", names, "--games", "512", "--csv", str(tmp_path / "games.csv")]
    args += ["--until", "0:8", "--resume", "--json", str(tmp_path / "arena.json")]
    code, text, err = command(capsys, *args)
    assert code == 0, err
    report = json.loads((tmp_path / "arena.json").read_text())
    assert report["sequential_test"]["accepted"] == "H1"
    assert report["setups"] == report["sequential_test"]["setups"] < 128
    assert text.startswith(f"sequential test: accepts H1, {__name__}:best_mine 8 VP ahead")
    code, _, err = command(capsys, *args)  # nothing is left to play
    assert code == 2 and "games.csv exists" in err

    twins = ",".join(f"{__name__}:best_mine{end}" for end in ("", "_copy", "_copy", "_copy"))
    code, _, err = command(capsys, "--agents", twins)
    assert code == 2 and "never differ: they are the same program with the same param" in err
    alike = ",".join(
        f"{__name__}:best_mine{end}" for end in ("", "_doubled", "_doubled", "_doubled")
    )
    code, _, err = command(capsys, "--agents", alike, "--games", "128")
    assert code == 2 and "never differ: the first 64 games are the same" in err


@pytest.mark.parametrize("options, message", [
    (("--until", "2:0"), "wants LOW:HIGH, such as 0:2 VP, got '2:0'"),
    (("--until", "0"), "wants LOW:HIGH"),
    (("--until", "0:2", "--alpha", "0.5"), "wants a rate above 0 and below 0.5, got '0.5'"),
    (("--alpha", "0.1"), "--alpha and --beta are error rates of the test of --until LOW:HIGH"),
    (("--until", "0:2", "--players", "1"), "agents that play together, a solo game has one"),
    (("--until", "0:2", "--rotations", "1"), "--until compares two agents or more in all rotati"),
])  # fmt: skip
def test_a_wrong_option_is_one_clear_line(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = command(capsys, "--agents", "random,random,random,nobody", *options)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1
