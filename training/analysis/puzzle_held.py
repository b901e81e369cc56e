"""Which puzzles hold where the seat that is asked goes on better than the agent that made them.

An answer may be ahead only because that agent goes on badly behind the other moves. So all
candidates are played out once more, and the seat plays on as a stronger agent, such as a search;
all others play as before. What holds by that is played out in a second way: behind each near move
the seat does at its next turns what it does from the answer on, as long as it can. The better way
counts, so that the order of two moves is no puzzle, and bad play behind a move is none. Of all
other legal moves but conversions, those that the agent itself does best with are tried likewise:
none has more; one may have as much, mostly because it may come before the answer. A puzzle that
holds says what came of it, and its lines are of these games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.actions import to_text
from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, make_agent, sha256_of
from ..system import cli
from ..system.cli import UserError
from ..types import EnvState, Params
from .accuracy import paired
from .actions import is_inside, is_turn
from .attribution import by_source
from .playouts import Ends, Jobs, Playouts, Turn
from .puzzle_tried import FOLLOWED, leads, typical
from .puzzles import CONVERSION, holds, positions, some, texts
from .review import Plain, loss_json

PLAYOUTS = 12  # of each candidate
RIVALS, FEWER = 8, 6  # other legal moves that the stronger agent tries, and playouts of each
NEAR = 10.0  # VP behind the answer: further, and no candidate has the plan tried behind it
GLANCES = 8  # playouts of the agent, of each of them, that choose these
TOGETHER = 16  # puzzles of one seat that are played out in one request
HELD = 1 << 17  # number of the first sample: luck that no puzzle was made with
REQUEST = 4096  # playouts that are compiled for
TURNS, WIDE = 16, 12  # of a plan, and decisions of each of its turns, at most
BEGINS, INSIDE = 16, 8  # what a note says of a decision, beside whose it is

Plan = list[list[int]]  # the decisions of each turn of a seat


class Way(NamedTuple):
    """How a puzzle is played on: a move, and maybe a plan for the turns behind it."""

    action: int
    plans: Sequence[Plan] = ()  # of each of the n games; without any it is the agent's own play

    def then(self, games: int) -> np.ndarray:
        """(games, TURNS, WIDE) as `Jobs` has it, without what is the move itself."""
        found = np.full((games, TURNS, WIDE), -1)
        for game, plan in enumerate(self.plans[:games]):
            left = [turn[:WIDE] for turn in plan if self.action not in turn]
            for number, turn in enumerate(left[:TURNS]):
                found[game, number, : len(turn)] = turn
        return found


class Held(NamedTuple):
    """How the ways of one puzzle ended, n games each."""

    own: np.ndarray  # (ways, n) VP of who is asked
    sources: np.ndarray  # (ways, n, S) these VP by source
    moves: np.ndarray  # (ways, n, FOLLOWED) actions behind the first one
    notes: np.ndarray  # (ways, n, FOLLOWED) whose they are, `noted`


class Holder:
    """Plays puzzles out with a stronger agent at the seat that is asked; compiled once."""

    def __init__(self, env: GaiaEnv, name: str, stronger: str):
        """
        Args:
            name: of the agent of the puzzles. stronger: of who plays on.
        Raises:
            UserError: an unknown agent.
        """
        self._env, self._stronger = env, stronger
        self._base, self._other = make_agent(name, env), make_agent(stronger, env)
        self._players = players(env, self._base, self._other)
        self._glances = Playouts(env, self._base, turn=is_turn, inside=is_inside)

    def those_held(self, found: Plain) -> tuple[Plain, bool]:
        """The puzzles of a file that hold, with what they hold by; says how far it is.

        Returns:
            The file, and whether all its puzzles were played out; Ctrl-C keeps what held so far.
        Raises:
            UserError: a game does not play, or the agent has learnt on since.
            KeyboardInterrupt: none has been played out.
        """
        if found["sha256"] != sha256_of(found["agent"]):
            raise UserError(
                f"the puzzles are of an earlier {found['agent']}: --again tries them anew"
            )
        done, ended, count = 0, 0, len(found["puzzles"])

        def progress(puzzles: int, playouts: int) -> None:
            nonlocal done, ended
            done, ended = puzzles, playouts

        def said() -> str:
            return f"played on: {done} of {count} puzzles; {ended} playouts of the next ones"

        with cli.status_line(said):
            tried = self.tried(found, progress=progress)
        kept = [n for n, one in enumerate(tried) if "held" in one and holds(one)]
        whole = all("held" in one for one in tried)
        return some(found | {"puzzles": tried}, kept, {"held_by": [self._stronger]}), whole

    def tried(
        self,
        found: Plain,
        seed: int = 0,
        progress: Callable[[int, int], object] = lambda puzzles, playouts: None,
    ) -> list[Plain]:
        """The puzzles of a file with what comes of them under "held"; those that Ctrl-C left out
        have none.

        Args:
            progress: told how many puzzles are done, and playouts of the next ones.
        Raises:
            UserError: a game does not play.
            KeyboardInterrupt: none has been played out.
        """
        made: dict[int, Plain] = {}
        asked = list(positions(found))
        seats = [[pair for pair in asked if pair[0]["player"] == seat] for seat in range(4)]
        try:
            for here in (x[n : n + TOGETHER] for x in seats for n in range(0, len(x), TOGETHER)):
                told = self._of_one_seat(here, seed, partial(progress, len(made)))
                made |= {id(one): new for (one, _), new in zip(here, told, strict=True)}
                progress(len(made), 0)
        except KeyboardInterrupt:
            if not made:
                raise
        return [made.get(id(one), _untried(one)) for one in found["puzzles"]]

    def _of_one_seat(
        self, here: Sequence[tuple[Plain, State]], seed: int, progress: Callable[[int], object]
    ) -> list[Plain]:
        """Puzzles of one seat with what comes of them; what still holds is tried further.

        Raises:
            KeyboardInterrupt: not all has been played out.
        """
        ways = [[Way(c["action"]) for c in one["candidates"]] for one, _ in here]
        found = self._played_out(here, ways, PLAYOUTS, seed, progress)
        told = [self._told(*x) for x in zip(here, ways, found, strict=True)]
        if not any(map(holds, told)):
            return told
        plans = [self._plans(one, x) for (one, _), x in zip(here, found, strict=True)]
        behind = [
            [Way(action, plan) for action in _near(one)] if holds(one) else []
            for one, plan in zip(told, plans, strict=True)
        ]
        if any(behind):
            more = self._played_out(here, behind, PLAYOUTS, seed, progress)
            pairs = (zip(*pair, strict=True) for pair in zip(found, more, strict=True))
            found = [Held(*map(np.concatenate, pair)) for pair in pairs]
            ways = [[*first, *others] for first, others in zip(ways, behind, strict=True)]
            told = [self._told(*x) for x in zip(here, ways, found, strict=True)]
        others = [self._others(*x) if holds(one) else [] for x, one in zip(here, told, strict=True)]
        rivals = self._rivals(here, others, plans, seed, progress)
        if any(rivals):
            ended = self._played_out(here, rivals, FEWER, seed, progress)
            told = [self._beside(*x) for x in zip(told, found, others, rivals, ended, strict=True)]
        return told

    def _rivals(
        self,
        here: Sequence[tuple[Plain, State]],
        others: Sequence[Sequence[int]],
        plans: Sequence[Sequence[Plan]],
        seed: int,
        progress: Callable[[int], object],
    ) -> list[list[Way]]:
        """The RIVALS moves of each puzzle that the agent itself does best with, in the better way.

        Args:
            others: moves of each puzzle.
        """
        ways = [
            [way for action in some for way in (Way(action), Way(action, plan))]
            for some, plan in zip(others, plans, strict=True)
        ]
        if not any(ways):
            return ways
        ends = self._ends(self._glances, here, ways, GLANCES, seed, progress)
        mean = ends.vp[:, here[0][0]["player"]].reshape(-1, 2, GLANCES).mean(2)
        found, first = list[list[Way]](), 0
        for both in ways:
            by_way = mean[first : first + len(both) // 2]
            order = np.argsort(-by_way.max(1), kind="stable")[:RIVALS]
            found.append([both[2 * n + int(by_way[n].argmax())] for n in order])
            first += len(by_way)
        return found

    def _plans(self, one: Plain, found: Held) -> list[Plan]:
        """What the seat does from the answer on in each of its games.

        Without the pass of the last round, which it plays anyway when nothing is left to do.
        """
        answer, last = one["answer"]["action"], self._last_pass()
        row = _actions(one).index(answer)
        return [
            [turn for turn in plan_of(answer, moves, notes, one["player"]) if turn[0] != last]
            for moves, notes in zip(found.moves[row], found.notes[row], strict=True)
        ]

    def _others(self, one: Plain, state: State) -> list[int]:
        """The legal moves that are no candidates, without conversions, which only begin a move."""
        legal = map(int, np.flatnonzero(np.asarray(state.legal_action_mask)))
        known, rules = _actions(one), self._env.ruleset
        return [a for a in legal if a not in known and not to_text(rules, a).startswith(CONVERSION)]

    def _beside(
        self, one: Plain, found: Held, others: Sequence[int], rivals: Sequence[Way], ended: Held
    ) -> Plain:
        """A puzzle with what came of the other legal moves: the best of them, on the same luck."""
        if not rivals:
            return one
        answer = found.own[_actions(one).index(one["answer"]["action"]), :FEWER].mean()
        mean = ended.own.mean(1)
        best = int(np.argmax(mean))
        about = {
            "text": to_text(self._env.ruleset, rivals[best].action),
            "vp": round(float(mean[best]), 1),
            "less": round(float(answer - mean[best]), 1),
            "moves": len(others),
        }
        return one | {"held": one["held"] | {"rival": about}}

    def _last_pass(self) -> int:
        return int(self._env.ruleset.actions.first["pass"])

    def _played_out(
        self,
        here: Sequence[tuple[Plain, State]],
        ways: Sequence[Sequence[Way]],
        games: int,
        seed: int,
        progress: Callable[[int], object],
    ) -> list[Held]:
        """How the ways of some puzzles of one seat end where the stronger agent plays on there.

        Args:
            games: of each way.
        Raises:
            KeyboardInterrupt: not all has been played out.
        """
        seat = here[0][0]["player"]
        ends = self._ends(self._players, here, ways, games, seed, progress)
        parts = (ends.vp[:, seat], ends.sources[:, seat], ends.moves, ends.notes)
        by_way = [x.reshape(-1, games, *x.shape[1:]).astype(int) for x in parts]
        where = np.cumsum([len(some) for some in ways])[:-1]
        return [Held(*x) for x in zip(*(np.split(part, where) for part in by_way), strict=True)]

    def _ends(
        self,
        players: Playouts,
        here: Sequence[tuple[Plain, State]],
        ways: Sequence[Sequence[Way]],
        games: int,
        seed: int,
        progress: Callable[[int], object],
    ) -> Ends:
        """How the ways of some puzzles of one seat end, one after the other; as `_played_out`."""
        rows = np.minimum(np.arange(TOGETHER), len(here) - 1)
        pool: State = jax.tree.map(
            lambda *x: np.stack(x)[rows], *(jax.device_get(state) for _, state in here)
        )
        every = [(n, way) for n, some in enumerate(ways) for way in some]
        position = np.repeat([n for n, _ in every], games)
        action = np.repeat([way.action for _, way in every], games)
        luck = np.tile(np.arange(HELD, HELD + games), len(every))
        then = np.concatenate([way.then(games) for _, way in every])
        agents = {"base": self._base.params, "other": self._other.params}
        params = agents | {"seat": jnp.int32(here[0][0]["player"])}
        self._players.agent = self._players.agent._replace(params=params)
        jobs = Jobs(position, action, luck, then)
        ends = players.play(pool, jobs, seed, progress, capacity=REQUEST)
        if not ends.ended.all():
            raise KeyboardInterrupt
        return ends

    def _told(self, pair: tuple[Plain, State], ways: Sequence[Way], found: Held) -> Plain:
        """A puzzle with what came of it; its lines are of the luck that is `typical`."""
        one, state = pair
        mean, row = found.own.mean(1), dict[int, int]()  # by action the better way
        for n, way in enumerate(ways):
            row[way.action] = max(row.get(way.action, n), n, key=lambda k: float(mean[k]))
        answer, other = (row[one[key]["action"]] for key in ("answer", "policy"))
        rows = [row[action] for action in _actions(one)]
        lead = leads(found.own[rows], rows.index(answer))
        more = found.sources[answer] - found.sources[rows]
        luck, candidates = typical(more, lead), []
        for candidate, n, apart in zip(one["candidates"], rows, more.mean(1), strict=True):
            held: Plain = {"vp": round(float(mean[n]), 1), "answer_next": bool(ways[n].plans)}
            held["why"] = by_source(self._env.ruleset, apart)
            line = texts(self._env, state, candidate["action"], found.moves[n, luck])
            candidates.append(candidate | {"held": held, "line": line})
        about: Plain = {
            "by": self._stronger,
            "playouts": PLAYOUTS,
            "loss": loss_json(paired(found.own[answer], found.own[other]), 1),
            "ahead": int((lead > 0).sum()),
        }
        return one | {"held": about, "candidates": candidates}


def _actions(one: Plain) -> list[int]:
    """The candidates of a puzzle, in its order."""
    return [candidate["action"] for candidate in one["candidates"]]


def _near(one: Plain) -> list[int]:
    """The other candidates of a puzzle that came within NEAR of its answer."""
    vp = {c["action"]: c["held"]["vp"] for c in one["candidates"]}
    least = vp.pop(one["answer"]["action"]) - NEAR
    return [action for action, own in vp.items() if own >= least]


def plan_of(first: int, moves: np.ndarray, notes: np.ndarray, seat: int) -> Plan:
    """What a seat decides in its turns of a game, from its first action on.

    Args:
        moves: (M,) actions behind the first one; -1 ends them. notes: (M,) of `noted`.
    """
    plan = [[first]]
    for action, note in zip(moves.tolist(), notes.tolist(), strict=True):
        if action < 0:
            break
        if note == BEGINS + seat:
            plan.append([action])
        elif note == INSIDE + seat:
            plan[-1].append(action)
    return plan


def _untried(one: Plain) -> Plain:
    """A puzzle without what an earlier agent made of it."""

    def plain(found: Plain) -> Plain:
        return {key: value for key, value in found.items() if key != "held"}

    return plain(one) | {"candidates": [plain(candidate) for candidate in one["candidates"]]}


def players(
    env: GaiaEnv, base: Agent, other: Agent, turn: Turn = is_turn, inside: Turn = is_inside
) -> Playouts:
    """Playouts where one seat plays as `other`, all others as `base`.

    Their parameters are those of `base` and of `other`, and the `seat` () int32.
    """

    def act(params: Params, state: EnvState, mask: Array, key: Array) -> Array:
        action = base.act(params["base"], state, mask, key if base.by_game else key[0])
        own = (state.current_player == params["seat"]) & ~(state.terminated | state.truncated)
        # Who is not asked has one action to choose from: no search is made there.
        one = jnp.arange(mask.shape[1]) == action[:, None]
        better = other.act(
            params["other"],
            state,
            jnp.where(own[:, None], mask, one),
            key if other.by_game else key[0],
        )
        return jnp.where(own, better, action).astype(jnp.int32)

    agent = Agent("own", act, by_game=True)

    def noted(states: EnvState) -> Array:
        """Whose a decision is, and whether it begins a turn or is of one that has begun."""
        inside_ = jnp.where(inside(states), INSIDE, 0)
        return states.current_player + jnp.where(turn(states), BEGINS, inside_)

    return Playouts(env, agent, moves=FOLLOWED, slots=128, note=noted, turn=turn, inside=inside)
