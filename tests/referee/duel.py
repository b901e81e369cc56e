"""The referee against the vectorized engine: the same games, compared after every decision.

    python -m tests.referee.duel --games 100 --seed 0 --policy rare
    python -m tests.referee.duel --games 100 --ruleset base --players 2
    python -m tests.referee.duel --games 500 --ruleset base --players 1
    python -m tests.referee.duel --games 200 --ruleset lost_fleet_published --players 1

Both play the same set-ups and actions. After every decision every field of the state and the legal
actions must agree. The first difference is printed and written to a repro file; the exit status
is then 1. Seeds are independent, so ranges of them can be played separately and resumed:
`--log FILE` notes each game that agreed, and skips it when the same command runs again.
`--replay FILE` plays a repro file.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.referee import setup as drawing
from tests.referee import solo
from tests.referee.engine import Engine
from tests.referee.game import Game
from tests.referee.policies import POLICIES, Policy, policy_name

SHOWN = 40  # differing fields that are printed


class Match:
    """One game in both engines."""

    def __init__(
        self, ruleset: str, seed: int, policy: str, setup: dict[str, Any], choose: Policy | None
    ) -> None:
        self.ruleset, self.seed, self.policy, self.setup = ruleset, seed, policy, setup
        self.choose = choose
        self.rng = random.Random(seed)
        self.actions: list[str] = []
        self.script: list[str] | None = None  # a replay's actions
        self.skip: set[str] = set()  # actions that are neither compared nor played
        self.differences: list[str] = []
        self.finished = False
        self.game = Game(setup, ruleset)

    def next_action(self, engine: Engine) -> int:
        """The next action of this game; any, once it has ended."""
        if self.finished:
            return 0
        if self.script is not None:
            text = self.script[len(self.actions)]
        else:
            assert self.choose is not None
            text = self.choose(self.rng, sorted(self.game.legal_actions() - self.skip), self.game)
        self.actions.append(text)
        return engine.index[text]

    def follow(self, engine: Engine, row: np.ndarray, mask: np.ndarray, rewards: Any) -> None:
        """Apply the last action to the referee, and compare."""
        if self.finished:
            return
        game = self.game
        if self.actions:
            player = game.current_player
            laid = engine.satellites(row, game, player) - game.players[player].satellites
            try:
                game.apply(self.actions[-1], laid)
            except Exception:
                self.differences = [traceback.format_exc()]
        if not self.differences:
            self.differences = engine.differing(game, row) + differing_actions(
                engine, game, mask, self.skip
            )
            if game.over:
                self.differences += differing_rewards(game, rewards)
        exhausted = self.script is not None and len(self.actions) == len(self.script)
        self.finished = bool(self.differences) or game.over or exhausted

    def report(self) -> dict[str, Any]:
        return {
            "ruleset": self.ruleset,
            "seed": self.seed,
            "policy": self.policy,
            "setup": self.setup,
            "actions": self.actions,
            "differences": self.differences,
        }


def differing_actions(engine: Engine, game: Game, mask: np.ndarray, skip: set[str]) -> list[str]:
    """Actions that only one side takes for legal."""
    own = engine.legal_row(game)
    if np.array_equal(own, mask):
        return []
    differences = []
    for action in np.flatnonzero(own != mask):
        if engine.texts[action] in skip:
            continue
        side = "the referee" if own[action] else "the engine"
        differences.append(f"only {side} allows {engine.texts[action]!r}")
    return differences


def differing_rewards(game: Game, rewards: Any) -> list[str]:
    """The margin of every player at the end (A3); in a solo game of the human alone."""
    vp = [player.vp for player in game.players]
    margins = [(own - (sum(vp) - own) / (len(vp) - 1)) / 100 for own in vp]
    margins = margins[: len(rewards)]
    if np.allclose(margins, rewards, atol=1e-5):
        return []
    return [f"rewards: referee {margins}, engine {list(map(float, rewards))}"]


def play(engine: Engine, matches: list[Match]) -> None:
    """Play matches together until each has ended or differs."""
    spare = engine.batch - len(matches)
    setups = [match.setup for match in matches] + [matches[0].setup] * spare
    view = engine.start(setups)
    while True:
        for lane, match in enumerate(matches):
            match.follow(engine, view.fields[lane], view.mask[lane], view.rewards[lane])
        if all(match.finished for match in matches):
            return
        actions = [match.next_action(engine) for match in matches] + [0] * spare
        view = engine.step(actions)


def agree(engine: Engine, setups: Mapping[int, dict[str, Any]]) -> list[Match]:
    """A batch of games, by seed, with the policies in turn: both engines agree to their ends."""
    matches = []
    for seed, setup in setups.items():
        policy = policy_name(seed)
        matches.append(Match(engine.ruleset, seed, policy, setup, POLICIES[policy]()))
    play(engine, matches)
    for match in matches:
        assert not match.differences, (match.seed, match.policy, match.differences[:20])
        assert match.game.over
    return matches


def show(match: Match, folder: Path) -> None:
    """Print a difference, and write its repro file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{match.ruleset}-{match.policy}-{match.seed}.json"
    path.write_text(json.dumps(match.report(), indent=1) + "\n")
    print(json.dumps(match.setup))
    for number, text in enumerate(match.actions):
        print(number, text)
    game = match.game
    print(f"seed {match.seed}, policy {match.policy}: after {len(match.actions)} actions, "
          f"round {game.round}, {game.node} of player {game.current_player} "
          f"({game.players[game.current_player].faction}):")  # fmt: skip
    for line in match.differences[:SHOWN]:
        print("  ", line)
    print(f"repro file: {path}", flush=True)


