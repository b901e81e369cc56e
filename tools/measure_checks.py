"""How often the check of a move warns: of planted mistakes, and of the agent's own moves.

    python -m tools.measure_checks --out checks.jsonl --games 100
    python -m tools.measure_checks --out checks.jsonl --games 0

Each game of zoo/strong gives one position, at a random main decision. A planted mistake is a random
legal move that loses at least 10 VP in 64 playouts that neither chose it nor belong to the check.
The agent's own move is its most likely one; where a check warns of it, 128 more playouts measure
the loss. The results are added to `--out` after each game; a later call continues them.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from gaia_jax.state import Node
from training.analysis import ADVISER
from training.analysis.judge import GRADES, policy_probabilities
from training.analysis.playouts import Candidates, Playouts
from training.analysis.position_analysis import PositionAnalysis
from training.play.advisers import Adviser
from training.play.compiled_rules import Rules
from training.stats.effects import Effect, wilson_interval
from training.system import cli
from training.system.batched import stacked

# Numbers of the playouts that choose a planted move, measure it, and measure a warning.
CHOOSING, TRUTH, SECOND_TRUTH = range(1000, 1008), range(2000, 2064), range(3000, 3128)
MIN_LOSS, MAX_TRIED, MAX_DECISIONS = 10.0, 4, 260
BATCH = 8  # games whose planted moves are chosen together


class Bench:
    """Positions of games, planted moves and their checks."""

    def __init__(self) -> None:
        self.rules = Rules("lost_fleet")
        self.adviser = Adviser(self.rules, ADVISER)
        self.adviser.prepare(print)
        self.wide = Playouts(self.rules.env, self.adviser.agent)  # faster for many games

    def chances(self, state: Any) -> np.ndarray:
        """(A,) the policy at a state."""
        return np.asarray(policy_probabilities(self.adviser.agent, stacked([state]))[0])

    def position(self, seed: int) -> Any:
        """A state of a game at a main decision with a choice, on average in the middle."""
        stop, state = np.random.default_rng(seed).integers(MAX_DECISIONS), None
        after = self.rules.start(self.rules.draw(seed))
        for number in range(10 * MAX_DECISIONS):
            turn = after.game.turn
            is_main = turn.node == Node.START or (turn.node == Node.TURN and not turn.free_actions)
            if is_main and after.legal_action_mask.sum() > 3:
                state = after
                if number >= stop:
                    break
            after = self.rules.after(after, int(self.chances(after).argmax()))
            if after.terminated:
                break
        return state

    def losses(self, states: list[Any], actions: list[list[int]], samples: range) -> list[Any]:
        """For each state (K - 1,) mean VP of the first of K actions above the others."""
        candidates = [Candidates(row, own, samples) for row, own in enumerate(actions)]
        ends = self.wide.play_candidates(stacked(states), candidates, capacity=4096)
        by_state = zip(ends, states, strict=True)
        means = [end.vp[:, :, int(state.current_player)].mean(1) for end, state in by_state]
        return [mean[0] - mean[1:] for mean in means]

    def plant(self, states: list[Any], seed: int) -> list[int]:
        """For each state a random legal move that loses at least MIN_LOSS; -1 without one."""
        rng, tried = np.random.default_rng((seed, 1)), []
        for state in states:
            best = int(self.chances(state).argmax())
            legal = np.flatnonzero(state.legal_action_mask).tolist()
            moves = [a for a in legal if a != best and not self.rules.text(a).startswith("free ")]
            tried.append([best, *rng.permutation(moves)[:MAX_TRIED].tolist()])
        planted = [-1] * len(states)
        coarse = self.losses(states, tried, CHOOSING)
        worse = [
            [action for action, loss in zip(own[1:], losses, strict=True) if loss >= MIN_LOSS]
            for own, losses in zip(tried, coarse, strict=True)
        ]
        rows = [row for row, own in enumerate(worse) if own]
        if rows:
            pairs = [[tried[row][0], worse[row][0]] for row in rows]
            fine = self.losses([states[row] for row in rows], pairs, TRUTH)
            for row, pair, loss in zip(rows, pairs, fine, strict=True):
                planted[row] = pair[1] if loss[0] >= MIN_LOSS else -1
        return planted

    def check(self, analysis: PositionAnalysis, action: int) -> dict[str, Any]:
        """The check of a move and the seconds that it takes."""
        wall, cpu = time.monotonic(), sum(os.times()[:2])
        check = analysis.check([action])
        row = {
            "text": self.rules.text(action), "warned": bool(check.is_mistake),
            "loss": list(check.loss), "playouts": check.num_playouts,
            "wall": time.monotonic() - wall, "cpu": sum(os.times()[:2]) - cpu,
        }  # fmt: skip
        if check.is_mistake:
            pair = [[check.best, action]]
            row["true_loss"] = float(self.losses([analysis.state], pair, SECOND_TRUTH)[0][0])
        return row


def share(hits: list[bool]) -> str:
    """A share with its 95 % interval."""
    n, mean = len(hits), float(np.mean(hits or [False]))
    if not n:
        return "none"
    effect = wilson_interval(Effect("", mean, mean, mean, n, False))
    return f"{sum(hits)} of {n} ({effect.low:.3f} to {effect.high:.3f})"


def report(rows: list[dict[str, Any]]) -> str:
    """The shares of warnings and the seconds of checks."""
    own = [row for row in rows if row["kind"] == "own"]
    planted = [row["warned"] for row in rows if row["kind"] == "planted"]
    warned = [row["warned"] for row in own]
    false = [row["warned"] and row["true_loss"] < GRADES["mistake"] for row in own]
    seconds = {
        name: np.quantile([row[name] for row in rows], [0.5, 0.95]).round(1).tolist()
        for name in ("wall", "cpu")
    }
    return (
        f"warned of planted {share(planted)}, of own {share(warned)}, of own that lose less than"
        f" {GRADES['mistake']} VP {share(false)}; median and 95 % of seconds {seconds['wall']},"
        f" of CPU seconds {seconds['cpu']}"
    )


def main() -> None:
    """Measure the games that `--out` lacks, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=50001)
    parser.add_argument("--hint", action="store_true", help="ask for a hint before each check")
    parser.add_argument("--out", type=Path, required=True, help="results, lines of JSON")
    args = parser.parse_args()
    cli.prepare()
    text = args.out.read_text("utf-8") if args.out.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    done = {row["seed"] for row in rows}
    seeds = [s for s in range(args.seed, args.seed + args.games) if s not in done]
    bench = Bench() if seeds else None
    for first in range(0, len(seeds), BATCH):
        assert bench
        part = seeds[first : first + BATCH]
        states = [bench.position(seed) for seed in part]
        planted = bench.plant(states, part[0])
        for seed, state, mistake in zip(part, states, planted, strict=True):
            analysis = PositionAnalysis(bench.adviser.runner, state, bench.rules.after)
            if args.hint:
                analysis.suggest()
            moves = {"planted": mistake, "own": int(bench.chances(state).argmax())}
            about = {"seed": seed, "round": int(state.game.turn.round)}
            checked = [
                about | {"kind": kind} | bench.check(analysis, action)
                for kind, action in moves.items()
                if action >= 0
            ]
            text = "".join(json.dumps(row) + "\n" for row in checked)
            with args.out.open("a", encoding="utf-8") as file:
                file.write(text)  # at once: a seed with any row counts as done
            print(text, end="", flush=True)
            rows += checked
        print(report(rows), flush=True)
    if not seeds and rows:
        print(report(rows))


if __name__ == "__main__":
    main()
