"""Make puzzles from games of an agent.

The agent plays games. Each start place, turn, offer of leech, and choice of a tile or federation
token goes through these tests, the cheap ones first:

1. A line, one playout of most probable moves, follows each likely move. The best one proposes the
   answer: it leads the policy's move by 5 VP and the others by 3.5 VP, and the agents of `criteria`
   choose it.
2. Its line leads that of every legal move by 3 VP, of the policy's by 5 VP.
3. In 16 playouts it leads the policy's move and the nearest others, up to six in all, and one event
   explains why it is better than the policy's move (`puzzle_reasons`).
4. A stronger agent may verify this (`verification`).
5. It races against every legal move (`races`): 4 playouts of each, up to 256 of those still near. A
   rival clearly within 3 VP, of the policy's move 5 VP, ends the race. The moves that followed the
   answer are also played after each rival (`trials`), because the same moves in another order are
   no mistake.
6. In `num_playouts` playouts with new random numbers it leads the policy's move by 5 VP and the
   nearest others by 3.5 VP, with intervals above 0 (`is_puzzle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from ..system.batched import stacked
from ..types import JsonObject
from . import puzzles, review_report
from .actions import is_conversion
from .judge import judge_from_playouts, make_comparison, policy_probabilities
from .playout_journal import PlayoutJournal
from .playouts import Candidates
from .puzzle_choices import TEMPTING
from .puzzle_criteria import (
    NUM_CANDIDATES,
    first_puzzles,
    has_room,
    is_promising,
    is_puzzle,
    leads_by_line,
    puzzle_decisions,
)
from .puzzle_reasons import has_reason
from .puzzles import ANY_ANSWER, NON_ANSWERS, AnswerCriteria
from .races import LADDER, Race, make_race, nearest_rivals
from .recorded_game import Game, compiled_step, whole_moves
from .review import check_policy
from .trials import POOL_SIZE, CandidatePlayer, Trial, stack_states
from .verification import PuzzleVerifier

GAMES_PER_BLOCK = 64  # games that are played together
GAMES_PER_BATCH = 8  # games of a block that are searched together, and then written
# Times the highest probability of a decision: the screening skips less probable actions.
MIN_RELATIVE_PROBABILITY = 0.003
ONE_LINE, SCREENING = range(1), range(16)  # playouts of the screening
FIRST_CHECK = 1 << 16  # number of the first playout of the check, independent of the screening


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
        line_agent = make_agent(name, env, likeliest=True)
        # A name of its own: the journal identifies agents by name and parameters.
        line_agent = line_agent._replace(name=f"{name}, most probable moves")
        self.line_player = CandidatePlayer(env, line_agent)
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
        verifying = self._verifier.players if self._verifier else ()
        players = [self.player, self.line_player, *verifying]
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
            if at_most:
                by_game = first_puzzles(by_game, existing, at_most)
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
        self, games: Sequence[Game], decisions: Sequence[Decision], playout_seed: int
    ) -> list[list[JsonObject]]:
        """The puzzles of each game; of those with the same answer the one with the largest lead.

        Args:
            playout_seed: of all playouts; `extend` passes the number of the first set-up, so that
                each batch of games has its own, and `retry` the seed of the collection.
        """
        decision_of, trials = dict[int, Decision](), list[Trial]()
        for start in range(0, len(decisions), POOL_SIZE):
            part = decisions[start : start + POOL_SIZE]
            for decision, trial in self._make_trials(games, part, start):
                decision_of[trial.number] = decision
                trials.append(trial)
        trials = self._screen(trials, playout_seed)
        verified = self._verify(games, decision_of, trials)
        trials = [trial for trial in trials if trial.number in verified]
        self._stage = f"{len(trials)} decisions, all legal moves"
        races = [self._race(trial) for trial in trials]
        rivals = nearest_rivals(self.player, races, playout_seed)
        trials = [
            trial
            for trial, race in zip(trials, races, strict=True)
            if rivals[trial.number].is_fair and not race.is_lost(LADDER)
        ]
        self._stage = f"{len(trials)} decisions, {self.num_playouts} playouts"
        by_answer: list[dict[str, JsonObject]] = [{} for _ in games]
        samples = range(FIRST_CHECK, FIRST_CHECK + self.num_playouts)
        for trial in self.player.try_candidates(
            trials, samples, is_puzzle, playout_seed, with_plans=True
        ):
            number, _, beats = decision_of[trial.number]
            puzzle = puzzle_json(games[number], trial) | ({"beats": beats} if beats else {})
            puzzle["rival"] = rivals[trial.number].json(self._texts)
            puzzle |= verified[trial.number]
            clearest = by_answer[number].setdefault(puzzle["answer"]["text"], puzzle)
            if puzzle["loss"]["mean"] > clearest["loss"]["mean"]:
                by_answer[number][puzzle["answer"]["text"]] = puzzle
        return [sorted(own.values(), key=lambda puzzle: puzzle["decision"]) for own in by_answer]

    def _screen(self, trials: Sequence[Trial], seed: int) -> list[Trial]:
        """The trials that the cheap tests leave, with playouts of the moves nearest to the answer.

        The lines of two moves, one playout of most probable moves each, rank them as reliably as
        several ordinary playouts (docs/lab/search.md).
        """
        self._stage = f"{len(trials)} decisions, a line of each candidate"
        trials = self.line_player.try_candidates(trials, ONE_LINE, leads_by_line, seed)
        numbers = np.arange(len(self._texts))
        trials = [trial._replace(allowed=numbers == trial.answer) for trial in trials]
        trials = self._solved(trials)
        self._stage = f"{len(trials)} decisions, a line of each legal move"
        races = [self._race(trial) for trial in trials]
        candidates = [Candidates(race.number, race.actions, ONE_LINE) for race in races]
        states = {race.number: race.state for race in races}
        ends = self.line_player.play(states, candidates, seed)
        for race, end in zip(races, ends, strict=True):
            race.vp = [*end.vp[:, :, race.seat]]
        trials = [
            with_rivals(trial, race)
            for trial, race in zip(trials, races, strict=True)
            if (race.leads >= race.limits).all()
        ]
        self._stage = f"{len(trials)} decisions, {len(SCREENING)} playouts"
        trials = self.player.try_candidates(trials, SCREENING, is_promising, seed)
        self._stage = f"{len(trials)} decisions, reasons"
        return [trial for trial in trials if has_reason(self.player.runner.env, trial)]

    def _solved(self, trials: Sequence[Trial]) -> list[Trial]:
        """The trials whose answer all of `solved_by` choose, and no agent of `unsolved_by`."""
        remaining = [*trials]
        for name in [*self.criteria.solved_by, *self.criteria.unsolved_by]:
            if not remaining:
                break
            self._stage = f"{len(remaining)} decisions, {name}"
            is_solver = name in self.criteria.solved_by
            choices = self._choices(name, [trial.state for trial in remaining])
            remaining = [
                trial
                for trial, choice in zip(remaining, choices, strict=True)
                if (trial.answer == choice) == is_solver
            ]
        return remaining

    def _verify(
        self, games: Sequence[Game], decision_of: Mapping[int, Decision], trials: Sequence[Trial]
    ) -> dict[int, JsonObject]:
        """What the stronger agent adds to each puzzle that it verifies, by number of the trial."""
        if not self._verifier:
            return {trial.number: {} for trial in trials}
        verified = dict[int, JsonObject]()
        for number, trial in enumerate(trials, 1):
            self._stage = f"verifying decision {number} of {len(trials)}"
            puzzle = puzzle_json(games[decision_of[trial.number].game], trial)
            if own := self._verifier.verify_puzzle(puzzle, trial.state):
                verified[trial.number] = {key: own[key] for key in ("held", "candidates")}
        return verified

    def _race(self, trial: Trial) -> Race:
        """The race of the answer of a trial."""
        beaten = int(trial.comparison.candidates[0])
        seat = trial.comparison.seat
        return make_race(self.env, trial.number, trial.state, seat, trial.answer, beaten)

    def _make_trials(
        self, games: Sequence[Game], decisions: Sequence[Decision], first: int
    ) -> Iterator[tuple[Decision, Trial]]:
        """A trial of each decision with another likely move, numbered from `first` on."""
        states = [games[game].states[at] for game, at, _ in decisions]
        texts = self._texts
        by_state = policy_probabilities(self.agent, stack_states(states))[: len(states)]
        is_move = np.array([not is_conversion(text) for text in texts])
        is_kind = np.array([not text.startswith(NON_ANSWERS) for text in texts])
        is_likely = by_state >= MIN_RELATIVE_PROBABILITY * by_state.max(1, keepdims=True)
        beaten = by_state.argmax(1)
        for name in {decision.beats for decision in decisions} - {""}:
            rows = [row for row, decision in enumerate(decisions) if decision.beats == name]
            beaten[rows] = self._choices(name, [states[row] for row in rows])
        for row, decision in enumerate(decisions):
            weights = np.where(is_kind & is_likely[row], by_state[row], 0.0)
            weights[beaten[row]] = by_state[row, beaten[row]]
            seat = int(states[row].current_player)
            comparison = make_comparison(decision.at + 1, seat, int(beaten[row]), weights)
            if len(comparison.candidates) > 1 and is_move[beaten[row]]:
                trial = Trial(first + row, states[row], comparison, by_state[row], is_kind)
                yield decision, trial

    def _choices(self, name: str, states: Sequence[State]) -> list[int]:
        """The choice of an agent at each state."""
        choices = puzzles.choose_actions(self._solvers[name], stacked(states))
        return [int(action) for action in choices]

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
