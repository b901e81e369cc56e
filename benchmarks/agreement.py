"""Check that a device plays the same games as a CPU: whole random games from fixed keys.

    JAX_PLATFORMS=cpu python -m benchmarks.agreement > benchmarks/agreement.json

records the games of this machine; `make accelerator` compares with them. Set-ups, legal actions,
draws and VP are integers, so the same keys give the same games on any device: a difference of one
VP is a fault. Half of the games prefer federations, which random play seldom forms.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

import gaia_jax
from benchmarks.play_statistics import FEDERATING, UNIFORM, play_function

GAMES = 128  # of each policy
RECORD = Path(__file__).with_name("agreement.json")
ROOT = Path(__file__).resolve().parent.parent

# By policy, then "vp", "federations", "decisions" [GAMES].
Results = dict[str, dict[str, list[Any]]]


def play(batch: int = GAMES) -> Results:
    """Play on the default device: VP and federations by seat, decisions by game."""
    env = gaia_jax.make("lost_fleet")
    games, results = play_function(env, batch), {}
    for seed, policy in enumerate((FEDERATING, UNIFORM)):
        state, decisions, _ = games(jax.random.PRNGKey(seed), policy.tables(env.ruleset))
        players = state.game.players
        columns = {"vp": players.vp, "federations": players.formed, "decisions": decisions}
        results[policy.name] = {key: np.asarray(value).tolist() for key, value in columns.items()}
    return results


def recorded() -> Results:
    """The recorded results of a CPU."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def play_on_host() -> Results:
    """The results of this machine's CPU, from a child process: it may be hidden in this one."""
    env = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    env |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks.agreement"]
    process = subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)
    return json.loads(process.stdout)


def difference(results: Results, reference: Results) -> str:
    """One line with the first game that differs and the number of such games; empty if none."""
    differences = [
        (f"{name} game {i}: {key} {value}, on a CPU {expected}", (name, i))
        for name, columns in reference.items()
        for key, column in columns.items()
        for i, (value, expected) in enumerate(zip(results[name][key], column, strict=True))
        if value != expected
    ]
    if not differences:
        return ""
    formed = [
        sum(int(np.sum(columns["federations"])) for columns in side.values())
        for side in (results, reference)
    ]
    games = len({game for _, game in differences})
    return (
        f"{differences[0][0]}; {games} of {num_games(reference)} games differ;"
        f" federations formed {formed[0]}, on a CPU {formed[1]}"
    )


def num_games(results: Results) -> int:
    """Number of games in all."""
    return sum(len(columns["decisions"]) for columns in results.values())


def check() -> dict[str, Any]:
    """Play and compare with the record; if that differs, with the CPU of this machine.

    Returns:
        `agrees`, `games`, `with` (what was compared) and `difference` (text, empty if none).
    """
    results, reference, source = play(), recorded(), "the record"
    if difference(results, reference):  # a fault of the device, or a record of other rules?
        reference, source = play_on_host(), "the CPU of this machine"
    text = difference(results, reference)
    return {"agrees": not text, "games": num_games(reference), "with": source, "difference": text}


def main() -> int:
    """The command line."""
    rows = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in play().items())
    print(f"{{\n{rows}\n}}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
