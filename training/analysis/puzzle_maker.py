"""Makes puzzles: games of an agent, their decisions tried in stages, what is clear checked.

A stage plays every candidate of the decisions that are still open some times more, and drops those
where no move is clearly better than all others. What is left is played out on fresh luck. Then each
wrong candidate is tried once more with the answer behind it: the order of two moves is no mistake.
A puzzle is what then has one clear answer. All requests to the playouts have one size, so there is
one program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

import gaia_jax
from gaia_jax import actions, replay
from gaia_jax.env import GaiaEnv, State
from gaia_jax.xla.stored_programs import env_jit

from ..agents import make_agent
from ..system import atomic_files, cli
from . import puzzles, review
from .actions import is_turn
from .judge import Judged, Question, measured, question
from .playouts import Jobs, Playouts, jobs_of, whole_moves
from .position import probabilities
from .puzzle_tried import (
    FOLLOWED,
    TRIED,
    Stage,
    Tried,
    better_way,
    is_answered,
    leads,
    margins,
    of_each_kind,
    stays,
    typical,
    untried,
    with_more,
)  # fmt: skip
from .puzzles import added, choices, decisions, empty, puzzle, solvers, to_text, walked
from .recorded_game import Game
from .review import Plain

PLAYED = 64  # games that are played together
GAMES = 16  # of them that are looked through together, and then kept
POOL = 2048  # positions of a request
JOBS = 8192  # playouts of a request, at most
MOVES = 768  # decisions of a game that are kept; a longer one has no puzzles
PRIOR = 0.003  # of the likeliest one's probability: less, and the first stages do not try a move
FRESH = 1 << 16  # number of the first sample of the check: luck that has chosen nothing


STAGES = (Stage(4, 3.0, 1.0), Stage(12, 4.0, 1.5))  # on the luck that chooses
GLANCES = (Stage(4, 3.0, 0.5), Stage(12, 4.0, 1.5))  # the first part of the check


class Maker:
    """Makes puzzles with one agent; compiled once."""

    def __init__(
        self,
        env: GaiaEnv,
        name: str,
        playouts: int,
        first_round: int = 1,
        solved_by: Sequence[str] = (),
        unsolved_by: Sequence[str] = (),
        beats: str = "",
    ):
        """
        Args:
            name: of the agent that plays, one with a policy.
            playouts: of each candidate of a puzzle, when it is checked; more than `GLANCES` have.
            first_round: from which on there are puzzles.
            solved_by: agents: what each of them chooses may be an answer, and nothing else. They
                are asked before anything is played out, so most decisions take no playouts.
            unsolved_by: what one of these agents chooses is no answer.
            beats: whose choice the answer is better than; without it, the policy's first one.
        Raises:
            UserError: an unknown agent, or one without a policy.
        """
        self.env, self.name, self.playouts = env, name, playouts
        self.agent = make_agent(name, env)
        review.check_policy(name, self.agent)
        self._first_round = first_round
        self._solved_by = solvers(solved_by, env).values()
        self._unsolved_by = solvers(unsolved_by, env).values()
        self._beats = beats
        self._beaten = solvers([beats] if beats else [], env)  # by name, those met so far
        self._players = Playouts(env, self.agent, moves=MOVES, turn=is_turn)
        self._progress: Callable[[int], object] = lambda ended: None
        self._ended = 0

    def look_through(
        self, found: Plain, end: int, progress: Callable[[int], object] = lambda ended: None
    ) -> Iterator[Plain]:
        """A file of puzzles with those of more and more games, up to set-up number `end`.

        Args:
            found: the file as it is.
            progress: told how many playouts of the next games have ended.
        """
        block, games = -1, list[tuple[State, list[int]]]()
        while found["following"] < end:
            first = found["following"]
            if first // PLAYED != block:
                block = first // PLAYED
                games = self.games(found["seed"], block)
            stop = min(first - first % GAMES + GAMES, end)
            some = [self._walked(*games[n % PLAYED]) for n in range(first, stop)]
            here = [game for game in some if game.states[-1].terminated]  # none too long to keep
            made = self.puzzles(here, first, progress)
            found = added(found, list(zip(here, made, strict=True)), stop)
            yield found

    def write(self, found: Plain, first: int, games: int, out: Path | None) -> tuple[Plain, bool]:
        """Look games through and say how far it is; the file is written after every few.

        Args:
            found: the file as it is.
            first: number of the first set-up. games: that are wanted.
        Returns:
            The file, and whether there are as many games as wanted; Ctrl-C keeps what there is.
        Raises:
            KeyboardInterrupt: none have been looked through.
        """
        begin, end, ended = found["following"], first + games, 0

        def progress(now: int) -> None:
            nonlocal ended
            ended = now

        def said() -> str:
            looked = f"{found['following'] - first} of {games} games"
            return f"{looked}, {len(found['puzzles'])} puzzles; {ended} playouts of the next ones"

        try:
            with cli.status_line(said):
                for more in self.look_through(found, end, progress):
                    found, ended = more, 0
                    if out:
                        atomic_files.write_text(out, to_text(found))
        except KeyboardInterrupt:
            if found["following"] == begin:
                raise
        return found, found["following"] >= end

    def games(self, seed: int, block: int) -> list[tuple[State, list[int]]]:
        """Play on PLAYED set-ups of a seed: the first state of each game, and its short turns.

        Args:
            block: of set-ups; the same one gives the same games.
        Raises:
            KeyboardInterrupt: not all of them have ended.
        """
        key = jax.random.key(seed)
        draw, start = env_jit(self.env, "draw_setup"), self._compiled()[0]
        numbers = np.arange(PLAYED) + block * PLAYED
        first = [jax.device_get(start(draw(jax.random.fold_in(key, n)))) for n in numbers]
        pool = _pool(first)
        chosen = np.argmax(probabilities(self.agent, pool)[:PLAYED], axis=1)
        ends = self._play(pool, Jobs(np.arange(PLAYED), chosen, numbers), seed)
        return [
            (state, [int(action), *(int(move) for move in moves if move >= 0)])
            for state, action, moves in zip(first, chosen, ends.moves, strict=True)
        ]

    def again(self, found: Plain, progress: Callable[[int], object] = lambda ended: None) -> Plain:
        """The puzzles of a file that are puzzles of this agent's too, each tried as a new one is.

        All that they say, the answer too, is from these playouts.

        Args:
            progress: told how many playouts have ended.
        Raises:
            UserError: a game does not play.
            KeyboardInterrupt: not all has been played out.
        """
        games, where = list[Game](), list[list[tuple[int, str]]]()
        for number, one in enumerate(found["games"]):
            played = [actions.from_text(self.env.ruleset, text) for text in one["actions"]]
            games.append(Game(self.env, walked(found, number), played))
            here = [x for x in found["puzzles"] if x["game"] == number]
            where.append([(x["decision"] - 1, x.get("beats", "")) for x in here])
        made = self.puzzles(games, found["seed"], progress, where)
        begun = empty(self.env, self.name, self.playouts, found["seed"], 0, found["from_round"])
        return added(begun, list(zip(games, made, strict=True)), found["following"])

    def _walked(self, state: State, actions: list[int]) -> Game:
        """The states of a game; they stay on the device, which takes a fifth of the time."""
        played = list(whole_moves(self.env, self._compiled()[1], state, actions))
        return Game(self.env, [state, *(after for _, after in played)], [a for a, _ in played])

    def _compiled(self) -> Any:
        return replay.compiled(gaia_jax.make(self.env.id, players=self.env.num_players))

    def puzzles(
        self,
        games: Sequence[Game],
        seed: int,
        progress: Callable[[int], object],
        asked: Sequence[Sequence[tuple[int, str]]] | None = None,
    ) -> list[list[Plain]]:
        """The puzzles of each game; of several with one answer in a game the clearest.

        None whose answer begins as `NO_ANSWERS` do, or whose first choice is a conversion.

        Args:
            seed: of the playouts.
            progress: told how many playouts have ended.
            asked: decisions of each game, from 0, and whose choice the answer beats; None is all
                that may become puzzles.
        Raises:
            KeyboardInterrupt: not all has been played out.
        """
        self._progress, self._ended = progress, 0
        if asked is None:
            every = [decisions(game, self._first_round) for game in games]
            asked = [[(at, self._beats) for at in some] for some in every]
        where = [(g, *one) for g, some in enumerate(asked) for one in some]
        found: list[dict[str, Plain]] = [{} for _ in games]
        for first in range(0, len(where), POOL):
            here = where[first : first + POOL]
            pool = _pool([games[g].states[at] for g, at, _ in here])
            for one in self._open(pool, [one[1:] for one in here], seed):
                g, _, beats = here[one.row]
                text = self._text(one.best)
                more = one.more
                lead = leads(one.own, margins(one.own)[0])
                line = one.moves[:, typical(more, lead)]
                made = puzzle(games[g], _pair(one), one.own, more.mean(1), line, one.before)
                made |= {"beats": beats} if beats else {}
                if text not in found[g] or found[g][text]["loss"]["mean"] < made["loss"]["mean"]:
                    found[g][text] = made
        return [sorted(some.values(), key=lambda one: one["decision"]) for some in found]

    def _open(self, pool: State, which: Sequence[tuple[int, str]], seed: int) -> list[Tried]:
        """The decisions of the first positions of a pool that are puzzles.

        Args:
            which: the number of each decision in its game, from 0, and whose choice is beaten.
        """
        chance, seats = probabilities(self.agent, pool), np.asarray(pool.current_player)
        may = self._may_answer(pool)
        chosen = self._chosen(pool, chance, [beats for _, beats in which])
        asked = []
        for row, (number, _) in enumerate(which):
            first, seen = int(chosen[row]), chance[row]
            seen = np.where(may[row] & (seen >= PRIOR * seen.max()), seen, 0.0)
            seen[first] = chance[row, first]
            asked.append(question(number + 1, int(seats[row]), first, seen))
        mistakes = [not self._text(action).startswith(puzzles.CONVERSION) for action in chosen]
        open_ = [
            untried(row, one)
            for row, one in enumerate(asked)
            if len(one.candidates) > 1 and mistakes[row]
        ]
        open_, _ = self._staged(pool, open_, STAGES, 0, seed)
        wider = [untried(one.row, self._wider(pool, one, chance[one.row])) for one in open_]
        open_, glanced = self._staged(pool, wider, GLANCES, FRESH, seed)
        open_ = [one for one in open_ if may[one.row, one.best]]
        both = self._both_ways(pool, open_, glanced, seed)
        open_ = [one for one, way in zip(open_, both, strict=True) if stays(way.own, GLANCES[-1])]
        open_ = self._more(pool, open_, self.playouts - glanced, FRESH + glanced, seed)
        open_ = [one for one in open_ if is_answered(one.own) and may[one.row, one.best]]
        both = self._both_ways(pool, open_, self.playouts, seed)
        return [one for one in both if is_answered(one.own) and one.best not in one.before]

    def _chosen(self, pool: State, chance: np.ndarray, beats: Sequence[str]) -> np.ndarray:
        """(POOL,) the choice that is beaten: of the agent that is named, or the policy's first.

        Args:
            chance: (POOL, A) by the policy. beats: a name or nothing, of the first positions.
        """
        chosen = np.asarray(np.argmax(chance, axis=1))
        for name in {*beats} - {""}:
            self._beaten |= {} if name in self._beaten else solvers([name], self.env)
            rows = [row for row, one in enumerate(beats) if one == name]
            chosen[rows] = choices(self._beaten[name], pool)[rows]
        return chosen

    def _staged(
        self, pool: State, open_: list[Tried], stages: Sequence[Stage], first: int, seed: int
    ) -> tuple[list[Tried], int]:
        """What is still open after some stages, and how many playouts of each candidate they made.

        Args:
            first: number of their first sample.
        """
        made = 0
        for stage in stages:
            open_ = self._more(pool, open_, stage.samples, first + made, seed)
            open_ = [one for one in open_ if stays(one.own, stage)]
            made += stage.samples
        return open_, made

    def _may_answer(self, pool: State) -> np.ndarray:
        """(POOL, A) which actions may be an answer: by their kind, and by what solvers choose."""
        every = range(np.shape(pool.legal_action_mask)[1])
        kind = np.array([not self._text(action).startswith(puzzles.NO_ANSWERS) for action in every])
        may = np.tile(kind, (len(pool.current_player), 1))
        for agents, wanted in ((self._solved_by, True), (self._unsolved_by, False)):
            for agent in agents:
                may &= (np.arange(may.shape[1]) == choices(agent, pool)[:, None]) == wanted
        return may

    def _text(self, action: int) -> str:
        return actions.to_text(self.env.ruleset, int(action))

    def _both_ways(
        self, pool: State, open_: Sequence[Tried], samples: int, seed: int
    ) -> list[Tried]:
        """The same where the answer may follow each wrong candidate.

        Where a plan has two moves in any order, the agent may find the second one behind the answer
        alone. So a wrong candidate is also tried with the answer at the seat's next turn, where it
        is still legal, on the same luck; it is worth the better of the two ways.
        """
        wrong = []
        for one in open_:
            others = one.asked.candidates[one.asked.candidates != one.best]
            wrong.append(untried(one.row, one.asked._replace(candidates=others)))
        answers = [one.best for one in open_]
        tried = self._more(pool, wrong, samples, FRESH, seed, answers)
        return [better_way(one, other) for one, other in zip(open_, tried, strict=True)]

    def _wider(self, pool: State, one: Tried, chance: np.ndarray) -> Question:
        """The same question with as many candidates as a puzzle has."""
        legal = np.flatnonzero(np.asarray(pool.legal_action_mask[one.row]))
        likely = legal[np.argsort(-chance[legal], kind="stable")].tolist()
        first, *others = one.asked.candidates.tolist()
        known = [first, one.best, *others]
        tried = np.array(of_each_kind(self.env.ruleset, known, likely), int)
        return one.asked._replace(candidates=tried, policy=chance[tried])

    def _more(
        self,
        pool: State,
        open_: Sequence[Tried],
        samples: int,
        first: int,
        seed: int,
        then: Sequence[int] = (),
    ) -> list[Tried]:
        """The same with so many more playouts of each candidate, from number `first` on.

        Args:
            then: for each the action of the seat's next turn, where it is legal.
        """
        found: list[Tried] = []
        together = max(JOBS // (TRIED * samples), 1)
        for start in range(0, len(open_), together):
            some = open_[start : start + together]
            behind = then[start : start + together]
            jobs = jobs_of([one.asked.candidates for one in some], samples, first, behind)
            rows = np.array([one.row for one in some])
            ends = self._play(pool, jobs._replace(position=rows[jobs.position]), seed)
            before = 0
            for one in some:
                shape = (len(one.asked.candidates), samples, -1)
                here = slice(before, before + shape[0] * samples)
                before = here.stop
                more = (
                    ends.vp[here], ends.moves[here, :FOLLOWED], ends.sources[here, one.asked.seat],
                )  # fmt: skip
                found.append(with_more(one, [x.reshape(shape).astype(int) for x in more]))
        return found

    def _play(self, pool: State, jobs: Jobs, seed: int) -> Any:
        ends = self._players.play(
            pool, jobs, seed, lambda now: self._progress(self._ended + now), capacity=JOBS
        )
        if not ends.ended.all():
            raise KeyboardInterrupt
        self._ended += len(jobs.action)
        return ends


def _pool(states: Sequence[State]) -> State:
    """(POOL, ...) states, the last one again and again."""
    rows = np.minimum(np.arange(POOL), len(states) - 1)
    pool: State = jax.tree.map(lambda *x: np.stack(x)[rows], *states)
    return pool


def _pair(one: Tried) -> Judged:
    """What the first choice lost to the best candidate, without a line."""
    pair = [0, margins(one.own)[0]]
    return measured(one.asked, one.asked.candidates[pair], one.vp[pair], one.moves[pair, :, :0])
