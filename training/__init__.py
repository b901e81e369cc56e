"""Training, evaluation and agents for gaia_jax; uses the public face of `gaia_jax` only."""

import gaia_jax  # noqa: F401  first of all: see gaia_jax.cli.interrupts
