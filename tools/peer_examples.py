"""Run the peers' own examples on this game, unchanged but for the environment's name.

    python -m tools.peer_examples pgx PATH_OF_A_PGX_CHECKOUT
    python -m tools.peer_examples jaxmarl PATH_OF_A_JAXMARL_CHECKOUT
    python -m tools.peer_examples purejaxrl PATH_OF_A_PUREJAXRL_CHECKOUT
    python -m tools.peer_examples stoix PATH_OF_A_STOIX_CHECKOUT

A few decisions and updates each show that it runs, not that it learns. pgx:
`examples/minatar-ppo/train.py` as a whole, and the recurrent function of
`examples/alphazero/train.py` inside mctx's Gumbel MuZero search (the rest of that file needs
`jax.pmap` and a baseline model of pgx's). JaxMARL: `baselines/IPPO/ippo_ff_hanabi.py`, one update.
purejaxrl: `purejaxrl/ppo.py`, Stoix: `ff_ppo.py`, both on `gaia_jax.single_agent` in place of
`gymnax.make`, with networks that mask their logits.

The examples need dm-haiku, distrax, optax, mctx, omegaconf, pydantic and hydra-core; purejaxrl also
gymnax below 1.0, brax and navix; Stoix gymnax below 1.0, stoa-env, jumanji, flashbax, rlax,
orbax-checkpoint and pandas. No extra of this project installs all of them. Nothing is sent to
wandb.

Stoix's run of docs/lab/performance.md, from the root of a clone with a checkout in `Stoix`:

    python -c "import gaia_jax, pathlib; from tools.peer_examples import stoix_ppo; print(stoix_ppo(
        pathlib.Path('Stoix'), gaia_jax.make('base', reward='vp', players=2),
        'arch.total_num_envs=256', 'arch.total_timesteps=491520', 'arch.num_evaluation=5',
        'arch.num_eval_episodes=64', 'system.rollout_length=32'))"
"""

from __future__ import annotations

import ast
import importlib
import itertools
import math
import sys
import time
import types
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import gaia_jax

NAME = "gaia_project-lost_fleet"
PPO = "examples/minatar-ppo/train.py"
ALPHAZERO = "examples/alphazero/train.py"
HANABI = "baselines/IPPO/ippo_ff_hanabi.py"
PUREJAXRL = "purejaxrl/ppo.py"
STOIX = "stoix.systems.ppo.anakin.ff_ppo"
HIDDEN = -1e9  # logits of illegal actions


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


def purejaxrl_ppo(checkout: Path, env: Any = "base", updates: int = 2, **sizes: int) -> str:
    """purejaxrl's PPO as a whole; its network gets masked logits.

    Args:
        checkout: of purejaxrl.
        env: as `gaia_jax.single_agent` takes it, with reward "vp" for a VP in the report.
        updates: of the network, of NUM_ENVS * NUM_STEPS own decisions each.
        sizes: NUM_ENVS, NUM_STEPS, UPDATE_EPOCHS, NUM_MINIBATCHES.
    """
    import distrax
    import flax.linen as nn
    import gymnax

    view = gaia_jax.single_agent(env, observation="masked", illegal="random")
    original_make, gymnax.make = gymnax.make, lambda name: (view, view.default_params)
    sys.path.insert(0, str((checkout / PUREJAXRL).parent))
    module = types.ModuleType("ppo")
    scope, sys.modules["ppo"] = module.__dict__, module
    config = {
        "ENV_NAME": NAME, "LR": 2.5e-4, "NUM_ENVS": 8, "NUM_STEPS": 16, "UPDATE_EPOCHS": 4,
        "NUM_MINIBATCHES": 4, "GAMMA": 0.99, "GAE_LAMBDA": 0.95, "CLIP_EPS": 0.2,
        "ENT_COEF": 0.01, "VF_COEF": 0.5, "MAX_GRAD_NORM": 0.5, "ACTIVATION": "tanh",
        "ANNEAL_LR": True,
    } | sizes  # fmt: skip
    config["TOTAL_TIMESTEPS"] = updates * config["NUM_ENVS"] * config["NUM_STEPS"]
    try:
        exec(compile((checkout / PUREJAXRL).read_text("utf-8"), PUREJAXRL, "exec"), scope)
        network = scope["ActorCritic"]

        class Masked(nn.Module):
            """The script's network, which gets the observation without the mask."""

            action_dim: int
            activation: str

            @nn.compact
            def __call__(self, seen: Any) -> Any:
                vector, mask = seen[..., : -self.action_dim], seen[..., -self.action_dim :]
                policy, value = network(self.action_dim, self.activation)(vector)
                logits = jnp.where(mask > 0, policy.logits, HIDDEN)
                return distrax.Categorical(logits=logits), value

        scope["ActorCritic"] = Masked
        train = jax.jit(scope["make_train"](config)).lower(jax.random.PRNGKey(0)).compile()
        start = time.perf_counter()
        metrics = jax.device_get(train(jax.random.PRNGKey(0))["metrics"])
    finally:
        gymnax.make = original_make
    seconds = time.perf_counter() - start
    assert not metrics["illegal"].any(), "the policy chose an illegal action"
    vp = [f"{_mean_vp(part):.1f}" for part in _tenths(metrics)]
    decisions = config["TOTAL_TIMESTEPS"]
    return f"{PUREJAXRL}: {decisions} decisions in {seconds:.0f} s, VP {' '.join(vp)}"


