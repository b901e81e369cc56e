"""Plugin for pytest: programs are traced as for a GPU, and run on the CPU that is here."""

import jax


def pytest_configure() -> None:
    jax.default_backend = lambda: "gpu"
