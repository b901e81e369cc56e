"""Run the peers' own examples on this game, unchanged but for the environment's name.

    python -m tools.peer_examples pgx PATH_OF_A_PGX_CHECKOUT
    python -m tools.peer_examples jaxmarl PATH_OF_A_JAXMARL_CHECKOUT

A few decisions and updates each show that it runs, not that it learns. pgx:
`examples/minatar-ppo/train.py` as a whole, and the recurrent function of
`examples/alphazero/train.py` inside mctx's Gumbel MuZero search (the rest of that file needs
`jax.pmap` and a baseline model of pgx's). JaxMARL: `baselines/IPPO/ippo_ff_hanabi.py`, one update.
The examples need dm-haiku, distrax, optax, mctx, omegaconf, pydantic and hydra-core; no extra of
this project installs all of them. Nothing is sent to wandb.
"""

from __future__ import annotations

import ast
import importlib
import sys
import types
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

NAME = "gaia_project-lost_fleet"
PPO = "examples/minatar-ppo/train.py"
ALPHAZERO = "examples/alphazero/train.py"
HANABI = "baselines/IPPO/ippo_ff_hanabi.py"


def pgx_ppo(checkout: Path, env: Any = "lost_fleet") -> str:
    """pgx's PPO example for MinAtar: one agent for all seats, two updates, evaluations."""
    import pgx

    from gaia_jax.adapters.pgx import PgxEnv

    solo = PgxEnv(env, reward="vp", solo=True)
    original_make, pgx.make = pgx.make, lambda name: solo if name == NAME else original_make(name)
    sizes = {"num_envs": 8, "num_steps": 4, "total_timesteps": 64, "minibatch_size": 16}
    sizes |= {"num_eval_envs": 4, "update_epochs": 1}
    source = (checkout / PPO).read_text("utf-8").replace("minatar-breakout", NAME)
    arguments = [f"{key}={value}" for key, value in {"env_name": NAME, **sizes}.items()]
    logs = _no_wandb()
    try:
        _run(source, PPO, arguments)
    finally:
        pgx.make = original_make
    returns = [f"{log[f'{NAME}/eval_R']:.3f}" for log in logs]
    return f"{PPO}: {len(logs) - 1} updates, mean return {', '.join(returns)}"


def pgx_recurrent_fn(checkout: Path, env: Any = "lost_fleet", simulations: int = 4) -> str:
    """The `recurrent_fn` of pgx's AlphaZero example in a search of mctx."""
    import haiku as hk
    import mctx
    import pgx

    from gaia_jax.adapters.pgx import PgxEnv

    sys.path.insert(0, str((checkout / ALPHAZERO).parent))
    scope: dict[str, Any] = {"env": PgxEnv(env), "hk": hk, "jnp": jnp, "jax": jax, "mctx": mctx}
    scope |= {"pgx": pgx, "AZNet": importlib.import_module("network").AZNet}
    scope["config"] = types.SimpleNamespace(num_channels=8, num_layers=1, resnet_v2=True)
    _define(checkout / ALPHAZERO, ("forward_fn", "recurrent_fn"), scope)
    scope["forward"] = hk.without_apply_rng(hk.transform_with_state(scope["forward_fn"]))
    state = jax.jit(jax.vmap(scope["env"].init))(jax.random.split(jax.random.key(0), 2))
    model = scope["forward"].init(jax.random.key(1), state.observation)

    def search(model: Any, state: Any) -> Any:
        (logits, value), _ = scope["forward"].apply(*model, state.observation, is_eval=True)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        return mctx.gumbel_muzero_policy(
            params=model, rng_key=jax.random.key(2), root=root,
            recurrent_fn=scope["recurrent_fn"], num_simulations=simulations,
            invalid_actions=~state.legal_action_mask,
            qtransform=mctx.qtransform_completed_by_mix_value,
        )  # fmt: skip

    out = jax.jit(search)(model, state)
    legal = jnp.take_along_axis(state.legal_action_mask, out.action[:, None], axis=1)
    assert bool(legal.all()), "the search chose an illegal action"
    return f"{ALPHAZERO}: recurrent_fn, {simulations} simulations, actions {out.action.tolist()}"


