"""Games that were played elsewhere, as records of ours (`gaia_jax.replay`)."""

from gaia_jax.cli import lazy as _lazy

__getattr__ = _lazy.names(__name__, {}, {})
