"""The scripted player: it plays every candidate once and takes the position it values most."""

from .search import GreedySearch
from .weights import Weights, as_params

__all__ = ["Weights", "as_params", "GreedySearch"]
