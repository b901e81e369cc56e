"""The state of a run, everything that the next update depends on, and its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from ..config import Config, with_ends
from ..system.batched import batched
from ..system.devices import GAMES
from ..types import AutoEnvironment, Params, PolicyNetwork

TRAINING = 0  # folded into the seed: no set-up of training is one of an evaluation


class Runner(NamedTuple):
    """Everything that the next update depends on."""

    params: Any
    opt_state: Any
    env_state: Any  # leading axis N
    key: Any  # (2,) uint32, the data of a key; constant, folded with `update`
    update: Any  # () int32, updates done
    hyper: Any = ()  # `Hyper`
    average: Any = ()  # moving average of the parameters; () without `recipe.ema_decay`


class Hyper(NamedTuple):
    """Numbers of the configuration that are inputs of a compiled chunk: () float32."""

    lr: Any
    lr_end: Any
    gae_lambda: Any
    clip: Any
    value_coef: Any
    entropy_coef: Any
    entropy_end: Any
    ema_decay: Any
    max_grad_norm: Any
    updates: Any

    @classmethod
    def of(cls, config: Config) -> Hyper:
        """The numbers of a configuration."""
        own = {"updates": config.run.updates, "ema_decay": config.recipe.ema_decay}
        flat = vars(with_ends(config).ppo) | own
        return cls(*(np.float32(flat[name]) for name in cls._fields))

    def between(self, name: str, end: str, update: Array) -> Array:
        """A value that is interpolated linearly over the run."""
        first, last = getattr(self, name), getattr(self, end)
        value: Array = first + (last - first) * self.progress(update)
        return value

    def progress(self, update: Array) -> Array:
        """The fraction of the run that is done after `update` updates, 0 to 1."""
        return jnp.minimum(update / self.updates, 1.0)


class Weights(NamedTuple):
    """The fields of `Runner` that a minibatch updates."""

    params: Any
    opt_state: Any
    average: Any  # () without `recipe.ema_decay`


def make_optimizer() -> optax.GradientTransformation:
    """Adam for one step of length 1; clipping and the learning rate come from `Hyper`.

    So a compiled chunk does not depend on them, and experiments share it.
    """
    # One vector instead of dozens of small arrays: fewer kernels to compile and to launch.
    return optax.flatten(optax.scale_by_adam(eps=1e-5))


def apply_gradients(
    optimizer: optax.GradientTransformation,
    weights: Weights,
    grads: Any,
    max_norm: Array | float,
    lr: Array,
    decay: Array,
) -> tuple[Weights, Array]:
    """A step down the gradients, which are scaled down to a norm of `max_norm`.

    Args:
        optimizer: of `make_optimizer`.
        decay: of the average, if there is one.
    Returns:
        The weights, and the norm of the gradients before.
    """
    params, opt_state, average = weights
    norm: Array = optax.tree.norm(grads)
    shrink = jnp.minimum(1.0, max_norm / jnp.maximum(norm, 1e-12))
    grads = jax.tree.map(lambda x: x * shrink, grads)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = jax.tree.map(lambda x, u: x - lr * u, params, updates)
    if jax.tree.leaves(average):
        average = optax.incremental_update(params, average, 1 - decay)
    return Weights(params, opt_state, average), norm


def with_games(games: Any, rest: Any) -> Runner:
    """A Runner with `games` for the games, which are split over devices, and `rest` elsewhere."""
    return Runner(*(games if name == "env_state" else rest for name in Runner._fields))


def sharding(mesh: Mesh) -> Runner:
    """The sharding of a Runner on these devices: games split, the rest replicated."""
    return with_games(games=NamedSharding(mesh, P(GAMES)), rest=NamedSharding(mesh, P()))


def start_keys(config: Config) -> Array:
    """(3,) keys of a new run: for the parameters, for the games, for the updates."""
    return jax.random.split(jax.random.fold_in(jax.random.key(config.seed), TRAINING), 3)


def make_init(
    auto: AutoEnvironment, network: PolicyNetwork, config: Config, mesh: Mesh | None = None
) -> Callable[[], Runner]:
    """A pure function that makes the Runner of a new run.

    Args:
        mesh: each of its devices deals its own games inside of a `shard_map`, and the programs
            that play them there share the trace. None: no `shard_map`.
    """
    optimizer, play = make_optimizer(), batched(auto)

    def begin(params_key: Array, keys: Array) -> tuple[Any, Any]:
        env_state = play.init(keys)
        # Parameters depend on shapes alone.
        observation = jax.eval_shape(play.observe, env_state, env_state.current_player)
        observation, mask = jax.tree.map(
            lambda x: jnp.zeros((1, *x.shape[1:]), x.dtype),
            (observation, env_state.legal_action_mask),
        )
        return network.init(params_key, observation, mask), env_state

    deal: Callable[..., Any] = begin
    if mesh is not None:
        deal = jax.shard_map(
            begin, mesh=mesh, in_specs=(P(), P(GAMES)), out_specs=(P(), P(GAMES)), check_vma=False
        )

    def init() -> Runner:
        params_key, games_key, run_key = start_keys(config)
        params, env_state = deal(params_key, jax.random.split(games_key, config.ppo.num_envs))
        return Runner(
            params=params,
            average=params if config.recipe.ema_decay else (),
            opt_state=optimizer.init(params),
            env_state=env_state,
            key=jax.random.key_data(run_key),
            update=jnp.int32(0),
            hyper=Hyper.of(config),
        )

    return init


def split(runner: Runner) -> tuple[Any, dict[str, Any]]:
    """The parameters that an agent plays with, and the rest as arrays by name.

    Arrays that hold nothing, such as the artifacts of the base game, are left out: orbax refuses
    them.
    """
    reference = _playing_field(runner)
    leaves, _ = jax.tree_util.tree_flatten_with_path(runner._replace(**{reference: ()}))
    return getattr(runner, reference), {path_name(path): leaf for path, leaf in leaves if leaf.size}


# In older checkpoints; nothing reads them: `Hyper` is that of the configuration.
GONE = ("hyper-anchor", "hyper-search_coef", "hyper-average")
# Names that older checkpoints may lack begin so: numbers of `Hyper`, which the configuration sets,
# and a flag of the last decision, which no update reads.
NUMBERS = ("hyper-", "env_state-illegal")


def join(form: Runner, params: Params, rest: Mapping[str, object]) -> Runner:
    """The inverse of `split`.

    Args:
        form: a runner of that form: arrays, or shapes with shardings.
    """
    reference = _playing_field(form)
    leaves, tree = jax.tree_util.tree_flatten_with_path(form._replace(**{reference: ()}))
    leaves_in_order = [rest[path_name(path)] if leaf.size else empty(leaf) for path, leaf in leaves]
    joined: Runner = jax.tree.unflatten(tree, leaves_in_order)
    return joined._replace(**{reference: params})


def path_name(path: tuple[object, ...]) -> str:
    """The name of a leaf in a checkpoint."""
    return jax.tree_util.keystr(path, simple=True, separator="-")


def empty(form: Array | jax.ShapeDtypeStruct) -> Array:
    """An array of that form: an array itself, or zeros for a shape with its sharding."""
    if isinstance(form, jax.Array):
        return form
    nothing = np.zeros(form.shape, form.dtype)
    return jax.make_array_from_callback(form.shape, form.sharding, lambda index: nothing[index])


def _playing_field(runner: Runner) -> str:
    """The field with which an agent plays: the averaged parameters, if the run has them."""
    return "average" if jax.tree.leaves(runner.average) else "params"
