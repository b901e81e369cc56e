"""Conformance: `gaia_jax.testing.check(env)` plays random games and asserts what `env` promises."""

from gaia_jax.sampling import sample_legal
from gaia_jax.testing.conformance import Played, check

__all__ = ["Played", "check", "sample_legal"]
