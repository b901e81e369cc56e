"""The scripted player: it plays every candidate once and takes the position it values most."""

from training.agents.greedy.search import Search
from training.agents.greedy.weights import Weights, as_params

__all__ = ["Weights", "as_params", "Search"]
