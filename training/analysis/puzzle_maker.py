"""Make puzzles from games of an agent.

The agent plays games. At every decision, playouts compare its first choice with its most probable
alternatives: a few at first, more where one move may be clearly better. A fresh check then plays
more candidates, in both orders (`candidates`). A decision becomes a puzzle if its best move leads
all others (`is_answered`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

import gaia_jax
from gaia_jax import replay
from gaia_jax.actions import from_text
from gaia_jax.env import GaiaEnv
from gaia_jax.ruleset import Ruleset
from gaia_jax.state import Node
from gaia_jax.xla.stored_programs import env_jit

from ..agents import make_agent
from ..system import cli
from . import puzzles, review
from .candidates import POSITIONS, CandidatePlayer, Trial, stacked
from .judge import measured, question
from .playouts import Jobs, whole_moves
from .position import probabilities
from .puzzles import ANY, CLEAR, CONVERSION, LEAST, NO_ANSWERS, Choice
from .recorded_game import Game
from .review import Plain

PLAYED = 64  # games that are played together
GAMES = 16  # of them that are searched together, and then written
PRIOR = 0.003  # times the highest probability: the screening skips actions below it
CANDIDATES = 6  # of a puzzle
SCREENING = ((4, 3.0, 1.0), (16, 4.0, 1.5))  # playouts, then the arguments of `is_promising`
FRESH = 1 << 16  # number of the first playout of the check: luck that selected nothing


class Decision(NamedTuple):
    """A decision that may become a puzzle."""

    game: int  # which of the games
    at: int  # from 0
    beats: str = ""  # the agent whose choice to beat; "" is the policy


def has_answer(trial: Trial) -> bool:
    """Whether the best candidate may be an answer and is not the choice to beat."""
    return (
        trial.best > 0 and bool(trial.allowed[trial.answer]) and trial.answer not in trial.planned
    )


def is_promising(trial: Trial, lead: float = 4.0, clear: float = 1.5) -> bool:
    """Whether the best candidate may lead clearly: its shrunk leads, in VP.

    Args:
        lead: over the choice to beat. clear: over each other candidate.
    """
    beaten, *others = trial.losses
    is_clear = all(loss.shrunk >= clear for loss in others)
    return has_answer(trial) and beaten.shrunk >= lead and is_clear


def is_answered(trial: Trial) -> bool:
    """Whether the best candidate leads by LEAST VP, over all others by CLEAR VP, at 95 %."""
    beaten, *others = trial.losses
    is_clear = all(loss.mean >= CLEAR and loss.low > 0 for loss in others)
    return has_answer(trial) and beaten.mean >= LEAST and beaten.low > 0 and is_clear


class PuzzleMaker:
    """Makes puzzles with one agent; compiled once. Ctrl-C raises KeyboardInterrupt."""

    def __init__(self, env: GaiaEnv, name: str, playouts: int, choice: Choice = ANY):
        """
        Args:
            name: of the agent that plays, one with a policy.
            playouts: of each candidate in the check.
        Raises:
            UserError: an unknown agent, or one without a policy.
        """
        self.env, self.name, self.playouts, self.choice = env, name, playouts, choice
        self.agent = make_agent(name, env)
        review.check_policy(name, self.agent)
        self.player = CandidatePlayer(env, self.agent)
        self._solvers = puzzles.solvers(choice.agents, env)

    def extend(
        self, collection: Plain, first: int, games: int, out: Path | None
    ) -> tuple[Plain, bool]:
        """Add the puzzles of more games, written after every GAMES games.

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
            with cli.status_line(status):
                for extended in self._search_until(collection, end):
                    collection, self.player.num_played = extended, 0
                    if out:
                        puzzles.write(out, collection)
        except KeyboardInterrupt:
            if collection["following"] == begin:
                raise
        return collection, collection["following"] >= end

    def _search_until(self, collection: Plain, end: int) -> Iterator[Plain]:
        """The collection after more and more games, up to set-up number `end`."""
        block, played = -1, list[Game]()
        while collection["following"] < end:
            first = collection["following"]
            if first // PLAYED != block:
                block = first // PLAYED
                played = self.play_games(collection["seed"], block)
            stop = min(first - first % GAMES + GAMES, end)
            games = [played[number % PLAYED] for number in range(first, stop)]
            games = [game for game in games if game.states[-1].terminated]  # not cut at MAX_MOVES
            decisions = [
                Decision(number, at, self.choice.beats)
                for number, game in enumerate(games)
                for at in decisions_of(game, collection["from_round"])
            ]
            by_game = self.search_games(games, decisions, first)
            collection = puzzles.add_games(collection, games, by_game, stop)
            yield collection

    def play_games(self, seed: int, block: int) -> list[Game]:
        """Play on PLAYED set-ups of a seed; a block always gives the same games."""
        key, numbers = jax.random.key(seed), np.arange(PLAYED) + block * PLAYED
        draw = env_jit(self.env, "draw_setup")
        start, step = replay.compiled(gaia_jax.make(self.env.id, players=self.env.num_players))
        states = [jax.device_get(start(draw(jax.random.fold_in(key, n)))) for n in numbers]
        pool = stacked(states)
        first = np.argmax(probabilities(self.agent, pool)[:PLAYED], axis=1)
        moves = self.player.run_jobs(pool, Jobs(np.arange(PLAYED), first, numbers), seed).moves
        games = []
        for state, action, row in zip(states, first.tolist(), moves.tolist(), strict=True):
            played = list(whole_moves(self.env, step, state, [action, *row]))
            games.append(Game(self.env, [state, *(s for _, s in played)], [a for a, _ in played]))
        return games

    def retry(self, collection: Plain) -> Plain:
        """The puzzles that are puzzles of this agent too, with the numbers of new playouts.

        Raises:
            UserError: a game does not play.
        """
        games = [
            Game(
                self.env,
                puzzles.game_states(collection, number),
                [from_text(self.env.ruleset, text) for text in game["actions"]],
            )
            for number, game in enumerate(collection["games"])
        ]
        decisions = sorted(
            Decision(puzzle["game"], puzzle["decision"] - 1, puzzle.get("beats", ""))
            for puzzle in collection["puzzles"]
        )
        unknown = {decision.beats for decision in decisions} - {"", *self._solvers}
        self._solvers |= puzzles.solvers(sorted(unknown), self.env)
        seed, first_round = collection["seed"], collection["from_round"]
        by_game = self.search_games(games, decisions, seed)
        empty = puzzles.empty(self.env, self.name, self.playouts, seed, 0, first_round)
        return puzzles.add_games(empty, games, by_game, collection["following"])

    def search_games(
        self, games: Sequence[Game], decisions: Sequence[Decision], seed: int
    ) -> list[list[Plain]]:
        """The puzzles of each game; of several with the same answer in a game the clearest."""
        trials = list[Trial]()
        for start in range(0, len(decisions), POSITIONS):
            trials += self._trials(games, decisions[start : start + POSITIONS], start)
        player = self.player
        for samples, lead, clear in SCREENING:
            accepts = partial(is_promising, lead=lead, clear=clear)
            trials = player.try_candidates(trials, samples, 0, accepts, seed)
        trials = [self._widened(trial) for trial in trials]
        trials = player.try_both_ways(trials, SCREENING[-1][0], FRESH, is_promising, seed)
        trials = player.try_both_ways(trials, self.playouts, FRESH, is_answered, seed)
        by_answer: list[dict[str, Plain]] = [{} for _ in games]
        for trial in trials:
            number, _, beats = decisions[trial.number]
            puzzle = puzzle_json(games[number], trial) | ({"beats": beats} if beats else {})
            clearest = by_answer[number].setdefault(puzzle["answer"]["text"], puzzle)
            if puzzle["loss"]["mean"] > clearest["loss"]["mean"]:
                by_answer[number][puzzle["answer"]["text"]] = puzzle
        return [sorted(own.values(), key=lambda puzzle: puzzle["decision"]) for own in by_answer]

    def _trials(
        self, games: Sequence[Game], decisions: Sequence[Decision], first: int
    ) -> Iterator[Trial]:
        """A trial of each decision with at least two candidates, numbered from `first` on."""
        states = [games[game].states[at] for game, at, _ in decisions]
        pool, texts = stacked(states), self.env.ruleset.actions.texts
        policies = probabilities(self.agent, pool)
        chosen = {name: puzzles.choices(agent, pool) for name, agent in self._solvers.items()}
        is_kind = np.array([not text.startswith(NO_ANSWERS) for text in texts])
        for row, (state, decision) in enumerate(zip(states, decisions, strict=True)):
            policy, allowed = policies[row], is_kind.copy()
            for name in self.choice.solved_by:
                allowed &= np.arange(len(texts)) == chosen[name][row]
            allowed[[chosen[name][row] for name in self.choice.unsolved_by]] = False
            beaten = int(chosen[decision.beats][row] if decision.beats else policy.argmax())
            weights = np.where(allowed & (policy >= PRIOR * policy.max()), policy, 0.0)
            weights[beaten] = policy[beaten]
            comparison = question(decision.at + 1, int(state.current_player), beaten, weights)
            if len(comparison.candidates) > 1 and not texts[beaten].startswith(CONVERSION):
                yield Trial(first + row, state, comparison, policy, allowed)

    def _widened(self, trial: Trial) -> Trial:
        """The same decision with as many candidates as a puzzle has."""
        beaten, *others = trial.question.candidates.tolist()
        tried = list(dict.fromkeys([beaten, trial.answer, *others]))
        legal = np.flatnonzero(np.asarray(trial.state.legal_action_mask))
        likely = legal[np.argsort(-trial.policy[legal], kind="stable")].tolist()
        candidates = np.array(varied(self.env.ruleset, tried, likely), int)
        policy = trial.policy[candidates]
        question = trial.question._replace(candidates=candidates, policy=policy)
        return trial._replace(question=question)


