"""Which puzzles hold where the seat that is asked goes on better than the agent that made them.

An answer may be ahead only because that agent goes on badly behind the other move. So the answer
and the policy's choice are played out once more, and the seat plays on as a stronger agent, such as
a search; all others play as before. Where the policy's choice is worth more with the answer behind
it, the answer comes at the seat's next turn.
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


def those_held(found: Plain, env: GaiaEnv, stronger: str) -> Plain:
    """The puzzles of a file that hold; says how far it is.

    Raises:
        UserError, KeyboardInterrupt: as of `Holder`; the agent has learnt on since.
    """
    if found["sha256"] != sha256_of(found["agent"]):
        raise UserError(f"the puzzles are of an earlier {found['agent']}: --again tries them anew")
    done, count = 0, len(found["puzzles"])

    def progress(now: int) -> None:
        nonlocal done
        done = now

    with cli.telling(lambda: f"played on as {stronger}: {done} of {count} puzzles"):
        holds = Holder(env, found["agent"], stronger).held(found, progress=progress)
    return some(found, [n for n, one in enumerate(holds) if one], {"held_by": [stronger]})


class Holder:
    """Plays puzzles out with a stronger agent at the seat that is asked; compiled once."""

    def __init__(self, env: GaiaEnv, name: str, stronger: str):
        """
        Args:
            name: of the agent of the puzzles. stronger: of who plays on.
        Raises:
            UserError: an unknown agent.
        """
        self._base, self._other = make_agent(name, env), make_agent(stronger, env)
        self._players = players(env, self._base, self._other)

    def held(
        self, found: Plain, seed: int = 0, progress: Callable[[int], object] = lambda done: None
    ) -> list[bool]:
        """Which puzzles of a file hold: the answer is `CLEAR` VP ahead of the policy's choice.

        Args:
            progress: told how many puzzles are done.
        Raises:
            UserError: a game does not play.
            KeyboardInterrupt: not all has been played out.
        """
        holds: dict[int, bool] = {}
        asked: list[tuple[Plain, EnvState]] = list(positions(found))
        for seat in sorted({one["player"] for one, _ in asked}):
            own = [pair for pair in asked if pair[0]["player"] == seat]
            for first in range(0, len(own), TOGETHER):
                here = own[first : first + TOGETHER]
                for (one, _), vp in zip(here, self._played_out(here, seat, seed), strict=True):
                    loss = paired(vp[1], vp[0])
                    holds[id(one)] = loss.low > 0 and loss.mean >= CLEAR
                progress(len(holds))
        return [holds[id(one)] for one in found["puzzles"]]

    def _played_out(
        self, here: Sequence[tuple[Plain, EnvState]], seat: int, seed: int
    ) -> np.ndarray:
        """VP (len(here), 2, PLAYOUTS) of the seat behind the policy's choice and the answer."""
        rows = np.minimum(np.arange(TOGETHER), len(here) - 1)
        pool: EnvState = jax.tree.map(
            lambda *x: np.stack(x)[rows], *(jax.device_get(state) for _, state in here)
        )
        moves = [np.array([one["policy"]["action"], one["answer"]["action"]]) for one, _ in here]
        jobs = jobs_of(moves, PLAYOUTS, HELD)
        then = np.full(len(jobs.action), -1)
        for row, (one, _) in enumerate(here):
            if _answer_next(one):
                first = (jobs.position == row) & (jobs.action == one["policy"]["action"])
                then[first] = one["answer"]["action"]
        agents = {"base": self._base.params, "other": self._other.params}
        params = agents | {"seat": jnp.int32(seat)}
        self._players.agent = self._players.agent._replace(params=params)
        jobs = jobs._replace(then=then)
        ends = self._players.play(pool, jobs, seed, capacity=2 * PLAYOUTS * TOGETHER)
        if not ends.ended.all():
            raise KeyboardInterrupt
        return ends.vp[:, seat].reshape(len(here), 2, PLAYOUTS).astype(float)


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
