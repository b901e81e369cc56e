"""The configuration of a run: declared keys, YAML files and `key=value`."""

from gaia_jax.cli.command_line import UserError
from training.config.files import (
    LONGEST_FILE,
    OF_A_PROCESS,
    differences,
    flat,
    from_dict,
    load,
    of_no_process,
    override,
    parse_yaml,
    to_dict,
    to_yaml,
)
from training.config.keys import (
    GROUPS,
    Config,
    EnvConfig,
    EvalConfig,
    HostsConfig,
    NetworkConfig,
    PPOConfig,
    RecipeConfig,
    RunConfig,
)

__all__ = [
    "GROUPS",
    "LONGEST_FILE",
    "OF_A_PROCESS",
    "Config",
    "EnvConfig",
    "EvalConfig",
    "HostsConfig",
    "NetworkConfig",
    "PPOConfig",
    "RecipeConfig",
    "RunConfig",
    "UserError",
    "differences",
    "flat",
    "from_dict",
    "load",
    "of_no_process",
    "override",
    "parse_yaml",
    "to_dict",
    "to_yaml",
]
