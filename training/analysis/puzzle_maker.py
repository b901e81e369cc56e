"""Make puzzles from games of an agent.

The agent plays games. At every decision, playouts compare its first choice with its most probable
alternatives: a few at first, more where one move may be clearly better. A check with new random
numbers then plays out more candidates, with and without the plan of the answer (`trials`). A
decision becomes a puzzle if its best move leads the others (`is_puzzle`) and every other legal
move (`fairness`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

import gaia_jax
from gaia_jax import replay
from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Node
from gaia_jax.xla.stored_programs import env_jit

from ..agents import make_agent
from ..system import jobs
from ..system.environments import make_env
from ..system.jobs import shard_folder
from ..types import JsonObject
from . import puzzles, review_report
from .fairness import nearest_rivals
from .judge import judge_from_playouts, make_comparison, policy_probabilities
from .playouts import Jobs
from .puzzles import (
    ANY_ANSWER,
    CONVERSION,
    MIN_LEAD,
    MIN_LEAD_OVER_OTHERS,
    NON_ANSWERS,
    AnswerCriteria,
)
from .recorded_game import Game, compiled_step, whole_moves
from .review import check_policy
from .trials import POOL_SIZE, CandidatePlayer, Trial, stack_states

GAMES_PER_BLOCK = 64  # games that are played together
GAMES_PER_BATCH = 8  # games of a block that are searched together, and then written
# Times the highest probability of a decision: the screening skips less probable actions.
MIN_RELATIVE_PROBABILITY = 0.003
NUM_CANDIDATES = 6  # of a puzzle
PUZZLE_NODES = (Node.START, Node.TURN, Node.LEECH, Node.TILE, Node.TOKEN)
# Of each stage: playouts, `is_promising` arguments. A small lead rarely survives the later stages.
SCREENING = ((4, 4.0, 1.0), (16, 6.0, 2.0))
FIRST_CHECK_SAMPLE = 1 << 16  # first playout of the check: its random numbers selected nothing


class Decision(NamedTuple):
    """A decision that may become a puzzle."""

    game: int  # index of its game
    at: int  # number of the decision, from 0
    beats: str = ""  # the agent whose choice the answer beats; "" is the policy


def has_answer(trial: Trial) -> bool:
    """Whether the best candidate is allowed, needs no plan, and is not the choice to beat."""
    return (
        trial.best_row > 0
        and bool(trial.allowed[trial.answer])
        and trial.answer not in trial.improved_by_plan
    )


def is_promising(trial: Trial, lead: float = 5.0, clear: float = 2.0) -> bool:
    """Whether the best candidate may lead clearly, by its shrunk leads in VP.

    Args:
        lead: minimum over the choice to beat. clear: minimum over each other candidate.
    """
    beaten, *others = trial.losses
    is_clear = all(loss.shrunk_mean >= clear for loss in others)
    return has_answer(trial) and beaten.shrunk_mean >= lead and is_clear


def is_puzzle(trial: Trial) -> bool:
    """Whether the best candidate leads by MIN_LEAD VP and MIN_LEAD_OVER_OTHERS VP, at 95 %."""
    beaten, *others = trial.losses
    is_clear = all(loss.mean >= MIN_LEAD_OVER_OTHERS and loss.low > 0 for loss in others)
    return has_answer(trial) and beaten.mean >= MIN_LEAD and beaten.low > 0 and is_clear


class MakerArgs(NamedTuple):
    """The arguments of puzzles except for their set-ups."""

    env: str
    players: int
    agent: str
    num_playouts: int
    criteria: AnswerCriteria
    seed: int
    from_round: int


_makers: dict[str, PuzzleMaker] = {}  # the one of this process, compiled once


def make_block(maker_args: JsonObject, first: int, count: int) -> bytes:
    """The puzzles of `count` set-ups from number `first` on, as a file; maker_args: `MakerArgs`."""
    args = MakerArgs(**maker_args | {"criteria": AnswerCriteria(**maker_args["criteria"])})
    env = make_env(gaia_jax, args.env, "vp", args.players)
    if str(args) not in _makers:
        _makers.clear()
        _makers[str(args)] = PuzzleMaker(env, args.agent, args.num_playouts, args.criteria)
    empty = puzzles.new_collection(
        env, args.agent, args.num_playouts, args.seed, first, args.from_round, args.criteria
    )
    collection, is_complete = _makers[str(args)].extend(empty, first, count, None)
    if not is_complete:
        raise KeyboardInterrupt
    return puzzles.to_text(collection).encode()


def make_in_blocks(
    args: MakerArgs, first: int, games: int, out: Path | None, resume: bool, on: jobs.On
) -> JsonObject:
    """The puzzles of all set-ups; a block of `GAMES_PER_BLOCK` is a shard.

    Raises:
        UserError: as of `jobs.compute` and `shard_folder`.
    """
    maker_args = args._asdict() | {"criteria": args.criteria._asdict()}
    about = {"puzzles": str(args), "set-ups": f"{games} from {first}"}
    starts = [first, *range(first - first % GAMES_PER_BLOCK, first + games, GAMES_PER_BLOCK)[1:]]
    with shard_folder(out, about, resume) as folder:
        shards = [
            jobs.Shard(folder / f"{start:06}.json", (maker_args, start, stop - start))
            for start, stop in zip(starts, [*starts[1:], first + games], strict=True)
        ]
        jobs.compute(make_block, shards, on)
        collection = puzzles.join([puzzles.read(shard.path) for shard in shards])
        if out:
            puzzles.write(out, collection)
            shutil.rmtree(folder)
    return collection


class PuzzleMaker:
    """Makes puzzles with one agent; compiled once. Ctrl-C raises KeyboardInterrupt."""

    def __init__(
        self, env: GaiaEnv, name: str, num_playouts: int, criteria: AnswerCriteria = ANY_ANSWER
    ):
        """
        Args:
            name: of the agent that plays, one with a policy.
            num_playouts: of each candidate in the check.
        Raises:
            UserError: an unknown agent, or one without a policy.
        """
        self.env, self.name, self.criteria = env, name, criteria
        self.num_playouts = num_playouts
        self.agent = make_agent(name, env)
        check_policy(name, self.agent)
        self.player = CandidatePlayer(env, self.agent)
        self._solvers = puzzles.make_solvers(criteria.agents, env)

    def extend(
        self, collection: JsonObject, first: int, games: int, out: Path | None
    ) -> tuple[JsonObject, bool]:
        """Add the puzzles of more games, written after every GAMES_PER_BATCH games.

        Args:
            first: number of the first set-up. games: the number of games.
        Returns:
            The collection, and whether all games were searched; Ctrl-C keeps the puzzles so far.
        Raises:
            KeyboardInterrupt: before the first games were searched.
        """
        begin, end = collection["following"], first + games

        def status() -> str:
            searched = f"{collection['following'] - first} of {games} games"
            playouts = f"{self.player.num_played} playouts of the next games"
            return f"{searched}, {len(collection['puzzles'])} puzzles; {playouts}"

        try:
            with status_line(status):
                for extended in self._search_until(collection, end):
                    collection, self.player.num_played = extended, 0
                    if out:
                        puzzles.write(out, collection)
        except KeyboardInterrupt:
            if collection["following"] == begin:
                raise
        return collection, collection["following"] >= end

    def _search_until(self, collection: JsonObject, end: int) -> Iterator[JsonObject]:
        """The collection after more and more games, up to set-up number `end`."""
        block, played = -1, list[Game]()
        while collection["following"] < end:
            first = collection["following"]
            if first // GAMES_PER_BLOCK != block:
                block = first // GAMES_PER_BLOCK
                played = self.play_games(collection["seed"], block)
            stop = min(first - first % GAMES_PER_BATCH + GAMES_PER_BATCH, end)
            games = [played[number % GAMES_PER_BLOCK] for number in range(first, stop)]
            games = [game for game in games if game.states[-1].terminated]  # not cut at MAX_MOVES
            decisions = [
                Decision(number, at, self.criteria.beats)
                for number, game in enumerate(games)
                for at in puzzle_decisions(game, collection["from_round"])
            ]
            by_game = self.search_games(games, decisions, first)
            collection = puzzles.add_games(collection, games, by_game, stop)
            yield collection

    def play_games(self, seed: int, block: int) -> list[Game]:
        """Play on GAMES_PER_BLOCK set-ups of a seed; a block always gives the same games."""
        key, numbers = jax.random.key(seed), np.arange(GAMES_PER_BLOCK) + block * GAMES_PER_BLOCK
        draw = env_jit(self.env, "draw_setup")
        start = replay.compiled(gaia_jax.make(self.env.id, players=self.env.num_players))[0]
        step = compiled_step(self.env)
        states = [jax.device_get(start(draw(jax.random.fold_in(key, n)))) for n in numbers]
        pool = stack_states(states)
        first = np.argmax(policy_probabilities(self.agent, pool)[:GAMES_PER_BLOCK], axis=1)
        moves = self.player.run_jobs(
            pool, Jobs(np.arange(GAMES_PER_BLOCK), first, numbers), seed
        ).moves
        games = []
        for state, action, row in zip(states, first.tolist(), moves.tolist(), strict=True):
            played = list(whole_moves(self.env, step, state, [action, *row]))
            games.append(Game(self.env, [state, *(s for _, s in played)], [a for a, _ in played]))
        return games

    def retry(self, collection: JsonObject) -> JsonObject:
        """Make the puzzles again with this agent; keep those that are puzzles for it too.

        Raises:
            UserError: a game does not play.
        """
        games = list(puzzles.replay_games(collection))
        decisions = sorted(
            Decision(puzzle["game"], puzzle["decision"] - 1, puzzle.get("beats", ""))
            for puzzle in collection["puzzles"]
        )
        unknown = {decision.beats for decision in decisions} - {"", *self._solvers}
        self._solvers |= puzzles.make_solvers(sorted(unknown), self.env)
        seed, first_round = collection["seed"], collection["from_round"]
        by_game = self.search_games(games, decisions, seed)
        empty = puzzles.new_collection(self.env, self.name, self.num_playouts, seed, 0, first_round)
        return puzzles.add_games(empty, games, by_game, collection["following"])

    def search_games(
        self, games: Sequence[Game], decisions: Sequence[Decision], seed: int
    ) -> list[list[JsonObject]]:
        """The puzzles of each game; of those with the same answer the one with the largest lead."""
        trials, decisions = list[Trial](), self._with_alternatives(games, decisions)
        for start in range(0, len(decisions), POOL_SIZE):
            trials += self._make_trials(games, decisions[start : start + POOL_SIZE], start)
        for samples, lead, clear in SCREENING:
            accepts = partial(is_promising, lead=lead, clear=clear)
            trials = self.player.try_candidates(trials, samples, 0, accepts, seed)
        trials = [self._with_more_candidates(trial) for trial in trials]
        check = partial(
            self.player.try_candidates, first=FIRST_CHECK_SAMPLE, seed=seed, with_plans=True
        )
        trials = check(trials, SCREENING[-1][0], accepts=is_promising)
        rivals = nearest_rivals(self.env, self.player, trials)
        trials = [trial for trial in trials if rivals[trial.number].is_fair]
        by_answer: list[dict[str, JsonObject]] = [{} for _ in games]
        for trial in check(trials, self.num_playouts, accepts=is_puzzle):
            number, _, beats = decisions[trial.number]
            puzzle = puzzle_json(games[number], trial) | ({"beats": beats} if beats else {})
            puzzle["rival"] = rivals[trial.number].json(self.env.ruleset.actions.texts)
            clearest = by_answer[number].setdefault(puzzle["answer"]["text"], puzzle)
            if puzzle["loss"]["mean"] > clearest["loss"]["mean"]:
                by_answer[number][puzzle["answer"]["text"]] = puzzle
        return [sorted(own.values(), key=lambda puzzle: puzzle["decision"]) for own in by_answer]

    def _with_alternatives(
        self, games: Sequence[Game], decisions: Sequence[Decision]
    ) -> list[Decision]:
        """The decisions with a second likely action; a search costs far more than the policy."""
        open_decisions = list[Decision]()
        for start in range(0, len(decisions), POOL_SIZE):
            part = decisions[start : start + POOL_SIZE]
            pool = stack_states([games[game].states[at] for game, at, _ in part])
            probabilities = policy_probabilities(self.agent, pool)[: len(part)]
            least = MIN_RELATIVE_PROBABILITY * probabilities.max(1, keepdims=True)
            is_open = (probabilities >= least).sum(1) > 1
            open_decisions += [
                decision
                for decision, is_kept in zip(part, is_open, strict=True)
                if is_kept or decision.beats
            ]
        return open_decisions

    def _make_trials(
        self, games: Sequence[Game], decisions: Sequence[Decision], first: int
    ) -> Iterator[Trial]:
        """A trial of each decision with at least two candidates, numbered from `first` on."""
        states = [games[game].states[at] for game, at, _ in decisions]
        pool, texts = stack_states(states), self.env.ruleset.actions.texts
        by_state = policy_probabilities(self.agent, pool)
        positions: State = jax.tree.map(lambda x: x[: len(states)], pool)
        chosen = {
            name: puzzles.choose_actions(agent, positions) for name, agent in self._solvers.items()
        }
        is_kind = np.array([not text.startswith(NON_ANSWERS) for text in texts])
        for row, (state, decision) in enumerate(zip(states, decisions, strict=True)):
            probabilities, allowed = by_state[row], is_kind.copy()
            for name in self.criteria.solved_by:
                allowed &= np.arange(len(texts)) == chosen[name][row]
            allowed[[chosen[name][row] for name in self.criteria.unsolved_by]] = False
            beaten = int(chosen[decision.beats][row] if decision.beats else probabilities.argmax())
            is_likely = probabilities >= MIN_RELATIVE_PROBABILITY * probabilities.max()
            weights = np.where(allowed & is_likely, probabilities, 0.0)
            weights[beaten] = probabilities[beaten]
            comparison = make_comparison(
                decision.at + 1, int(state.current_player), beaten, weights
            )
            if len(comparison.candidates) > 1 and not texts[beaten].startswith(CONVERSION):
                yield Trial(first + row, state, comparison, probabilities, allowed)

    def _with_more_candidates(self, trial: Trial) -> Trial:
        """The same decision with as many candidates as a puzzle has."""
        beaten, *others = trial.comparison.candidates.tolist()
        tried = list(dict.fromkeys([beaten, trial.answer, *others]))
        legal = np.flatnonzero(np.asarray(trial.state.legal_action_mask))
        likely = legal[np.argsort(-trial.probabilities[legal], kind="stable")].tolist()
        candidates = np.array(choose_varied(self.env.ruleset, tried, likely), int)
        probabilities = trial.probabilities[candidates]
        comparison = trial.comparison._replace(candidates=candidates, probabilities=probabilities)
        return trial._replace(comparison=comparison)


def puzzle_decisions(game: Game, first_round: int = 1) -> list[int]:
    """Decisions that may become puzzles, numbered from 0.

    Start places, turns, offers of leech, and the choice of a tile or of a token of a federation.

    Args:
        first_round: of the puzzles; 0 begins with the start places.
    """
    return [
        at
        for at, state in enumerate(game.states[:-1])
        if int(state.game.turn.node) in PUZZLE_NODES
        and int(state.game.turn.round) >= first_round
        and int(np.sum(state.legal_action_mask)) > 1
    ]


def choose_varied(rules: Ruleset, tried: Sequence[int], likely: Sequence[int]) -> list[int]:
    """Choose NUM_CANDIDATES actions: the first two tried ones, one of each other verb, then others.

    Conversions and special actions are taken from the tried ones only: a conversion is no complete
    move, and a special action that could precede the answer mostly leads to the same VP.

    Args:
        tried: actions of the screening, the choice to beat and the best one first.
        likely: all legal actions, the most probable first.
    """
    verbs = [text.split()[0] for text in rules.actions.texts]
    likely = [a for a in likely if not rules.actions.texts[a].startswith(NON_ANSWERS)]
    chosen, others = list(tried[:2]), [*tried, *likely]
    for action in others:
        if verbs[action] not in {verbs[other] for other in chosen}:
            chosen.append(action)
    return list(dict.fromkeys([*chosen, *others]))[:NUM_CANDIDATES]


def puzzle_json(game: Game, trial: Trial) -> JsonObject:
    """A puzzle, plain values."""
    rules, comparison, ends = game.env.ruleset, trial.comparison, trial.ends
    pair = [0, trial.best_row]
    judged = judge_from_playouts(
        comparison, comparison.candidates[pair], ends.vp[pair], ends.moves[pair, :, :0]
    )
    move = review_report.move_json(game, judged)
    answer, beaten = move.pop("better"), move.pop("played")
    del move["grade"], move["line"]
    by_action = trial.candidates_json(game.env)
    candidates = [
        review_report.action_json(rules, action, float(chance)) | by_action[action]
        for action, chance in zip(
            comparison.candidates.tolist(), comparison.probabilities, strict=True
        )
    ]
    candidates.sort(key=lambda candidate: -float(candidate["vp"]))
    about = {
        "theme": puzzles.find_theme(answer["text"], move["round"]),
        "answer": answer,
        "candidates": candidates,
    }
    return about | move | {"policy": beaten}
