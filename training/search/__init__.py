"""Search for any number of players: Gumbel with a value for every seat, under `jit`.

    root = RootFnOutput(prior_logits, value, to_play, legal_actions, embedding)
    output = gumbel_search(params, key, root, recurrent_fn, num_simulations=32)
    output.action, output.action_weights, output.value, output.candidates, output.tree

The interface follows mctx; values are (B, P), of every player. The package is independent of the
game: `environment_model` makes the functions of any environment with pgx's interface.
`docs/reference/search.md` describes the algorithm.
"""

from .base import (
    UTILITIES,
    Candidates,
    RecurrentFn,
    RecurrentFnOutput,
    RootFnOutput,
    SearchOptions,
    SearchOutput,
    Utility,
    margin,
    max_n,
    paranoid,
)
from .environment import Model, environment_model
from .gumbel import gumbel_search
from .tree import Tree, memory

__all__ = [
    "UTILITIES",
    "Candidates",
    "Model",
    "RecurrentFn",
    "RecurrentFnOutput",
    "RootFnOutput",
    "SearchOptions",
    "SearchOutput",
    "Tree",
    "Utility",
    "environment_model",
    "gumbel_search",
    "margin",
    "max_n",
    "memory",
    "paranoid",
]
