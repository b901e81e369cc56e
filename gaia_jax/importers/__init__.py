"""Games that were played elsewhere, as records of ours (`gaia_jax.replay`)."""
