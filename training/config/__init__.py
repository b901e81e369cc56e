"""The configuration of a run: declared keys, YAML files and `key=value`."""

from gaia_jax.cli.command_line import UserError

from .files import (
    LONGEST_FILE,
    OF_A_PROCESS,
    differences,
    flat,
    flat_tree,
    from_dict,
    load,
    of_no_process,
    override,
    parse_yaml,
    read_mapping,
    shipped,
    to_dict,
    to_yaml,
)
from .keys import (
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
    "flat_tree",
    "from_dict",
    "load",
    "of_no_process",
    "override",
    "parse_yaml",
    "shipped",
    "read_mapping",
    "to_dict",
    "to_yaml",
]
