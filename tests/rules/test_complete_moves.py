"""Counting complete moves, on a tree whose leaves are known."""

import numpy as np

from tools.complete_moves import count

# A move of position n: first one of n actions; action k then needs one of k more decisions of two
# options each. So n positions have sum(2 ** k for k < n) moves.
WIDTH = 8


def step(states, actions):
    """`states`: what is left to decide, -1 at the beginning."""
    left = np.where(states < 0, actions, states - 1)
    mask = np.zeros((len(left), WIDTH), bool)
    mask[:, :2] = True
    return left, left == 0, mask


def test_every_way_through_a_move_is_counted_once():
    sizes = np.arange(1, 6)
    mask = np.arange(WIDTH) < sizes[:, None]
    moves, longest = count(np.full(len(sizes), -1), mask, step, 1000)
    assert moves.tolist() == [1, 3, 7, 15, 31]
    assert longest.tolist() == [1, 2, 3, 4, 5]
    # One that has too many is given up; the others are counted.
    moves, _ = count(np.full(len(sizes), -1), mask, step, 10)
    assert moves.tolist() == [1, 3, 7, 10, 10]
