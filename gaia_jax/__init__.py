"""Gaia Project with The Lost Fleet, two to four players, as a vectorized JAX environment.

    env = gaia_jax.make("lost_fleet", reward="margin")
    state = env.init(key)
    state = env.step(state, action)

`import gaia_jax` touches no device and needs neither flax nor optax.
"""

from gaia_jax.cli import interrupts as _interrupts  # noqa: F401  first of all
from gaia_jax.xla import sources as _sources  # noqa: F401  it notes when it was loaded

# isort: split
from gaia_jax import actions, testing
from gaia_jax.auto import AutoReset, AutoState, auto_reset
from gaia_jax.env import GaiaEnv, State, make
from gaia_jax.observation import Observation
from gaia_jax.rewards import REWARDS
from gaia_jax.ruleset import RULESETS, Ruleset, ruleset_of
from gaia_jax.setup.first_game import first_game
from gaia_jax.setup.setup_json import setup_from_json, setup_to_json
from gaia_jax.state import Setup
from gaia_jax.xla.compilation_cache import enable_compilation_cache
from gaia_jax.xla.program_cache import jit

# Of the package; `GaiaEnv.version` is that of the game's behaviour (docs/reference/versions.md).
__version__ = "0.1.0"

__all__ = [
    "REWARDS",
    "RULESETS",
    "AutoReset",
    "AutoState",
    "GaiaEnv",
    "Observation",
    "Ruleset",
    "Setup",
    "State",
    "actions",
    "auto_reset",
    "enable_compilation_cache",
    "first_game",
    "jit",
    "make",
    "ruleset_of",
    "setup_from_json",
    "setup_to_json",
    "testing",
]
