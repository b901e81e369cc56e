"""What has been chosen where, in games of three policies: `python -m benchmarks.coverage`.

Counts every pair of place and option (`options`) over whole games, for docs/lab/random_play.md.
With `--json FILE` the counts are kept, and added to those that are there already. The exit status
is 1 if a pair was taken that the tables call impossible, or a possible one too rarely (`LEAST`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import gaia_jax
from benchmarks import measure
from benchmarks.games import Policy, broken, play
from benchmarks.options import Pair, Pairs, names, places, possible
from gaia_jax.cli import outputs
from gaia_jax.env import State
from gaia_jax.ruleset import Ruleset

LEAST = 20
RANDOM = Policy("random")
LONG = Policy(
    "shuns passing",
    {"booster": 1, "BOOSTER: booster": 30, "pass": 1, "free": 1, "skip": 10, "end_turn": 10},
    other=30,
)
_SHIPS = ("TWILIGHT", "ECLIPSE", "REBELLION", "TF_MARS")
_TRACKS = ("terraforming", "navigation", "ai", "gaia", "economy", "science")
RARE = Policy(
    "prefers rare actions",
    {
        "form_federation": 1_000_000,
        "advanced": 5_000,
        "commit": 100,
        "upgrade": 120,
        "piece PI": 300,
        "mine": 60,
        "project": 60,
        "advance": 100,
        "STEP: skip": 1_000_000,
        "FREE_MINE: skip": 20_000,
        "ship": 300,
        "explore": 100,
        "artifact": 5_000,
        "special": 20_000,
        "power": 150,
        "power PA_2PT": 300,
        "leech CHARGE": 300,
        "leech TOKEN_FIRST": 150,
        "skip": 20,
        "ITARS: skip": 300,
        "free": 1,
        "AFTER: free P3_to_O": 20,
        "free C4_to_K": 20,
        "free C3_to_O": 20,
        "free C4_to_Q": 20,
        "free GF_to_Q": 10,
        "free T_to_K": 10,
        "free T3_to_2O": 50,
        "TERRANS: free": 100,
        **{f"TOKEN: token {ship}": 2_000 for ship in _SHIPS},
        "TARGET: token FT_GLEENS": 5_000,
        "RETRIGGER: token FT_GLEENS": 5_000,
        "booster": 2,
        "BOOSTER: booster": 100,
        "pass": 2,
    },
    other=100,
    near=((1,) * 8, (30, 20, 15, 6, 2, 1, 1, 1)),
    cheap=(10, 4, 2, 1),
    tastes=(
        *({f"advance {track}": 200_000} for track in _TRACKS),
        {"explore": 2_000, "ship": 1_000, "artifact": 5_000},
        {
            "ship TWI_Q": 1_000_000,
            "explore": 100_000,
            "AFTER: free P4_to_Q": 5_000,
            "advance ai": 50_000,
        },
        {
            "artifact": 1_000_000,
            "explore": 100_000,
            "explore TWILIGHT": 300_000,
            "power PA_2PT": 300_000,
            "AFTER: free O_to_token": 2_000,
        },
        {"free burn": 60, "piece PI": 3_000, "advance gaia": 1_000, "project": 2_000},
        {"piece PI": 3_000, "upgrade": 1_000, "special": 20_000},
        {"piece RL": 1_000, "piece AC_A": 500, "upgrade": 500, "ship REB_Q": 5_000},
        {"free": 30, "special": 5_000},
        {"piece RL": 3_000, "piece AC_B": 20_000, "upgrade": 1_000, "special AC_B": 50_000},
    ),
    own={
        "ITARS": {
            "piece PI": 20_000,
            "upgrade": 500,
            "advance gaia": 5_000,
            "project": 3_000,
            "explore": 50_000,
            "free burn": 300,
            "AFTER: free burn": 1_000,
            "TILE: advanced": 1,
        },
        "TERRANS": {"piece PI": 20_000, "upgrade": 500, "advance gaia": 5_000, "project": 5_000},
        "NEVLAS": {"piece PI": 20_000, "upgrade": 500, "free": 30_000, "AFTER: free": 1_000},
        "GLEENS": {
            "piece PI": 3_000,
            "piece RL": 3_000,
            "piece AC_B": 20_000,
            "upgrade": 1_000,
            "explore TWILIGHT": 300_000,
            "ship TWI_Q": 1_000_000,
            "AFTER: free P4_to_Q": 5_000,
            "artifact": 300_000,
        },
    },
    seated={"": 3, "ITARS": 8, "TERRANS": 1, "NEVLAS": 1, "GLEENS": 1},
)
POLICIES = (RANDOM, LONG, RARE)
TASTES = len(RARE.tastes) + len(RARE.own)


class Count:
    """Watches games: how many times each pair was taken (`games.Watch`)."""

    def __init__(self, rules: Ruleset) -> None:
        """Counts for one ruleset."""
        self.pairs = Pairs(rules)

    def start(self, states: State) -> Array:
        """(places + 1, options + 1) int32 zeros; the last of each is for what has no name."""
        return jnp.zeros((len(self.pairs.places) + 1, len(self.pairs.names) + 1), jnp.int32)

    def see(self, record: Array, before: State, action: Array, after: State, live: Array) -> Array:
        """The counts with one decision of each game that had not ended."""
        place, option = jax.vmap(self.pairs.of)(before, action)
        return record.at[place, option].add(live.astype(jnp.int32))


def taken(rules: Ruleset, counts: np.ndarray) -> dict[Pair, int]:
    """Counts by pair, zeros left out. What has no name is "?"."""
    rows, columns = (*places(rules), "?"), (*names(rules), "?")
    found = np.argwhere(counts)
    return {(rows[i], columns[j]): int(counts[i, j]) for i, j in found}


def shortfalls(rules: Ruleset, total: Mapping[Pair, int]) -> tuple[list[Pair], list[Pair]]:
    """Pairs that were taken though impossible, and possible ones taken fewer than LEAST times."""
    can = possible(rules)
    wrong = sorted(pair for pair in total if pair not in can)
    few = [pair for pair in ordered(rules) if total.get(pair, 0) < LEAST]
    return wrong, few


def ordered(rules: Ruleset) -> list[Pair]:
    """The possible pairs in the order of places and options."""
    can = possible(rules)
    return [(x, y) for x in places(rules) for y in names(rules) if (x, y) in can]


def summary(rules: Ruleset, games: Mapping[str, int], total: Mapping[Pair, int]) -> str:
    """How many possible pairs were taken, and which ones rarely or although impossible.

    Args:
        rules: of the games.
        games: how many of each policy.
        total: how many times each pair was taken.
    """
    wrong, few = shortfalls(rules, total)
    pairs = len(possible(rules))
    played = ", ".join(f"{n:,} of the policy {name}" for name, n in games.items())
    lines = [
        f"Ruleset {rules.id}. Games: {played}.",
        f"{len(places(rules))} places, {len(names(rules))} options: {pairs} pairs are possible.",
        f"Taken at least {LEAST} times: {pairs - len(few)} of {pairs}.",
    ]
    lines += [f"rare: {x}: {y}: {total.get((x, y), 0)}" for x, y in few]
    lines += [f"impossible, but taken: {x}: {y}: {total[x, y]}" for x, y in wrong]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--games", type=int, nargs=3, default=(2000, 2000, 20_000), metavar=("R", "L", "P"),
        help="games of each policy: random, shuns passing, prefers rare actions",
    )  # fmt: skip
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ruleset", default="lost_fleet")
    parser.add_argument(
        "--json",
        type=measure.report_file("games", "counts"),
        help="keep the counts here, add to what is there",
    )
    args = parser.parse_args(argv)
    env = gaia_jax.make(args.ruleset)
    rules = env.ruleset
    data = _load(args.json, rules)
    run = play(env, args.batch, Count(rules))
    began, faults = time.time(), 0
    for number, (policy, games) in enumerate(zip(POLICIES, args.games, strict=True)):
        tables = policy.tables(rules, TASTES)
        for i in range(-(-games // args.batch)):
            key = jax.random.fold_in(jax.random.PRNGKey(args.seed), 1000 * number + i)
            state, _, counts = run(key, tables)
            faults += sum(broken(state).values())
            data["games"][policy.name] += args.batch
            by_pair = data["counts"][policy.name]
            for pair, n in taken(rules, np.asarray(counts)).items():
                by_pair[pair] = by_pair.get(pair, 0) + n
            if args.json:
                _save(args.json, data)
            print(f"{policy.name}: {i + 1}, {time.time() - began:.0f} s", file=sys.stderr)
    total: dict[Pair, int] = {}
    for by_pair in data["counts"].values():
        for pair, n in by_pair.items():
            total[pair] = total.get(pair, 0) + n
    print(summary(rules, data["games"], total))
    wrong, few = shortfalls(rules, total)
    return 1 if wrong or few or faults else 0


def _load(path: Path | None, rules: Ruleset) -> dict[str, Any]:
    data: dict[str, Any] = {
        "games": {policy.name: 0 for policy in POLICIES},
        "counts": {policy.name: {} for policy in POLICIES},
    }
    if path and path.exists():
        kept = json.loads(path.read_text())
        data["games"] |= kept["games"]
        for name, rows in kept["counts"].items():
            data["counts"][name] = {(place, option): n for place, option, n in rows}
    return data


def _save(path: Path, data: dict[str, Any]) -> None:
    counts = {
        name: [[*pair, n] for pair, n in sorted(by_pair.items())]
        for name, by_pair in data["counts"].items()
    }
    outputs.write_text(path, json.dumps({"games": data["games"], "counts": counts}))


if __name__ == "__main__":
    sys.exit(main())
