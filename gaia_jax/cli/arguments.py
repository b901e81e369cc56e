"""Checks of the arguments of public functions: a TypeError or ValueError names the value.

They run while JAX traces, on types, shapes and known values; compiled programs contain none.
"""

from __future__ import annotations

import dataclasses
import inspect
import operator
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.cli.command_line import shorten

_LONGEST = 80

P = ParamSpec("P")
T = TypeVar("T")


def shown(value: object) -> str:
    """`value` in a message: one line of at most 80 characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a repr of the caller's, or a number too long to print
        text = f"a {type(value).__name__}"
    return shorten(text, _LONGEST)


def shape(value: Any) -> tuple[int, ...]:
    """The shape of an array, a `ShapeDtypeStruct` or a list."""
    shape_of_value = getattr(value, "shape", None)
    return shape_of_value if isinstance(shape_of_value, tuple) else np.shape(value)


def known(value: object) -> bool:
    """Whether `value` has numbers: it is neither traced nor a `ShapeDtypeStruct`."""
    return not isinstance(value, jax.core.Tracer | jax.ShapeDtypeStruct)


def scalar(name: str, value: Any, choices: int | None = None) -> Array:
    """`value`, an array or an integer, as () int32.

    Args:
        name: in messages.
        choices: a known value must be in 0 .. choices - 1.
    Raises:
        TypeError: not an integer; ValueError: not a scalar, or out of range.
    """
    given, dtype = value, getattr(value, "dtype", None)
    if type(value) is int:  # which may be more than numpy's integers hold
        value = np.int64(min(max(value, -(2**63)), 2**63 - 1))
        dtype = value.dtype
    if dtype is None:
        try:
            value = np.asarray(value)
        except ValueError:
            raise TypeError(f"{name} must be an integer, not {shown(given)}") from None
        dtype = value.dtype
    if not jnp.issubdtype(dtype, np.integer):
        raise TypeError(f"{name} must be an integer, not {dtype}: {shown(given)}")
    if value.shape != ():
        raise ValueError(f"{name} must be a scalar, not of shape {value.shape}; use jax.vmap")
    if choices is not None and known(value) and not 0 <= int(value) < choices:
        raise ValueError(f"{name} {shown(int(given))} is not in 0 .. {choices - 1}")
    if isinstance(value, np.ndarray | np.generic):
        # Indices beyond int32 remain out of range.
        value = np.clip(value, -1, np.iinfo(np.int32).max)
    return jnp.asarray(value).astype(jnp.int32)


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """`value` as a Python integer in least .. most; True and 1.0 raise a TypeError."""
    try:
        if isinstance(value, bool) or str(getattr(value, "dtype", "")) == "bool":
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {shown(value)}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} {shown(number)} is not in {least} .. {most}")
    return number


def one_key(name: str, value: Any) -> None:
    """Check one key of `jax.random`, new style or old."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key):
        extra = value.shape
    elif dtype == np.uint32 and len(shape(value)) > 0:
        extra = shape(value)[:-1]
    else:
        raise TypeError(f"{name} must be a key of jax.random, not {shown(value)}")
    if extra:
        raise ValueError(f"{name} must be one key, not a batch of {extra}; use jax.vmap")


def integers_like(name: str, value: Any, expected: Any) -> None:
    """Check that `value` is a dataclass of integer arrays with the shapes of `expected`.

    Raises:
        TypeError, ValueError: it is something else, or an array has another shape.
    """
    if not isinstance(value, type(expected)):
        raise TypeError(f"{name} must be a {type(expected).__name__}, not {type(value).__name__}")
    for field in dataclasses.fields(expected):
        actual, right = getattr(value, field.name), getattr(expected, field.name)
        path, dtype = f"{name}.{field.name}", getattr(actual, "dtype", None)
        if right is None or dataclasses.is_dataclass(right):
            if right is not None or actual is not None:
                integers_like(path, actual, right)
            continue
        if dtype is None or not jnp.issubdtype(dtype, np.integer):
            raise TypeError(f"{path} must be an array of integers, not {shown(actual)}")
        if actual.shape != right.shape:
            raise ValueError(f"{path} must be of shape {right.shape}, not {actual.shape}")


def not_varying(*values: object) -> None:
    """Raise a TypeError for an array in a `jax.shard_map` that checks how values vary.

    Loops of the rules start from constants, which JAX would reject there with a page of text.
    """
    for leaf in jax.tree.leaves(values):
        if isinstance(leaf, jax.core.Tracer) and (axes := _varying(leaf)):
            raise TypeError(
                f"a game inside jax.shard_map over {', '.join(axes)} needs "
                "jax.shard_map(..., check_vma=False): the rules do not state how values vary"
            )


def _varying(array: Array) -> list[str]:
    """The mesh axes that a traced array varies over; none if JAX does not check."""
    kind: object = jax.typeof(array)  # JAX 0.7 has `vma`, later versions an object
    kind = getattr(kind, "manual_axis_type", kind)
    axes: Any = getattr(kind, "varying", None) or getattr(kind, "vma", None) or ()
    return sorted(map(str, axes))


def hints(**surplus: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function: a surplus argument raises a TypeError with the correct call.

    Args:
        surplus: hints by argument names of other libraries; the first one is also the hint for
            surplus positional arguments.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        num_parameters = len(inspect.signature(function).parameters)
        first = next(iter(surplus))

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            name = next(
                (x for x in kwargs if x in surplus), first if len(args) > num_parameters else ""
            )
            if name:
                raise TypeError(f"{function.__name__}() takes no {name!r}: {surplus[name]}")
            return function(*args, **kwargs)

        return checked

    return decorate