def jaxmarl_ippo(checkout: Path, env: Any = "lost_fleet") -> str:
    """JaxMARL's IPPO baseline for Hanabi, masked actions and all, for one update."""
    import jaxmarl

    from gaia_jax.adapters.jaxmarl import GaiaMARL

    class Flat(GaiaMARL):
        """With the shape of an observation as a number, as in JaxMARL's Hanabi."""

        def observation_space(self, agent: str) -> Any:
            box = super().observation_space(agent)
            return types.SimpleNamespace(shape=box.shape[0])

    marl = Flat(env, reward="vp")
    original_make, jaxmarl.make = jaxmarl.make, lambda name, **_: marl
    module = types.ModuleType("baseline")
    scope, sys.modules["baseline"] = module.__dict__, module
    logs = _no_wandb()
    try:
        exec(compile((checkout / HANABI).read_text("utf-8"), HANABI, "exec"), scope)
        config = {
            "ENV_NAME": NAME, "ENV_KWARGS": {}, "LR": 5e-4, "NUM_ENVS": 4, "NUM_STEPS": 4,
            "TOTAL_TIMESTEPS": 16, "UPDATE_EPOCHS": 1, "NUM_MINIBATCHES": 2, "GAMMA": 0.99,
            "GAE_LAMBDA": 0.95, "CLIP_EPS": 0.2, "ENT_COEF": 0.01, "VF_COEF": 0.5,
            "MAX_GRAD_NORM": 0.5, "ANNEAL_LR": False,
        }  # fmt: skip
        out = jax.block_until_ready(jax.jit(scope["make_train"](config))(jax.random.PRNGKey(0)))
        jax.effects_barrier()
    finally:
        jaxmarl.make = original_make
    leaves = jax.tree.leaves(out["runner_state"][0][0].params)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in leaves), "parameters are not finite"
    return f"{HANABI}: {len(logs)} update of {config['TOTAL_TIMESTEPS']} decisions"


def _no_wandb() -> list[Any]:
    """Replace wandb by a stub; return the list that collects what is logged."""
    logs: list[Any] = []
    stub: Any = types.ModuleType("wandb")
    stub.init = lambda **_: None
    stub.log = lambda log, **_: logs.append(log)
    sys.modules["wandb"] = stub
    return logs


def _run(source: str, name: str, arguments: list[str]) -> None:
    """Run a program as `python FILE ARGUMENTS` does."""
    before, sys.argv = sys.argv, [name, *arguments]
    module = types.ModuleType("__main__")
    main, sys.modules["__main__"] = sys.modules["__main__"], module
    try:
        exec(compile(source, name, "exec"), module.__dict__)
    finally:
        sys.argv, sys.modules["__main__"] = before, main


def _define(path: Path, names: tuple[str, ...], scope: dict[str, Any]) -> None:
    """Define some functions of a program in a scope, unchanged."""
    tree = ast.parse(path.read_text("utf-8"))
    functions = [x for x in tree.body if isinstance(x, ast.FunctionDef) and x.name in names]
    assert len(functions) == len(names), f"{path} has not all of {names}"
    exec(compile(ast.Module(functions, []), str(path), "exec"), scope)


RUNS: dict[str, tuple[Callable[[Path], str], ...]] = {
    "pgx": (pgx_ppo, pgx_recurrent_fn),
    "jaxmarl": (jaxmarl_ippo,),
}
PACKAGES = ("jax", "pgx", "mctx", "jaxmarl", "dm-haiku", "distrax", "optax", "flax")


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) != 2 or arguments[0] not in RUNS:
        print(__doc__, file=sys.stderr)
        return 2
    for run in RUNS[arguments[0]]:
        print(run(Path(arguments[1])), flush=True)
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    print(", ".join(versions))
    return 0


if __name__ == "__main__":
    sys.exit(main())