def decisions_of(game: Game, first_round: int = 1) -> list[int]:
    """Decisions that may become puzzles, from 0: turns and offers of leech, from a round on."""
    return [
        at
        for at, state in enumerate(game.states[:-1])
        if int(state.game.turn.node) in (Node.TURN, Node.LEECH)
        and int(state.game.turn.round) >= first_round
        and int(np.sum(state.legal_action_mask)) > 1
    ]


def varied(rules: Ruleset, tried: Sequence[int], likely: Sequence[int]) -> list[int]:
    """CANDIDATES actions: the first two tried ones, one of each further verb, then others.

    Conversions and special actions are only taken from the tried ones: a conversion is no complete
    move, and a special action before the answer mostly ends alike.

    Args:
        tried: actions of the screening, the choice to beat and the best one first.
        likely: all legal actions, the most probable first.
    """
    verbs = [text.split()[0] for text in rules.actions.texts]
    likely = [a for a in likely if not rules.actions.texts[a].startswith(NO_ANSWERS)]
    chosen, others = list(tried[:2]), [*tried, *likely]
    for action in others:
        if verbs[action] not in {verbs[other] for other in chosen}:
            chosen.append(action)
    return list(dict.fromkeys([*chosen, *others]))[:CANDIDATES]


def puzzle_json(game: Game, trial: Trial) -> Plain:
    """A puzzle, plain values."""
    rules, question, results = game.env.ruleset, trial.question, trial.results
    pair = [0, trial.best]
    judged = measured(
        question, question.candidates[pair], results.vp[pair], results.moves[pair, :, :0]
    )
    move = review.move_json(game, judged)
    answer, policy = move.pop("better"), move.pop("played")
    del move["grade"], move["line"]
    by_action = trial.candidates_json(game.env)
    candidates = [
        review.action_json(rules, action, float(chance)) | by_action[action]
        for action, chance in zip(question.candidates.tolist(), question.policy, strict=True)
    ]
    candidates.sort(key=lambda candidate: -float(candidate["vp"]))
    about = {"theme": puzzles.theme(answer["text"]), "answer": answer, "candidates": candidates}
    return about | move | {"policy": policy}
