"""Your own network as an agent in one file, `NAME.npz`, without pickle and without your code.

The file holds the parameters as arrays by name, the network as a program (StableHLO, by
`jax.export`) and a JSON text that names its environment. Reading it imports no module of the author
and runs only the program. JAX reads programs of older versions for at least half a year
(docs.jax.dev, "Export and serialization"): to keep an agent for longer, keep its code too.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, export
from jax.custom_batching import custom_vmap

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, one_line

from ..networks.factored_head import ILLEGAL_LOGIT
from ..networks.make import observation_shapes
from ..system import data_files
from ..system.data_files import NUMBER, TEXT, WHOLE, flatten
from ..system.environments import another_environment, has_short_turns, identity, make_env
from ..types import Apply, Environment, EnvModule, Observation, Params

ENDING = ".npz"
FORMAT = "gaia_jax agent 1"
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")  # a program is written for all of them
ABOUT, PROGRAM, PARAMS = "about", "program", "params/"
KEYS = {
    "env": TEXT, "env_version": TEXT, "players": WHOLE, "reward": TEXT, "reward_scale": NUMBER,
    "temperature": NUMBER, "jax": TEXT,
}  # fmt: skip


class SavedNetwork(NamedTuple):
    """The network of a file. Like a Flax module it has `apply`; it cannot be differentiated."""

    metadata: dict[str, Any]  # the JSON text
    names: tuple[str, ...]  # of the parameters, in the order of the program
    call: Callable[..., tuple[Array, Array]]

    def apply(
        self, variables: Params, observation: Observation, mask: Array
    ) -> tuple[Array, Array]:
        """Logits (B, A), illegal ones -1e9, and values (B, P) of B observations."""
        leaves = [variables[name] for name in self.names]
        logits, values = self.call(*leaves, *jax.tree.leaves(observation))
        return jnp.where(mask, logits, ILLEGAL_LOGIT), values


def save_agent(
    path: str | Path,
    apply: Apply,
    params: Params,
    env: Environment,
    *,
    reward_scale: float = 1.0,
    temperature: float = 1.0,
) -> Path:
    """Write a network as an agent that arena, table, review and search take by its path.

    Args:
        path: ends in .npz; an existing agent is replaced, any other file is an error.
        apply: `(params, observation) -> logits (A,), values (P,)` of one decision (`Apply`).
        params: a pytree of arrays.
        env: the environment to play, with the reward of its values.
        reward_scale: its values are remaining rewards times this.
        temperature: its logits are divided by this before an action is drawn.
    Returns:
        The path.
    Raises:
        UserError: another ending, a file that is no agent, results of other shapes.
    """
    path = Path(path)
    if path.suffix != ENDING:
        raise UserError(f"agent files must end in {ENDING}, got {path.name!r}")
    for name, number in (("reward_scale", reward_scale), ("temperature", temperature)):
        if not 0 < number < math.inf:
            raise UserError(f"{name} must be a finite number above 0, got {number}")
    outputs.check_file("the agent", path, _is_agent, parents=True)
    arrays = flatten(params)
    leaves, tree = jax.tree.flatten(params)
    if len(arrays) != len(leaves):
        raise UserError('parameter names must be unique and must not contain "/"')
    seen, _ = observation_shapes(env)
    _check(jax.eval_shape(apply, params, seen), env)

    def program(*args: Array) -> tuple[Array, Array]:
        own = [x.astype(leaf.dtype) for x, leaf in zip(args, leaves, strict=False)]
        view = type(seen)(*args[len(leaves) :])
        logits, values = jax.vmap(apply, (None, 0))(jax.tree.unflatten(tree, own), view)
        return logits.astype(jnp.float32), values.astype(jnp.float32)

    # An npz has no bfloat16 and the like, whose kind is V.
    stored = {k: x.astype(np.float32) if x.dtype.kind == "V" else x for k, x in arrays.items()}
    exported = export.export(jax.jit(program), platforms=PLATFORMS)(*_shapes(stored, seen))
    metadata = identity(env) | ({"short_turns": True} if has_short_turns(env) else {}) | {
        "format": FORMAT, "reward": env.reward, "reward_scale": float(reward_scale),
        "temperature": float(temperature), "jax": jax.__version__,
        "convention": exported.calling_convention_version,
        "kept": list(exported.module_kept_var_idx),
        "symbolic": exported.uses_global_constants,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    code = np.frombuffer(bytes(exported.mlir_module_serialized), np.uint8)
    named: dict[str, Any] = {PARAMS + name: x for name, x in stored.items()}
    file_arrays = {ABOUT: np.array(json.dumps(metadata)), PROGRAM: code}
    data_files.write_arrays(path, file_arrays | named, compressed=True)
    return path


def is_saved(name: str) -> bool:
    """Whether a name of an agent is the path of a file."""
    return name.endswith(ENDING)


def about(path: str | Path) -> dict[str, Any]:
    """The metadata in the file of an agent.

    Raises:
        UserError: there is none, or it is something else or damaged.
    """
    return _about(path, data_files.read_arrays(path, "the agent"))


def load(path: str | Path, env: Environment) -> tuple[SavedNetwork, dict[str, Array]]:
    """The network and the parameters of a file.

    Raises:
        UserError: no such file, of something else, damaged, of another environment or version, or
            written by a version of JAX that this one cannot read.
    """
    arrays = data_files.read_arrays(path, "the agent", (ABOUT, PROGRAM))
    metadata = _about(path, arrays)
    if other := another_environment(metadata, env):
        raise UserError(f"{path} {other}")
    params = {
        name.removeprefix(PARAMS): jnp.asarray(x)
        for name, x in arrays.items()
        if name.startswith(PARAMS)
    }
    seen, _ = observation_shapes(env)
    results = (env.num_actions, env.num_players)

    def like(*args: Array) -> tuple[Array, ...]:
        return tuple(jnp.zeros((args[-1].shape[0], n), jnp.float32) for n in results)

    # Store only the program; the rest depends on arguments and results alone.
    form = export.export(jax.jit(like), platforms=PLATFORMS)(*_shapes(params, seen))
    try:
        exported = dataclasses.replace(
            form, fun_name="agent", mlir_module_serialized=arrays[PROGRAM].tobytes(),
            module_kept_var_idx=tuple(metadata["kept"]), uses_global_constants=metadata["symbolic"],
            calling_convention_version=metadata["convention"],
        )  # fmt: skip
        exported.mlir_module()  # reads it
    except Exception as error:  # whatever a damaged program, or one of another version, raises
        versions = f"written with jax {metadata['jax']}, this is {jax.__version__}"
        raise UserError(f"{path}: its program cannot be read ({versions})") from error
    return SavedNetwork(metadata, tuple(params), _folding(exported.call, len(params))), params


def _folding(
    call: Callable[..., tuple[Array, Array]], params: int
) -> Callable[..., tuple[Array, Array]]:
    """A program that has no rule for `vmap`, with one: further axes become rows of its batch.

    Args:
        call: takes the parameters, then tables with a leading batch axis.
    """

    @custom_vmap
    def folded(*args: Array) -> tuple[Array, Array]:
        return call(*args)

    @folded.def_vmap
    def _(size: int, batched: Sequence[bool], *args: Array) -> tuple[object, object]:
        if any(batched[:params]):
            raise NotImplementedError("the parameters of a saved agent are those of all rows")
        rows = [
            x if along else jnp.broadcast_to(x, (size, *x.shape))
            for x, along in zip(args[params:], batched[params:], strict=True)
        ]
        flat = [x.reshape(size * x.shape[1], *x.shape[2:]) for x in rows]
        out = folded(*args[:params], *flat)
        split = tuple(x.reshape(size, x.shape[0] // size, x.shape[1]) for x in out)
        return split, (True, True)

    program: Callable[..., tuple[Array, Array]] = folded
    return program


def environment(path: str | Path, env_module: EnvModule) -> Any:
    """The environment that an agent plays."""
    metadata = about(path)
    try:
        return make_env(env_module, metadata["env"], "vp", metadata["players"])
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _about(path: str | Path, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The JSON text among the arrays."""
    try:
        metadata = json.loads(str(arrays[ABOUT]))
        if metadata["format"] != FORMAT:
            raise ValueError(f"the format is {metadata['format']!r}, not {FORMAT!r}")
    except (KeyError, ValueError, TypeError) as error:
        message = f": {one_line(error)}" if isinstance(error, ValueError) else ""
        raise UserError(f"{path} is no agent of `save_agent`{message}") from error
    data_files.check_keys(str(path), metadata, KEYS)
    return dict(metadata)


def _is_agent(path: Path) -> bool:
    """Whether `save_agent` wrote a file."""
    try:
        about(path)
    except UserError:
        return False
    return True


def _shapes(
    params: Mapping[str, Array | np.ndarray], seen: Observation
) -> list[jax.ShapeDtypeStruct]:
    """The arguments of the program: the parameters, and B observations."""
    (rows,) = export.symbolic_shape("b")
    fixed = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in params.values()]
    return fixed + [jax.ShapeDtypeStruct((rows, *x.shape), x.dtype) for x in jax.tree.leaves(seen)]


def _check(results: object, env: Environment) -> None:
    """Reject results that are not logits (A,) and values (P,)."""
    expected = f"logits ({env.num_actions},) and values ({env.num_players},)"
    shapes = [getattr(x, "shape", None) for x in jax.tree.leaves(results)]
    if shapes != [(env.num_actions,), (env.num_players,)]:
        got = " and ".join(map(str, shapes)) or "nothing"
        raise UserError(f"apply must give {expected} of one decision, it gives {got}")
