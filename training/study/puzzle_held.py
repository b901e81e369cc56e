"""Which puzzles hold where the seat that is asked goes on better than the agent that made them.

An answer may be ahead only because that agent goes on badly behind the other move. So the answer
and the policy's choice are played out once more, and the seat plays on as a stronger agent, such as
a search; all others play as before. Where the policy's choice is worth more with the answer behind
it, it is played out in both ways, and the better one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.env import GaiaEnv

from ..agents import Agent, make_agent, sha256_of
from ..system import cli
from ..system.cli import UserError
from ..types import EnvState, Params
from .accuracy import paired
from .playouts import Playouts, Turn, jobs_of
from .puzzle_maker import is_turn
from .puzzles import CLEAR, positions, some
from .review import Plain

PLAYOUTS = 12  # of each of the two moves
TOGETHER = 25  # puzzles of one seat that are played out in one request
HELD = 1 << 17  # number of the first sample: luck that no puzzle was made with


class Holder:
    """Plays puzzles out with a stronger agent at the seat that is asked; compiled once."""

    def __init__(self, env: GaiaEnv, name: str, stronger: str):
        """
        Args:
            name: of the agent of the puzzles. stronger: of who plays on.
        Raises:
            UserError: an unknown agent.
        """
        self._stronger = stronger
        self._base, self._other = make_agent(name, env), make_agent(stronger, env)
        self._players = players(env, self._base, self._other)

    def those_held(self, found: Plain) -> tuple[Plain, bool]:
        """The puzzles of a file that hold; says how far it is.

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
        done, count = 0, len(found["puzzles"])

        def progress(now: int) -> None:
            nonlocal done
            done = now

        with cli.telling(lambda: f"played on as {self._stronger}: {done} of {count} puzzles"):
            holds = self.held(found, progress=progress)
        kept = [n for n, one in enumerate(holds) if one]
        return some(found, kept, {"held_by": [self._stronger]}), None not in holds

    def held(
        self, found: Plain, seed: int = 0, progress: Callable[[int], object] = lambda done: None
    ) -> list[bool | None]:
        """Which puzzles of a file hold: the answer is `CLEAR` VP ahead of the policy's choice.

        Args:
            progress: told how many puzzles are done.
        Returns:
            By puzzle; None of those that were left out at Ctrl-C.
        Raises:
            UserError: a game does not play.
            KeyboardInterrupt: none has been played out.
        """
        holds: dict[int, bool] = {}
        asked: list[tuple[Plain, EnvState]] = list(positions(found))
        seats = [[pair for pair in asked if pair[0]["player"] == seat] for seat in range(4)]
        for here in (x[n : n + TOGETHER] for x in seats for n in range(0, len(x), TOGETHER)):
            played = self._played_out(here, seed)
            for (one, _), (answer, *ways) in zip(here, played, strict=False):
                loss = paired(answer, max(ways, key=np.mean))
                holds[id(one)] = loss.low > 0 and loss.mean >= CLEAR
            if not played:
                break
            progress(len(holds))
        if asked and not holds:
            raise KeyboardInterrupt
        return [holds.get(id(one)) for one in found["puzzles"]]

    def _played_out(self, here: Sequence[tuple[Plain, EnvState]], seed: int) -> list[np.ndarray]:
        """VP (2 or 3, PLAYOUTS) by puzzle of one seat: the answer, each way of the policy's choice.

        None at all after Ctrl-C.
        """
        seat = here[0][0]["player"]
        rows = np.minimum(np.arange(TOGETHER), len(here) - 1)
        pool: EnvState = jax.tree.map(
            lambda *x: np.stack(x)[rows], *(jax.device_get(state) for _, state in here)
        )
        # The last of three ways is the policy's choice with the answer behind it.
        moves, then = list[np.ndarray](), list[int]()
        for one, _ in here:
            answer, first = one["answer"]["action"], one["policy"]["action"]
            way = [first] * _answer_next(one)
            moves.append(np.array([answer, first, *way]))
            then += [-1, -1] + [answer] * len(way)
        jobs = jobs_of(moves, PLAYOUTS, HELD)._replace(then=np.repeat(then, PLAYOUTS))
        agents = {"base": self._base.params, "other": self._other.params}
        params = agents | {"seat": jnp.int32(seat)}
        self._players.agent = self._players.agent._replace(params=params)
        ends = self._players.play(pool, jobs, seed, capacity=3 * PLAYOUTS * TOGETHER)
        if not ends.ended.all():
            return []
        by_way = ends.vp[:, seat].reshape(-1, PLAYOUTS).astype(float)
        return np.split(by_way, np.cumsum([len(ways) for ways in moves])[:-1])


def _answer_next(one: Plain) -> bool:
    """Whether the policy's choice is worth more with the answer behind it."""
    first = one["policy"]["action"]
    return any(c["action"] == first and c.get("answer_next") for c in one["candidates"])


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

    return Playouts(env, Agent("own", act, by_game=True), slots=128, turn=turn)
