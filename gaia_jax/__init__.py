"""Gaia Project with The Lost Fleet, one to four players, as a vectorized JAX environment.

    env = gaia_jax.make("lost_fleet", reward="margin")
    state = env.init(key)
    state = env.step(state, action)

`import gaia_jax` touches no device and needs neither flax nor optax. Names are imported at first
use, so `--help` starts without JAX.
"""

from gaia_jax.cli import interrupts as _interrupts  # noqa: F401  first of all
from gaia_jax.xla import compilation_cache as _cache  # noqa: F401  it notes when it was loaded

# isort: split
from typing import TYPE_CHECKING

from gaia_jax.cli import lazy as _lazy

if TYPE_CHECKING:
    from jax import jit

    from gaia_jax import actions, testing
    from gaia_jax.adapters.single_agent import SingleAgent, SingleAgentState, single_agent
    from gaia_jax.auto import AutoReset, AutoState, auto_reset
    from gaia_jax.env import GaiaEnv, State, make
    from gaia_jax.observation import Observation
    from gaia_jax.rewards import REWARDS
    from gaia_jax.ruleset import RULESETS, Ruleset, ruleset_of
    from gaia_jax.setup.first_game import first_game
    from gaia_jax.setup.setup_json import setup_from_json, setup_to_json
    from gaia_jax.state import Setup
    from gaia_jax.xla.compilation_cache import enable_compilation_cache

# Of the package; `GaiaEnv.version` is that of the game's behaviour (docs/reference/rulesets.md).
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
    "SingleAgent",
    "SingleAgentState",
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
    "single_agent",
    "testing",
]

# The module of each name; a module is its own.
_HOMES = {
    "adapters.single_agent": "SingleAgent SingleAgentState single_agent",
    "auto": "AutoReset AutoState auto_reset",
    "env": "GaiaEnv State make",
    "observation": "Observation",
    "rewards": "REWARDS",
    "ruleset": "RULESETS Ruleset ruleset_of",
    "setup.first_game": "first_game",
    "setup.setup_json": "setup_from_json setup_to_json",
    "state": "Setup",
    "xla.compilation_cache": "enable_compilation_cache",
    "xla.stored_programs": "jit",
}
# What a user of pgx may look for here: whatever plays with networks is in the other package.
_TRAINING = ("make_baseline_model", "make_agent", "save_agent", "load_agent")
__getattr__ = _lazy.names(
    __name__,
    _HOMES,
    {name: f"it is gaia_training.{name}: `import gaia_training`" for name in _TRAINING},
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
