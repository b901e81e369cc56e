"""Whether a device plays the game as a CPU does: whole random games by given keys.

    JAX_PLATFORMS=cpu python -m benchmarks.agreement > benchmarks/agreement.json

records what this machine plays (compared elsewhere: `make accelerator`). Set-ups, legal actions,
draws and VP are whole numbers, so that the same keys make the same games on any device: one VP of
difference is a fault. Half of the games federate, because random play hardly does.
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
from benchmarks import games
from benchmarks.play_statistics import POLICIES

GAMES = 128  # of each policy
RECORDED = Path(__file__).with_name("agreement.json")
ROOT = Path(__file__).resolve().parent.parent

Played = dict[str, dict[str, list[Any]]]  # by policy, then by name of what is counted, each [GAMES]


def played(batch: int = GAMES) -> Played:
    """What the games come to on the default device: by seat VP and federations; decisions."""
    env = gaia_jax.make("lost_fleet")
    play, found = games.play(env, batch), {}
    for number, (name, policy) in enumerate(POLICIES.items()):
        state, count, _ = play(jax.random.PRNGKey(number), policy.tables(env.ruleset))
        players = state.game.players
        counted = {"vp": players.vp, "federations": players.formed, "decisions": count}
        found[name] = {key: np.asarray(value).tolist() for key, value in counted.items()}
    return found


def recorded() -> Played:
    """The same of a CPU; a test plays them again."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def on_the_host() -> Played:
    """The same on the CPU of this machine, by a process of its own: here it may be hidden."""
    env = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    env |= {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks.agreement"]
    done = subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def difference(found: Played, right: Played) -> str:
    """The first game that is not as on a CPU and how many are so, in one line; empty if none."""
    wrong = [
        (f"{name} game {i}: {key} {mine}, on a CPU {other}", (name, i))
        for name, counts in right.items()
        for key, others in counts.items()
        for i, (mine, other) in enumerate(zip(found[name][key], others, strict=True))
        if mine != other
    ]
    if not wrong:
        return ""
    formed = [sum(int(np.sum(x["federations"])) for x in side.values()) for side in (found, right)]
    return (
        f"{wrong[0][0]}; {len({game for _, game in wrong})} of {number(right)} games differ;"
        f" federations formed {formed[0]}, on a CPU {formed[1]}"
    )


def number(plays: Played) -> int:
    """How many games."""
    return sum(len(counts["decisions"]) for counts in plays.values())


def check() -> dict[str, Any]:
    """Play them, and compare with what is recorded; where that differs, with the host's CPU.

    Returns:
        `agrees`, `games`, `with` what was compared, and the first `difference` in words.
    """
    found, right, beside = played(), recorded(), "the record"
    if difference(found, right):  # is it the device, or a record of other rules?
        right, beside = on_the_host(), "the CPU of this machine"
    said = difference(found, right)
    return {"agrees": not said, "games": number(right), "with": beside, "difference": said}


def main() -> int:
    """The command line."""
    rows = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in played().items())
    print(f"{{\n{rows}\n}}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
