"""Which puzzles hold where the seat that is asked goes on better than the agent that made them.

An answer may be ahead only because that agent goes on badly behind the other moves. So all
candidates are played out once more, and the seat plays on as a stronger agent, such as a search;
all others play as before. What holds by that is played out in a second way: each other move with
the answer at the seat's next turn, so that the order of two moves is no puzzle. The better way
counts. A puzzle that holds says what came of it, and its lines are of these games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv, State

from ..agents import Agent, make_agent, sha256_of
from ..system import cli
from ..system.cli import UserError
from ..types import EnvState, Params
from .accuracy import paired
from .playouts import Playouts, Turn, jobs_of
from .puzzle_maker import is_turn
from .puzzle_tried import FOLLOWED, TRIED, leads, typical
from .puzzles import CLEAR, positions, some, texts
from .review import Plain, loss_json
from .why import by_source

PLAYOUTS = 12  # of each candidate
TOGETHER = 32  # puzzles of one seat that are played out in one request
HELD = 1 << 17  # number of the first sample: luck that no puzzle was made with


class Held(NamedTuple):
    """How the ways of one puzzle ended, n times each.

    They are the K candidates, then perhaps the K - 1 others with the answer behind them.
    """

    own: np.ndarray  # (ways, n) VP of who is asked
    sources: np.ndarray  # (ways, n, S) these VP by source
    moves: np.ndarray  # (ways, n, FOLLOWED) actions behind the first one


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

        with cli.telling(said):
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
                both = self._both_ways(here, seed, partial(progress, len(made)))
                made |= {id(one): told for (one, _), told in zip(here, both, strict=True)}
                progress(len(made), 0)
        except KeyboardInterrupt:
            if not made:
                raise
        return [made.get(id(one), _untried(one)) for one in found["puzzles"]]

    def _both_ways(
        self, here: Sequence[tuple[Plain, State]], seed: int, progress: Callable[[int], object]
    ) -> list[Plain]:
        """Puzzles of one seat with what comes of them; those that hold have both ways.

        Raises:
            KeyboardInterrupt: not all has been played out.
        """
        first = [[c["action"] for c in one["candidates"]] for one, _ in here]
        answers = [one["answer"]["action"] for one, _ in here]
        none = [-1] * len(here)
        ways = self._played_out(here, first, none, seed, progress)
        told = [self._told(*pair, way) for pair, way in zip(here, ways, strict=True)]
        others = [
            [action for action in some if action != answer and holds(one)]
            for some, answer, one in zip(first, answers, told, strict=True)
        ]
        if not any(others):
            return told
        behind = self._played_out(here, others, answers, seed, progress)
        return [
            self._told(*pair, Held(*map(np.concatenate, zip(way, more, strict=True))))
            for pair, way, more in zip(here, ways, behind, strict=True)
        ]

    def _played_out(
        self,
        here: Sequence[tuple[Plain, State]],
        moves: Sequence[Sequence[int]],
        then: Sequence[int],
        seed: int,
        progress: Callable[[int], object],
    ) -> list[Held]:
        """How the games of some puzzles of one seat end.

        Args:
            moves: of each puzzle, what is tried. then: the action of the seat's next turn, or -1.
        Raises:
            KeyboardInterrupt: not all has been played out.
        """
        seat = here[0][0]["player"]
        rows = np.minimum(np.arange(TOGETHER), len(here) - 1)
        pool: State = jax.tree.map(
            lambda *x: np.stack(x)[rows], *(jax.device_get(state) for _, state in here)
        )
        jobs = jobs_of([np.array(some, int) for some in moves], PLAYOUTS, HELD, then)
        agents = {"base": self._base.params, "other": self._other.params}
        params = agents | {"seat": jnp.int32(seat)}
        self._players.agent = self._players.agent._replace(params=params)
        most = TRIED * PLAYOUTS * TOGETHER
        ends = self._players.play(pool, jobs, seed, progress, capacity=most)
        if not ends.ended.all():
            raise KeyboardInterrupt
        parts = (ends.vp[:, seat], ends.sources[:, seat], ends.moves)
        by_way = [x.reshape(-1, PLAYOUTS, *x.shape[1:]).astype(int) for x in parts]
        where = np.cumsum([len(some) for some in moves])[:-1]
        return [Held(*x) for x in zip(*(np.split(part, where) for part in by_way), strict=True)]

    def _told(self, one: Plain, state: State, ways: Held) -> Plain:
        """A puzzle with what came of it; its lines are of the luck that is `typical`."""
        first = [candidate["action"] for candidate in one["candidates"]]
        way = {action: k for k, action in enumerate(first)}
        if len(ways.own) > len(first):
            others = [action for action in first if action != one["answer"]["action"]]
            for j, action in enumerate(others, len(first)):
                way[action] = max(way[action], j, key=lambda n: float(ways.own[n].mean()))
        answer, other = (way[one[key]["action"]] for key in ("answer", "policy"))
        rows = [way[action] for action in first]
        lead = leads(ways.own[rows], rows.index(answer))
        more = ways.sources[answer] - ways.sources[rows]
        luck, candidates = typical(more, lead), []
        for candidate, apart in zip(one["candidates"], more.mean(1), strict=True):
            n = way[candidate["action"]]
            held: Plain = {
                "vp": round(float(ways.own[n].mean()), 1),
                "answer_next": n >= len(first),
            }
            held["why"] = by_source(self._env.ruleset, apart)
            line = texts(self._env, state, candidate["action"], ways.moves[n, luck])
            candidates.append(candidate | {"held": held, "line": line})
        loss = loss_json(paired(ways.own[answer], ways.own[other]), 1)
        return one | {
            "held": {
                "by": self._stronger,
                "playouts": PLAYOUTS,
                "loss": loss,
                "ahead": int((lead > 0).sum()),
            },
            "candidates": candidates,
        }


def holds(one: Plain) -> bool:
    """Whether the answer of a puzzle that was tried is `CLEAR` VP ahead of each other candidate.

    And ahead of all of them in half of the games at least.
    """
    loss, answer = one["held"]["loss"], one["answer"]["action"]
    vp = {c["action"]: float(c["held"]["vp"]) for c in one["candidates"]}
    lead = round(vp.pop(answer) - max(vp.values()), 1)
    often = 2 * one["held"]["ahead"] >= one["held"]["playouts"]
    return bool(often and lead >= CLEAR and loss["low"] > 0)


def _untried(one: Plain) -> Plain:
    """A puzzle without what an earlier agent made of it."""

    def plain(found: Plain) -> Plain:
        return {key: value for key, value in found.items() if key != "held"}

    return plain(one) | {"candidates": [plain(candidate) for candidate in one["candidates"]]}


def players(env: GaiaEnv, base: Agent, other: Agent, turn: Turn = is_turn) -> Playouts:
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
    return Playouts(env, agent, moves=FOLLOWED, slots=128, turn=turn)
