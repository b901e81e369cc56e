"""Games split over devices with shard_map, each playing its own: 8 CPU devices emulate GPUs.

python examples/many_devices.py
"""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

import gaia_jax
from gaia_jax.testing import sample_legal

DEVICES = 8


def make_rollout(env, mesh, decisions):
    """`rollout(key, states) -> states, games ended`: random play with new games where one ended."""
    auto = gaia_jax.auto_reset(env)

    def decide(carry, key):
        states, ended = carry
        draw, deal = jax.random.split(key)
        rows = states.current_player.shape[0]
        action = jax.vmap(sample_legal)(states.legal_action_mask, jax.random.uniform(draw, (rows,)))
        states = jax.vmap(auto.step)(states, action, jax.random.split(deal, rows))
        return (states, ended + jnp.sum(states.terminated, dtype=jnp.int32)), None

    def share(key, states):
        """What one device plays; only the count is summed over devices."""
        own = jax.random.fold_in(key, jax.lax.axis_index("games"))
        start = (states, jnp.int32(0))
        (states, ended), _ = jax.lax.scan(decide, start, jax.random.split(own, decisions))
        return states, jax.lax.psum(ended, "games")

    # check_vma=False: the kernels that look at a whole batch (custom_vmap) are not followed by it.
    shards = jax.shard_map(
        share,
        mesh=mesh,
        in_specs=(P(), P("games")),
        out_specs=(P("games"), P()),
        check_vma=False,
    )
    return jax.jit(shards)


def main(env=None, games=64, decisions=600):
    env = env or gaia_jax.make("lost_fleet")
    mesh = jax.make_mesh((DEVICES,), ("games",), axis_types=(AxisType.Auto,))
    auto = gaia_jax.auto_reset(env)
    init = jax.jit(jax.vmap(auto.init), out_shardings=jax.sharding.NamedSharding(mesh, P("games")))
    states = init(jax.random.split(jax.random.key(0), games))
    states, ended = make_rollout(env, mesh, decisions)(jax.random.key(1), states)
    print(f"{games} games on {len(states.terminated.devices())} devices, {int(ended)} ended")
    return states, int(ended)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", DEVICES)
    main()
