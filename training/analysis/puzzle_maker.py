"""Make puzzles from games of an agent.

The agent plays games, and a funnel leads from cheap tests of many decisions to expensive tests of
few. The policy and the agents of `criteria` leave the decisions where another move than the
policy's own may be the answer. A few playouts compare that move with the policy's. The answer then
races against all legal moves (`races`), first with few playouts. New random numbers compare more
candidates, with and without the plan of the answer (`trials`). The race continues until the answer
leads every legal move, and new random numbers decide again (`is_puzzle`). Before the race one event
has to explain why the answer is better than the policy's move (`puzzle_reasons`). A stronger agent
may verify what is left (`verification`).
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
from gaia_jax.cli.progress import status_line
from gaia_jax.env import GaiaEnv, State
from gaia_jax.xla.stored_programs import env_jit

from ..agents import make_agent
from ..types import JsonObject
from . import puzzles, review_report
from .judge import judge_from_playouts, make_comparison, policy_probabilities
from .playout_journal import PlayoutJournal
from .playouts import Candidates
from .puzzle_choices import TEMPTING
from .puzzle_criteria import NUM_CANDIDATES, has_room, is_promising, is_puzzle, puzzle_decisions
from .puzzle_reasons import has_reason
from .puzzles import (
    ANY_ANSWER,
    CONVERSION,
    NON_ANSWERS,
    AnswerCriteria,
)
from .races import FIRST_SAMPLE, LADDER, Race, make_race, nearest_rivals, run_races
from .recorded_game import Game, compiled_step, whole_moves
from .review import check_policy
from .trials import POOL_SIZE, CandidatePlayer, Trial, stack_states
from .verification import PuzzleVerifier

GAMES_PER_BLOCK = 64  # games that are played together
GAMES_PER_BATCH = 8  # games of a block that are searched together, and then written
# Times the highest probability of a decision: the screening skips less probable actions.
MIN_RELATIVE_PROBABILITY = 0.003
# Of each stage: playouts, `is_promising` arguments. A small lead rarely survives the later stages.
SCREENING = ((4, 4.0, 1.0), (16, 6.0, 2.0))
# Numbers of the playouts with plans; the playouts of the check follow and select nothing.
PLAN_SAMPLES = range(1 << 16, (1 << 16) + 16)


class Decision(NamedTuple):
    """A decision that may become a puzzle."""

    game: int  # index of its game
    at: int  # number of the decision, from 0
    beats: str = ""  # the agent whose choice the answer beats; "" is the policy


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
        self._verifier = PuzzleVerifier(env, name, criteria.held_by) if criteria.held_by else None
        self._stage = ""

    def extend(
        self, collection: JsonObject, first: int, games: int, out: Path | None, at_most: int = 0
    ) -> tuple[JsonObject, bool]:
        """Add the puzzles of more games, verified and written after every GAMES_PER_BATCH games.

        The playouts of the next games are kept next to `out`: a command that continues an
        interrupted one reads them.

        Args:
            first: number of the first set-up. games: the number of games.
            at_most: stop at this number of puzzles, as of `has_room`; 0: any number of any rounds.
        Returns:
            The collection, and whether all games were searched; Ctrl-C keeps the puzzles so far.
        Raises:
            KeyboardInterrupt: before the first games were searched.
        """
        begin, end = collection["following"], first + games
        journal = PlayoutJournal(out) if out else None
        players = [self.player, *(self._verifier.players if self._verifier else ())]
        for player in players:
            player.journal = journal

        def status() -> str:
            searched = f"{collection['following'] - first} of {games} games"
            playouts = sum(player.num_played for player in players)
            stage = f"{self._stage}, {playouts} playouts of the next games"
            return f"{searched}, {len(collection['puzzles'])} puzzles; {stage}"

        try:
            with status_line(status):
                for extended in self._search_until(collection, end, at_most):
                    collection = extended
                    for player in players:
                        player.num_played = 0
                    if out and journal:
                        puzzles.write(out, collection)
                        journal.clear()
        except KeyboardInterrupt:
            if collection["following"] == begin:
                raise
        is_full = 0 < at_most <= len(collection["puzzles"])
        return collection, is_full or collection["following"] >= end

    def _search_until(self, collection: JsonObject, end: int, at_most: int) -> Iterator[JsonObject]:
        """The collection after more and more games, up to set-up number `end` or `at_most`."""
        block, played = -1, list[tuple[State, list[int]]]()
        while collection["following"] < end:
            if 0 < at_most <= len(collection["puzzles"]):
                return
            existing, first = collection["puzzles"], collection["following"]
            if first // GAMES_PER_BLOCK != block:
                block = first // GAMES_PER_BLOCK
                self._stage = "playing games"
                played = self.play_games(collection["seed"], block)
            stop = min(first - first % GAMES_PER_BATCH + GAMES_PER_BATCH, end)
            games = [
                replay_moves(self.env, *played[number % GAMES_PER_BLOCK])
                for number in range(first, stop)
            ]
            games = [game for game in games if game.states[-1].terminated]  # not cut at MAX_MOVES
            decisions = [
                Decision(number, at, self.criteria.beats)
                for number, game in enumerate(games)
                for at in puzzle_decisions(game, collection["from_round"])
                if not at_most or has_room(existing, at_most, int(game.states[at].game.turn.round))
            ]
            by_game = self.search_games(games, decisions, first)
            by_game = self._select(games, by_game, existing, at_most)
            collection = puzzles.add_games(collection, games, by_game, stop)
            yield collection

    def play_games(self, seed: int, block: int) -> list[tuple[State, list[int]]]:
        """Play on GAMES_PER_BLOCK set-ups of a seed; a block always gives the same games.

        Returns:
            Each start position, and the actions without ends of turns, padded with -1.
        """
        key, numbers = jax.random.key(seed), np.arange(GAMES_PER_BLOCK) + block * GAMES_PER_BLOCK
        draw = env_jit(self.env, "draw_setup")
        start = replay.compiled(gaia_jax.make(self.env.id, players=self.env.num_players))[0]
        states = [jax.device_get(start(draw(jax.random.fold_in(key, n)))) for n in numbers]
        probabilities = policy_probabilities(self.agent, stack_states(states))
        first = np.argmax(probabilities[:GAMES_PER_BLOCK], axis=1).tolist()
        candidates = [
            Candidates(row, [action], range(number, number + 1))
            for row, (action, number) in enumerate(zip(first, numbers.tolist(), strict=True))
        ]
        ends = self.player.play(dict(enumerate(states)), candidates, seed)
        rows = zip(states, first, ends, strict=True)
        return [(state, [action, *end.moves[0, 0].tolist()]) for state, action, end in rows]

    def retry(self, collection: JsonObject) -> JsonObject:
        """Make the puzzles again with this agent; keep those that pass all its tests too.

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
        decision_of, trials = dict[int, Decision](), list[Trial]()
        for start in range(0, len(decisions), POOL_SIZE):
            part = decisions[start : start + POOL_SIZE]
            for decision, trial in self._make_trials(games, part, start):
                decision_of[trial.number] = decision
                trials.append(trial)
        for samples, lead, clear in SCREENING:
            self._stage = f"{len(trials)} decisions, {samples} playouts"
            accepts = partial(is_promising, lead=lead, clear=clear)
            trials = self.player.try_candidates(trials, range(samples), accepts, seed)
        self._stage = f"{len(trials)} decisions, reasons"
        trials = [trial for trial in trials if has_reason(self.player.runner.env, trial)]
        self._stage = f"{len(trials)} decisions, all legal moves"
        races = [
            make_race(
                self.env, trial.number, trial.state, trial.comparison.seat, trial.answer,
                int(trial.comparison.candidates[0]),
            )
            for trial in trials
        ]  # fmt: skip
        races = run_races(self.player, races, LADDER[:2], FIRST_SAMPLE, seed)
        by_number = {race.number: race for race in races}
        trials = [with_rivals(t, by_number[t.number]) for t in trials if t.number in by_number]
        check = partial(self.player.try_candidates, seed=seed, with_plans=True)
        self._stage = f"{len(trials)} decisions, plans"
        trials = check(trials, PLAN_SAMPLES, is_promising)
        trials = [trial for trial in trials if trial.answer == by_number[trial.number].actions[0]]
        self._stage = f"{len(trials)} decisions, all legal moves"
        races = [by_number[trial.number] for trial in trials]
        rivals = nearest_rivals(self.player, races, seed)
        trials = [
            trial
            for trial, race in zip(trials, races, strict=True)
            if rivals[trial.number].is_fair and not race.is_lost(LADDER)
        ]
        self._stage = f"{len(trials)} decisions, {self.num_playouts} playouts"
        by_answer: list[dict[str, JsonObject]] = [{} for _ in games]
        final = range(PLAN_SAMPLES.stop, PLAN_SAMPLES.stop + self.num_playouts)
        for trial in check(trials, final, is_puzzle):
            number, _, beats = decision_of[trial.number]
            puzzle = puzzle_json(games[number], trial) | ({"beats": beats} if beats else {})
            puzzle["rival"] = rivals[trial.number].json(self._texts)
            clearest = by_answer[number].setdefault(puzzle["answer"]["text"], puzzle)
            if puzzle["loss"]["mean"] > clearest["loss"]["mean"]:
                by_answer[number][puzzle["answer"]["text"]] = puzzle
        return [sorted(own.values(), key=lambda puzzle: puzzle["decision"]) for own in by_answer]

    def _select(
        self,
        games: Sequence[Game],
        by_game: Sequence[Sequence[JsonObject]],
        existing: Sequence[JsonObject],
        at_most: int,
    ) -> list[list[JsonObject]]:
        """The verified puzzles of each game for which the set has room.

        Args:
            existing: the puzzles of the set so far.
        """
        selected, chosen = [*existing], [list[JsonObject]() for _ in games]
        for number, (game, own) in enumerate(zip(games, by_game, strict=True)):
            for puzzle in own:
                if at_most and not has_room(selected, at_most, puzzle["round"]):
                    continue
                verified: JsonObject | None = puzzle
                if self._verifier:
                    self._stage = f"verifying game {number + 1} of {len(games)}"
                    state = game.states[puzzle["decision"] - 1]
                    verified = self._verifier.verify_puzzle(puzzle, state)
                if verified:
                    selected.append(verified)
                    chosen[number].append(verified)
        return chosen

    def _make_trials(
        self, games: Sequence[Game], decisions: Sequence[Decision], first: int
    ) -> Iterator[tuple[Decision, Trial]]:
        """A trial of each decision with another likely move, numbered from `first` on.

        The agents of the criteria are asked only there: a search costs far more than the policy.
        """
        states = [games[game].states[at] for game, at, _ in decisions]
        pool, texts = stack_states(states), self._texts
        by_state = policy_probabilities(self.agent, pool)[: len(states)]
        best, is_kind = by_state.argmax(1), self._is_answer_kind()
        is_move = np.array([not text.startswith(CONVERSION) for text in texts])
        is_likely = by_state >= MIN_RELATIVE_PROBABILITY * by_state.max(1, keepdims=True)
        num_others = (is_likely & is_kind).sum(1) - is_kind[best]
        beats = np.array([bool(decision.beats) for decision in decisions])
        rows = np.flatnonzero(((num_others > 0) & is_move[best]) | beats)
        chosen = self._choices(pool, best, decisions, rows)
        for number, row in enumerate(rows.tolist(), first):
            decision, probabilities, allowed = decisions[row], by_state[row], is_kind.copy()
            for name in self.criteria.solved_by:
                allowed &= np.arange(len(texts)) == chosen[name][row]
            allowed[[chosen[name][row] for name in self.criteria.unsolved_by]] = False
            beaten = int(chosen[decision.beats][row] if decision.beats else best[row])
            weights = np.where(allowed & is_likely[row], probabilities, 0.0)
            weights[beaten] = probabilities[beaten]
            seat = int(states[row].current_player)
            comparison = make_comparison(decision.at + 1, seat, beaten, weights)
            if len(comparison.candidates) > 1 and is_move[beaten]:
                yield decision, Trial(number, states[row], comparison, probabilities, allowed)

    def _choices(
        self, pool: State, best: np.ndarray, decisions: Sequence[Decision], rows: np.ndarray
    ) -> dict[str, np.ndarray]:
        """(N,) the choice of each agent of the criteria at N decisions.

        The agents of `solved_by` are asked one after another, each where the choices so far may be
        the answer; -1 elsewhere.

        Args:
            best: (N,) the choice of the policy.
            rows: where they are asked.
        """
        chosen, beaten = dict[str, np.ndarray](), best

        def choose(name: str) -> None:
            chosen[name] = np.full(len(decisions), -1)
            if len(rows):
                states: State = jax.tree.map(lambda x: x[rows], pool)
                chosen[name][rows] = puzzles.choose_actions(self._solvers[name], states)

        for name in {decision.beats for decision in decisions} - {""}:
            choose(name)
            beats = np.array([decision.beats == name for decision in decisions])
            beaten = np.where(beats, chosen[name], beaten)
        for name in self.criteria.solved_by:
            self._stage = f"{len(rows)} decisions, {name}"
            choose(name)
            is_open = (chosen[name] != beaten) & self._is_answer_kind()[chosen[name]]
            rows = rows[is_open[rows]]
        for name in self.criteria.unsolved_by:
            choose(name)
        return chosen

    def _is_answer_kind(self) -> np.ndarray:
        """(A,) whether an action may be an answer."""
        return np.array([not text.startswith(NON_ANSWERS) for text in self._texts])

    @property
    def _texts(self) -> Sequence[str]:
        return self.env.ruleset.actions.texts