def matches_of(args: argparse.Namespace, engine: Engine, done: set[str]) -> Iterator[Match]:
    """The matches that are to be played."""
    policies = list(POLICIES) if args.policy == "all" else [args.policy]
    for seed in range(args.seed, args.seed + args.games):
        policy = policies[seed % len(policies)]
        if f"{seed} {policy}" in done:
            continue
        if args.players == 1:
            setup = solo.draw_spread(seed, args.ruleset)
        elif args.factions or args.sectors:
            setup = drawing.draw(seed, args.ruleset, args.factions, args.players, args.sectors)
        else:
            setup = engine.draw_setup(seed)
        match = Match(args.ruleset, seed, policy, setup, POLICIES[policy]())
        match.skip = set(args.skip)
        yield match


def replay(path: str, engine: Engine | None = None) -> Match:
    """Play a repro file again, with the engine as it is now."""
    saved = json.loads(Path(path).read_text())
    match = Match(saved["ruleset"], saved["seed"], saved["policy"], saved["setup"], None)
    match.script = saved["actions"]
    players = len(saved["setup"]["factions"])
    play(engine or Engine(saved["ruleset"], 1, players), [match])
    return match


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--policy", choices=[*POLICIES, "all"], default="all")
    parser.add_argument("--ruleset", default="lost_fleet")
    parser.add_argument("--factions", type=lambda s: s.split(","), help="one a player")
    parser.add_argument("--players", type=int, choices=(1, 2, 3, 4), default=4)
    parser.add_argument("--sectors", type=int, help="tiles of the map, if not the usual number")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("runs/duel"), help="for repro files")
    parser.add_argument("--log", type=Path, help="games that agreed; those in it are skipped")
    parser.add_argument("--keep-going", action="store_true", help="after a difference, too")
    parser.add_argument(
        "--skip", nargs="*", default=[], help="actions left out, for a rule in work"
    )
    parser.add_argument("--replay", help="a repro file")
    args = parser.parse_args()
    if args.replay:
        match = replay(args.replay)
        show(match, args.out / "replayed")
        return 1 if match.differences else 0

    done = set(args.log.read_text().splitlines()) if args.log and args.log.exists() else set()
    start = time.time()
    engine = Engine(args.ruleset, min(args.batch, args.games), args.players)
    waiting = list(matches_of(args, engine, done))
    agreed = differed = decisions = 0
    while waiting:
        matches, waiting = waiting[: engine.batch], waiting[engine.batch :]
        play(engine, matches)
        for match in matches:
            decisions += len(match.actions)
            if match.differences:
                differed += 1
                show(match, args.out)
                if not args.keep_going:
                    return 1
            else:
                agreed += 1
                if args.log:
                    args.log.parent.mkdir(parents=True, exist_ok=True)
                    with args.log.open("a") as log:
                        log.write(f"{match.seed} {match.policy}\n")
        spent = time.time() - start
        games = agreed + differed
        print(f"{games} games, {decisions} decisions, {differed} differ, "
              f"{spent:.0f} s, {spent / games:.2f} s a game", flush=True)  # fmt: skip
    return 1 if differed else 0


if __name__ == "__main__":
    sys.exit(main())
