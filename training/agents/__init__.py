"""Players that can sit at a table, by name.

An agent decides for a batch of games at once; whose decision it is stands in each state. Everything
is jittable, so that whole matches compile.
"""

from .base import Act, Agent, greedy_agent, policy_agent, random_agent
from .registry import (
    REGISTRY,
    check_agent,
    environment_of,
    has_network,
    make_agent,
    sha256_of,
    split_run,
    trained,
)

__all__ = [
    "REGISTRY",
    "Act",
    "Agent",
    "check_agent",
    "environment_of",
    "greedy_agent",
    "has_network",
    "make_agent",
    "policy_agent",
    "random_agent",
    "sha256_of",
    "split_run",
    "trained",
]