def with_rivals(trial: Trial, race: Race) -> Trial:
    """A decision with the candidates of a puzzle: likely moves, then those nearest to the answer.

    Args:
        race: of the answer of the trial.
    """
    is_unlikely = trial.probabilities[race.actions[1:]] < TEMPTING
    others = race.actions[1:][np.lexsort([race.leads, is_unlikely])].tolist()
    beaten = int(trial.comparison.candidates[0])
    actions = list(dict.fromkeys([beaten, trial.answer, *others]))[:NUM_CANDIDATES]
    candidates = np.array(actions, int)
    probabilities = trial.probabilities[candidates]
    comparison = trial.comparison._replace(candidates=candidates, probabilities=probabilities)
    return trial._replace(comparison=comparison)


def replay_moves(env: GaiaEnv, state: State, moves: Sequence[int]) -> Game:
    """The game of a start position and the actions of its playout."""
    played = list(whole_moves(env, compiled_step(env), state, moves))
    return Game(env, [state, *(after for _, after in played)], [action for action, _ in played])


def puzzle_json(game: Game, trial: Trial) -> JsonObject:
    """A puzzle, plain values."""
    rules, comparison = game.env.ruleset, trial.comparison
    pair = [0, trial.best_row]
    judged = judge_from_playouts(comparison, comparison.candidates[pair], trial.ends.at(pair))
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
