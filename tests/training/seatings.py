"""Seatings of tests."""

import numpy as np

# (4, 4): agent 0 in each seat once, agent 1 in the others.
ONE_AGAINST_THREE = 1 - np.eye(4, dtype=np.int32)
