"""Mutants of `gaia_jax/rules`: does a replay of games that the referee has checked notice them?

    python -m tests.referee.mutants --sample 200 --seed 0 --out runs/mutants

First the referee plays some games against the unchanged engine (`duel`). Every mutant replays their
actions, and is killed if a compared field or a legal action differs, or if the rules cannot be
traced. It is equivalent if its function has the same jaxpr wherever it is called, and unreached if
nothing calls it. The other mutants replay the next games of `GAMES`.

mutmut makes the mutants, `mutant_lanes` compiles and replays them. `--out` keeps the games and the
results; the same command skips the mutants that are in it.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import pickle
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import libcst
import numpy as np
from mutmut.mutation.file_mutation import create_mutations

from tests import xla_flags
from tests.referee import setup as drawing
from tests.referee import solo
from tests.referee.duel import Match, play
from tests.referee.engine import Engine, View
from tests.referee.mutant_lanes import Mutant, Recording, compared, judge
from tests.referee.mutations import ERRORS
from tests.referee.mutations import matches_of as planted_matches
from tests.referee.policies import Rare

RULES = Path("gaia_jax/rules")
PACK = 40  # mutants that are traced and compiled together
OUTCOMES = ("killed", "survived", "equivalent", "unreached")  # the first in any ruleset counts
# Ruleset, players, games. Most mutants need few games; "planted" has those of `mutations`.
GAMES = {
    "lost_fleet": ("lost_fleet", 4, 8),
    "planted": ("lost_fleet", 4, len(ERRORS)),
    "lost_fleet_published": ("lost_fleet_published", 2, 8),
    "base": ("base", 1, 8),
    "lost_fleet_published_solo": ("lost_fleet_published", 1, 8),
}
Results = dict[str, dict[str, list[str]]]  # mutant: key of GAMES: outcome, reason


class Module:
    """A module of the rules and the mutations of its functions; mutmut skips decorated ones."""

    def __init__(self, path: Path) -> None:
        self.names = [part for part in path.with_suffix("").parts if part != "__init__"]
        self.tree, mutations, *_ = create_mutations(str(path), path.read_text())
        classes = [node for node in self.tree.body if isinstance(node, libcst.ClassDef)]
        self.owners = {item: node.name.value for node in classes for item in node.body.body}
        self.mutations: dict[Any, list[Any]] = defaultdict(list)
        for mutation in mutations:
            outer = mutation.contained_by_top_level_function
            if isinstance(outer, libcst.FunctionDef):
                self.mutations[outer].append(mutation)

    def mutant(self, outer: Any, number: int) -> Mutant:
        """The mutant of a function that has its mutation of this number."""
        mutation = self.mutations[outer][number]
        changed = outer.deep_replace(mutation.original_node, mutation.mutated_node)
        old, new = (self.tree.code_for_node(node).strip() + "\n" for node in (outer, changed))
        owner, function = self.owners.get(outer, ""), outer.name.value
        name = ".".join(filter(None, [*self.names[2:], owner, function]))
        diff = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0))
        module, lines = ".".join(self.names), "\n".join(diff[3:])
        return Mutant(f"{name}#{number + 1}", module, owner, function, new, lines)


def sample(size: int, seed: int) -> list[Mutant]:
    """Mutants at random, from each module in proportion to what it has."""
    ranked: list[Any] = []
    for path in sorted(RULES.rglob("*.py")):
        module = Module(path)
        counts = {outer: len(mutations) for outer, mutations in module.mutations.items()}
        own = [(outer, i) for outer, count in counts.items() for i in range(count)]
        random.Random(f"{seed} {path}").shuffle(own)
        ranked += [((i + 0.5) / len(own), str(path), module, *at) for i, at in enumerate(own)]
    chosen = sorted(ranked, key=lambda row: row[:2])[:size]
    return [module.mutant(outer, number) for *_, module, outer, number in chosen]


class Recorder(Engine):
    """An engine that notes what it shows."""

    def start(self, setups: list[dict[str, Any]]) -> View:
        self.views, self.actions = [super().start(setups)], []
        return self.views[0]

    def step(self, actions: list[int]) -> View:
        self.actions.append(actions)
        self.views.append(super().step(actions))
        return self.views[-1]


def matches_of(games: str) -> list[Match]:
    """The matches of a key of `GAMES`, of the rare policy; of "planted" one for each error."""
    if games == "planted":
        seeds = [error.seed or 7000 + 100 * place for place, error in enumerate(ERRORS, 1)]
        pairs = zip(ERRORS, seeds, strict=True)
        return [match for error, seed in pairs for match in planted_matches(error, 1, seed)]
    ruleset, players, count = GAMES[games]
    solo_game = partial(solo.draw_spread, name=ruleset)
    draw = solo_game if players == 1 else partial(drawing.draw, name=ruleset, players=players)
    return [Match(ruleset, seed, "rare", draw(seed), Rare()) for seed in range(count)]


def record(games: str) -> Recording:
    """Games in which the unchanged engine agrees with the referee."""
    ruleset, players, _ = GAMES[games]
    matches = matches_of(games)
    engine = Recorder(ruleset, len(matches), players)
    play(engine, matches)
    for match in matches:
        assert match.game.over and not match.differences, (match.seed, match.differences)
    fields = np.stack([compared(engine, view.fields) for view in engine.views])
    mask = np.stack([view.mask for view in engine.views])
    setups, actions = [match.setup for match in matches], np.array(engine.actions)
    return Recording(ruleset, players, setups, actions, fields, mask)


def command(folder: Path, *options: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """This module in a process of its own, which compiles quickly."""
    flags = {"XLA_FLAGS": xla_flags.QUICK, "JAX_COMPILATION_CACHE_DIR": str(folder / "programs")}
    module = [sys.executable, "-m", "tests.referee.mutants", "--out", str(folder)]
    environment = {"JAX_PLATFORMS": "cpu", **os.environ, **flags}
    return subprocess.run(
        [*module, *options], input=text, capture_output=True, text=True, env=environment
    )


def judge_pack(folder: Path, games: str, mutants: list[Mutant]) -> dict[str, list[str]]:
    """`judge` in a process of its own; for the halves of a pack whose process dies or hangs."""
    done = command(folder, "--judge", games, text=json.dumps(mutants))
    if done.returncode == 0:
        outcomes: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
        for mutant in mutants:
            if outcomes[mutant.name][0] == "alone":
                outcomes |= judge_pack(folder, games, [mutant])
        return outcomes
    if len(mutants) == 1:
        return {mutants[0].name: ["killed", f"died: {done.stderr.strip()[-80:]}"]}
    half = len(mutants) // 2
    first, second = mutants[:half], mutants[half:]
    return judge_pack(folder, games, first) | judge_pack(folder, games, second)


def mutants_for(games: str, mutants: list[Mutant], results: Results) -> list[Mutant]:
    """Mutants that these games may kill; those of the federation search last."""
    ruleset, players, _ = GAMES[games]
    waiting = []
    for mutant in mutants:
        own = results[mutant.name]
        killed = "killed" in {outcome for outcome, _ in own.values()}
        # A trace of the same ruleset has shown what the other outcomes show.
        traced = any(GAMES[key][:2] == (ruleset, players) for key, (outcome, _) in own.items()
                     if outcome != "survived")  # fmt: skip
        automa = mutant.module.startswith("gaia_jax.rules.automa")
        if not (killed or traced or games in own or automa and players > 1):
            waiting.append(mutant)
    return sorted(waiting, key=lambda mutant: "federation" in mutant.module)


def judge_all(folder: Path, mutants: list[Mutant], keys: list[str]) -> Results:
    """The results of all mutants, those in the folder among them."""
    folder.mkdir(parents=True, exist_ok=True)
    log, results = folder / "results.jsonl", defaultdict(dict)
    for line in log.read_text().splitlines() if log.exists() else ():
        name, games, *outcome = json.loads(line)
        results[name][games] = outcome
    for games in keys:
        waiting = mutants_for(games, mutants, results)
        if waiting and not (folder / f"{games}.pickle").exists():
            command(folder, "--record", games).check_returncode()
        for first in range(0, len(waiting), PACK):
            start, pack = time.time(), waiting[first : first + PACK]
            outcomes = judge_pack(folder, games, pack)
            with log.open("a") as file:
                for name, outcome in outcomes.items():
                    results[name][games] = outcome
                    file.write(json.dumps([name, games, *outcome]) + "\n")
            counts = dict(Counter(outcome for outcome, _ in outcomes.values()))
            mean_s = (time.time() - start) / len(pack)
            done = f"{first + len(pack)} of {len(waiting)}"
            print(f"{games}: {done}, {counts}, {mean_s:.1f} s each", flush=True)
    return {mutant.name: results[mutant.name] for mutant in mutants}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=200, help="mutants, by module in proportion")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"), help="folder of results")
    # In processes that this one starts: record games, or judge the mutants of standard input.
    parser.add_argument("--record", help=argparse.SUPPRESS)
    parser.add_argument("--judge", help=argparse.SUPPRESS)
    args = parser.parse_args()
    path = args.out / f"{args.record or args.judge}.pickle"
    if args.record:
        path.write_bytes(pickle.dumps(record(args.record)))
        return 0
    if args.judge:
        pack = [Mutant(*mutant) for mutant in json.load(sys.stdin)]
        print(json.dumps(judge(pickle.loads(path.read_bytes()), pack)))
        return 0
    mutants = sample(args.sample, args.seed)
    results, counts = judge_all(args.out, mutants, args.games), Counter[str]()
    for mutant in mutants:
        own = {outcome for outcome, _ in results[mutant.name].values()}
        counts[next((outcome for outcome in OUTCOMES if outcome in own), "not judged")] += 1
        if "survived" in own and "killed" not in own:
            print(f"\n{mutant.name}\n{mutant.diff}")
    print(f"\n{len(mutants)} mutants: {dict(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
