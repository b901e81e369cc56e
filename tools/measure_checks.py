"""How often the check of a move warns: of planted mistakes, and of the agent's own moves.

    python -m tools.measure_checks --games 100

Each game of zoo/strong gives one position, at a random main decision. A planted mistake is a legal
move that loses at least 10 VP in playouts whose random numbers the check does not draw.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import jax
import numpy as np

from gaia_jax.state import Node
from training.analysis import ADVISER
from training.analysis.candidate_outcomes import play_actions
from training.analysis.judge import policy_probabilities
from training.analysis.position_analysis import PositionAnalysis
from training.play.advisers import Adviser
from training.play.compiled_rules import Rules
from training.stats.effects import Effect, wilson_interval
from training.system import cli

TRUTH = range(1000, 1064)  # numbers of the playouts that measure a planted move
MIN_LOSS, MAX_TRIED, MAX_DECISIONS = 10.0, 6, 260


class Bench:
    """Positions of games, planted moves and their checks."""

    def __init__(self) -> None:
        self.rules = Rules("lost_fleet")
        self.adviser = Adviser(self.rules, ADVISER)
        self.adviser.prepare(print)

    def chances(self, state: Any) -> np.ndarray:
        """(A,) the policy at a state."""
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        return np.asarray(policy_probabilities(self.adviser.agent, states)[0])

    def position(self, seed: int, rng: np.random.Generator) -> Any:
        """A state of a game at a main decision with a choice, on average in the middle."""
        state, stop = self.rules.start(self.rules.draw(seed)), rng.integers(MAX_DECISIONS)
        for number in range(10 * MAX_DECISIONS):
            turn = state.game.turn
            is_main = turn.node == Node.START or (turn.node == Node.TURN and not turn.free_actions)
            if number >= stop and is_main and state.legal_action_mask.sum() > 3:
                return state
            after = self.rules.after(state, int(self.chances(state).argmax()))
            if after.terminated:
                break
            state = after
        return self.position(seed, rng)

    def plant(self, state: Any, rng: np.random.Generator) -> int:
        """A random legal move that loses at least MIN_LOSS; -1 if MAX_TRIED ones lose less."""
        best = int(self.chances(state).argmax())
        legal = np.flatnonzero(state.legal_action_mask)
        texts = [self.rules.text(int(action)) for action in legal]
        moves = [a for a, text in zip(legal, texts, strict=True) if not text.startswith("free ")]
        tried = [best, *[a for a in rng.permutation(moves) if a != best][:MAX_TRIED]]
        states = jax.tree.map(lambda x: np.asarray(x)[None], state)
        seat = int(state.current_player)
        coarse = play_actions(self.adviser.runner, states, np.array(tried), TRUTH[:8]).vp
        means = coarse[:, :, seat].mean(1)
        for row in rng.permutation(np.flatnonzero(means <= means[0] - MIN_LOSS)):
            pair = np.array([best, tried[row]])
            fine = play_actions(self.adviser.runner, states, pair, TRUTH).vp[:, :, seat]
            if (fine[0] - fine[1]).mean() >= MIN_LOSS:
                return int(tried[row])
        return -1


def share(hits: list[bool]) -> str:
    """A share with its 95 % interval."""
    n, mean = len(hits), float(np.mean(hits or [False]))
    if not n:
        return "none"
    effect = wilson_interval(Effect("", mean, mean, mean, n, False))
    return f"{sum(hits)} of {n} ({effect.low:.3f} to {effect.high:.3f})"


def main() -> None:
    """Print the shares, and the seconds of a check after its hint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=50001)
    args = parser.parse_args()
    cli.prepare()
    bench, rng = Bench(), np.random.default_rng(args.seed)
    warned: dict[str, list[bool]] = {"planted": [], "own": []}
    walls, cpus = list[float](), list[float]()
    for number in range(args.games):
        state = bench.position(args.seed + number, rng)
        analysis = PositionAnalysis(bench.adviser.runner, state, bench.rules.after)
        analysis.suggest()
        moves = {"planted": bench.plant(state, rng), "own": int(bench.chances(state).argmax())}
        for kind, action in moves.items():
            if action < 0:
                continue
            wall, cpu = time.monotonic(), sum(os.times()[:2])
            check = analysis.check([action])
            walls.append(time.monotonic() - wall)
            cpus.append(sum(os.times()[:2]) - cpu)
            warned[kind].append(check.is_mistake)
            text, loss = bench.rules.text(action), check.loss
            print(
                f"{number} {kind} {text}: {loss.mean:.1f} ({loss.low:.1f} to {loss.high:.1f}),"
                f" {check.num_playouts} playouts, {check.is_mistake}", flush=True,
            )  # fmt: skip
        print(
            f"planted {share(warned['planted'])}, own {share(warned['own'])}; median and 95 % of"
            f" seconds {np.quantile(walls, [0.5, 0.95]).round(1)},"
            f" of CPU seconds {np.quantile(cpus, [0.5, 0.95]).round(1)}", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
