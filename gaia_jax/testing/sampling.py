"""`gaia_jax.sampling` by its earlier name."""

from gaia_jax.sampling import NAME, sample_legal, sample_policy

__all__ = ["NAME", "sample_legal", "sample_policy"]
