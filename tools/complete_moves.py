"""How many complete moves a position has: `python -m tools.complete_moves --positions 256`.

A move is several decisions: `upgrade` a cell, choose the piece, the tile, the track. A flat list
of complete moves would have one entry for every way through them. This counts the ways, from
positions of random play where a turn begins, by stepping through all of them side by side.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from gaia_jax.state import Node
from gaia_jax.testing import sample_legal

WITHIN = (Node.TARGET, Node.LOST_PLANET)  # the nodes of a move that has begun, first and last
BATCH = 256
LATEST = 300  # a position is one of the first so many decisions of its game

# (states (N, ...), actions (N,)) -> states, whether the move is complete (N,), masks (N, A)
Step = Callable[[Any, np.ndarray], tuple[Any, np.ndarray, np.ndarray]]


def count(states: Any, mask: np.ndarray, step: Step, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Complete moves of N positions, and decisions of the longest one of each.

    Args:
        states: a pytree of arrays (N, ...). mask: (N, A) bool, the actions that may begin a move.
        most: a position with more is not followed further.
    Returns:
        moves (N,), at least `most` where it was given up; decisions (N,).
    """
    moves, longest = np.zeros((2, len(mask)), np.int64)
    owner, depth = np.arange(len(mask)), 0
    while len(owner):
        depth += 1
        row, action = np.nonzero(mask)
        open_ = moves[owner[row]] + np.bincount(owner[row], minlength=len(moves))[owner[row]]
        follow = (moves[owner[row]] < most) & (open_ <= 4 * most)
        moves[np.unique(owner[row][~follow])] = most
        row, action = row[follow], action[follow]
        longest[np.unique(owner[row])] = depth
        states = jax.tree.map(lambda x, row=row: np.asarray(x)[row], states)
        states, done, mask = step(states, action)
        owner = owner[row]
        np.add.at(moves, owner[done], 1)
        states = jax.tree.map(lambda x, left=~done: np.asarray(x)[left], states)
        owner, mask = owner[~done], mask[~done]
    return np.minimum(moves, most), longest


def make_step(env: Any, closed: np.ndarray) -> Step:
    """The step of an environment, for any number of states.

    Args:
        closed: (A,) bool, actions that are no part of a move: free ones.
    """
    one = jax.jit(jax.vmap(env.step))

    def step(states: Any, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        parts = []
        for first in range(0, len(actions), BATCH):
            here = np.arange(first, first + BATCH) % len(actions)  # filled up with others
            some = jax.tree.map(lambda x, here=here: x[here], states)
            size = min(BATCH, len(actions) - first)
            after = jax.device_get(one(some, jnp.asarray(actions[here], jnp.int32)))
            parts.append(jax.tree.map(lambda x, size=size: x[:size], after))
        after = jax.tree.map(lambda *x: np.concatenate(x), *parts) if parts else states
        node = np.asarray(after.game.turn.node)
        within = (node >= WITHIN[0]) & (node <= WITHIN[1]) & ~np.asarray(after.terminated)
        done = ~within | (np.asarray(after.current_player) != np.asarray(states.current_player))
        return after, done, np.asarray(after.legal_action_mask) & ~closed

    return step


def positions(env: Any, number: int, seed: int) -> Any:
    """States of random play where a turn begins, (number, ...)."""
    init, step = jax.jit(jax.vmap(env.init)), jax.jit(jax.vmap(env.step))
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    state = init(jax.random.split(jax.random.key(seed), BATCH))
    choose = jax.jit(jax.vmap(sample_legal))
    wanted = rng.integers(30, LATEST, BATCH)
    taken = np.zeros(BATCH, bool)
    for decision in range(2 * LATEST):
        node = np.asarray(state.game.turn.node)
        take = (node == Node.TURN) & (decision >= wanted) & ~taken & ~np.asarray(state.terminated)
        taken |= take
        if take.any():
            found.append(jax.tree.map(lambda x, take=take: np.asarray(x)[take], state))
        if taken.sum() >= number:
            break
        uniform = jnp.asarray(rng.random(BATCH), jnp.float32)
        state = step(state, choose(state.legal_action_mask, uniform))
    joined = jax.tree.map(lambda *x: np.concatenate(x), *found)
    return jax.tree.map(lambda x: x[:number], joined)


def report(
    moves: np.ndarray, longest: np.ndarray, actions: np.ndarray, most: int
) -> dict[str, Any]:
    """Quantiles of what `count` gives, beside the actions of the index."""

    def quantiles(x: np.ndarray) -> dict[str, float]:
        return {f"{q} %": float(np.quantile(x, q / 100)) for q in (10, 50, 90, 99)} | {
            "most": float(x.max()),
            "mean": float(x.mean()),
        }

    return {
        "positions": len(moves),
        "actions of the index": quantiles(actions),
        "complete moves": quantiles(moves),
        f"positions with {most} or more": int((moves >= most).sum()),
        "decisions of the longest move": quantiles(longest),
    }


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.complete_moves", description=__doc__)
    parser.add_argument("--positions", type=int, default=256, help="at most 256")
    parser.add_argument("--most", type=int, default=20_000, help="where counting gives up")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    env = gaia_jax.make("lost_fleet")
    space = env.ruleset.actions
    closed = np.zeros(space.num_actions, bool)
    closed[[space.index("free", name) for name in space.ids["free"]]] = True
    step = make_step(env, closed)
    begin = positions(env, min(args.positions, BATCH), args.seed)
    mask = np.asarray(begin.legal_action_mask)
    free = (mask & closed).sum(-1)
    moves, longest = count(begin, mask & ~closed, step, args.most)
    told = report(moves, longest, mask.sum(-1), args.most)
    told["free actions at the beginning"] = float(free.mean())
    print(json.dumps(told, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
