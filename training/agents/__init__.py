"""Players by name.

An agent decides for a batch of games at once; each state holds its current player. Everything is
jittable, so that whole matches compile.
"""

from .base import Act, Agent, fingerprint, greedy_agent, policy_agent, random_agent
from .registry import (
    REGISTRY,
    environment_of,
    make_agent,
    parse_name,
    sha256_of,
    trained,
    with_updates,
)

__all__ = [
    "REGISTRY",
    "Act",
    "Agent",
    "environment_of",
    "fingerprint",
    "greedy_agent",
    "parse_name",
    "make_agent",
    "policy_agent",
    "random_agent",
    "sha256_of",
    "trained",
    "with_updates",
]
