"""Training, evaluation and agents for gaia_jax; uses the public face of `gaia_jax` only."""