def _tenths(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Metrics by update, (updates, ...) each, as ten parts in a row, fewer of fewer updates."""
    updates = len(metrics["vp"])
    ends = [updates * i // 10 for i in range(11)]
    parts = [slice(*pair) for pair in itertools.pairwise(ends) if pair[0] < pair[1]]
    return [{name: value[part] for name, value in metrics.items()} for part in parts]


def _mean_vp(metrics: dict[str, Any]) -> float:
    """Mean VP of the games that ended; nan if none did."""
    vp = metrics["vp"][metrics["terminated"]]
    return float(vp.mean()) if len(vp) else math.nan


def stoix_ppo(checkout: Path, env: Any = "base", *overrides: str) -> str:
    """Stoix's PPO, training and evaluation; its networks come from its configuration.

    Args:
        checkout: of Stoix.
        env: as `gaia_jax.single_agent` takes it, with reward "vp".
        overrides: of its configuration, such as "arch.total_timesteps=1e6".
    """
    import flax.linen as nn
    import gymnax
    import hydra
    from omegaconf import OmegaConf

    view = gaia_jax.single_agent(env, observation="masked", illegal="random")
    _no_wandb()
    vars(jax).setdefault("tree_map", jax.tree.map)  # which stoa-env 0.1.2 calls, JAX has dropped it
    for name in ("tensorboard_logger", "neptune", "neptune.utils"):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(configure=None, log_value=None, stringify_unsupported=None)
    sys.path.insert(0, str(checkout))
    from stoix.networks import heads, torso

    class Torso(torso.MLPTorso):
        """Stoix's, without the mask as an input; the mask is the end of its result."""

        @nn.compact
        def __call__(self, observation: Any) -> Any:
            vector = observation[..., : -view.num_actions]
            mask = observation[..., -view.num_actions :]
            inner = torso.MLPTorso(self.layer_sizes, self.activation, self.use_layer_norm)
            return jnp.concatenate([inner(vector), mask], axis=-1)

    class Head(heads.CategoricalHead):
        """Stoix's, with masked logits."""

        @nn.compact
        def __call__(self, embedding: Any) -> Any:
            vector, mask = embedding[..., : -self.action_dim], embedding[..., -self.action_dim :]
            logits = heads.CategoricalHead(self.action_dim)(vector).logits
            return heads.Categorical(logits=jnp.where(mask > 0, logits, HIDDEN))

    networks: Any = types.ModuleType("masked_networks")
    networks.Torso, networks.Head, sys.modules[networks.__name__] = Torso, Head, networks
    sizes = [
        "arch.total_num_envs=8", "arch.total_timesteps=256", "arch.num_evaluation=1",
        "arch.num_eval_episodes=4", "arch.absolute_metric=False", "system.rollout_length=16",
        "system.num_minibatches=4", "+env.use_optimistic_reset=True", "+env.reset_ratio=8",
        "network.actor_network.pre_torso._target_=masked_networks.Torso",
        "network.actor_network.action_head._target_=masked_networks.Head",
    ]  # fmt: skip
    configs = checkout.resolve() / "stoix/configs"
    original_make, gymnax.make = gymnax.make, lambda name: (view, view.default_params)
    try:
        with hydra.initialize_config_dir(str(configs / "default/anakin"), version_base="1.2"):
            search = f"hydra.searchpath=[file://{configs}]"
            config = hydra.compose("default_ff_ppo", [search, *sizes, *overrides])
        OmegaConf.set_struct(config, False)
        start = time.perf_counter()
        result = importlib.import_module(STOIX).run_experiment(config)
    finally:
        gymnax.make = original_make
    seconds = time.perf_counter() - start
    return (
        f"{STOIX}: {seconds:.0f} s with compilation, VP {10 + 100 * result:.1f} in its evaluation"
    )


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
    "purejaxrl": (purejaxrl_ppo,),
    "stoix": (stoix_ppo,),
}
PACKAGES = (
    "jax", "pgx", "mctx", "jaxmarl", "dm-haiku", "distrax", "optax", "flax", "gymnax", "stoa-env",
)  # fmt: skip


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
