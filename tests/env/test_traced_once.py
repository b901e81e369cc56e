"""JAX traces the rules once for all programs, which saves seconds of a second start."""

import jax
import jax.numpy as jnp

import gaia_jax
from gaia_jax import env as module


def test_the_rules_are_traced_once_for_all_programs(monkeypatch):
    """The mask of a first state and of one after a step, and the step of a second program."""
    traced = []

    def counted(name):
        usual = getattr(module, name)

        def rule(*args):
            traced.append(name)
            return usual(*args)

        monkeypatch.setattr(module, name, rule)

    counted("legal_mask")
    counted("rules_step")
    env = gaia_jax.make()
    keys = jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))
    states = jax.eval_shape(jax.vmap(env.init), keys)
    actions = jax.ShapeDtypeStruct((3,), jnp.int32)
    for program in (jax.vmap(env.step), lambda *x: (jax.vmap(env.step)(*x), 0)):
        jax.jit(program).trace(states, actions)
    assert sorted(traced) == ["legal_mask", "rules_step"]
