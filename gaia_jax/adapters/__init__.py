"""gaia_jax with the interfaces of other projects, which `import gaia_jax` does not load.

    gaia_jax.adapters.spaces       observation_space, action_space in the manner of gymnax
    gaia_jax.adapters.pgx          PgxEnv, a pgx.core.Env
    gaia_jax.adapters.pettingzoo   aec_env, an AECEnv
    gaia_jax.adapters.jaxmarl      GaiaMARL, a JaxMARL MultiAgentEnv
    gaia_jax.adapters.single_agent single_agent, one seat with gymnax's interface
    gaia_jax.adapters.gymnasium    GaiaVectorEnv, GaiaGymEnv, one seat with Gymnasium's interface

`pip install "gaia_jax[adapters]"` installs what they need. See docs/reference/adapters.md.
"""

from gaia_jax.cli import lazy as _lazy

__getattr__ = _lazy.names(__name__, {}, {})
