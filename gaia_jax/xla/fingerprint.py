"""What a function is made of, as a hash: its code and all that it closes over.

Functions of the packages and of installed ones are named, for their sources and versions are known
(`sources`); of others the code is read, and what it finds among its module's names. What this does
not know has no hash: an object of a class from elsewhere may do anything.
"""

from __future__ import annotations

import dataclasses
import dis
import enum
import functools
import hashlib
import types
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.xla import sources
from gaia_jax.xla.sources import UnknownError

MOST_THINGS = 200_000  # things walked through; more is a mistake


def of(*values: object) -> str:
    """A hash of functions and values, equal in every process that has made them alike.

    Raises:
        UnknownError: there is something in them of which that cannot be said.
    """
    walk = _Walk()
    try:
        for value in values:
            walk.value(value)
    except RecursionError:
        raise UnknownError("nested too deeply") from None
    return walk.hash.hexdigest()


class _Walk:
    """The hash so far, and what has been seen of it."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, tuple[int, Any]] = {}  # by id; the thing is held, so the id stays
        self.count = 0

    def put(self, *words: str | bytes) -> None:
        """Words, apart from those before and after."""
        for word in words:
            data = word.encode() if isinstance(word, str) else word
            self.hash.update(b"%d " % len(data) + data)

    def value(self, x: object) -> None:
        """Anything."""
        self.count += 1
        if self.count > MOST_THINGS:
            raise UnknownError("too much to walk through")
        kind = type(x)
        if x is None or x is Ellipsis or kind in (bool, int, float, complex, str, bytes):
            self.put(kind.__name__, repr(x))
        elif isinstance(x, np.ndarray | np.generic | jax.Array):
            self.array(x)
        elif isinstance(x, np.dtype):
            self.put("dtype", str(x))
        elif isinstance(x, tuple | list) and kind in (tuple, list):
            self.put(kind.__name__, str(len(x)))
            self.each(x)
        elif isinstance(x, set | frozenset) and kind in (set, frozenset):
            self.put(kind.__name__, *sorted(of(y) for y in x))
        elif isinstance(x, slice | range):
            self.put(kind.__name__)
            self.each((x.start, x.stop, x.step))
        elif isinstance(x, type):
            self.kind(x)
        elif isinstance(x, types.ModuleType):
            self.home("module", x.__name__)
        else:
            self.once(x)

    def each(self, values: Iterable[object]) -> None:
        """All of them."""
        for value in values:
            self.value(value)

    def home(self, what: str, module: str, name: str = "") -> None:
        """Something that a module of known code holds."""
        package = module.partition(".")[0]
        version = sources.version(package)
        if version is None:
            raise UnknownError(f"{what} {module}{'.' * bool(name)}{name}")
        self.put(what, module, name, version)

    def kind(self, x: type) -> None:
        """A class: its code is known, and no function has made it."""
        if "<locals>" in x.__qualname__:
            raise UnknownError(f"class {x.__qualname__}")
        self.home("class", x.__module__, x.__qualname__)

    def array(self, x: jax.Array | np.ndarray | np.generic) -> None:
        """Dtype, shape and contents."""
        if isinstance(x, jax.core.Tracer) or not getattr(x, "is_fully_addressable", True):
            raise UnknownError("an array that has no contents here")
        self.put("array", str(x.dtype), str(x.shape), str(getattr(x, "weak_type", "")))
        if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            x = jax.random.key_data(x)
        held = np.asarray(x)
        if held.dtype.hasobject:
            self.each(held.ravel().tolist())
        else:
            self.put(np.ascontiguousarray(held).tobytes())

    def once(self, x: object) -> None:
        """What may be met again, on a way round too."""
        if id(x) in self.seen:
            self.put("seen", str(self.seen[id(x)][0]))
            return
        self.seen[id(x)] = len(self.seen), x
        if isinstance(x, types.FunctionType):
            self.function(x)
        elif isinstance(x, types.MethodType):
            self.put("method")
            self.each((x.__func__, x.__self__))
        elif isinstance(x, functools.partial):
            self.put("partial")
            self.each((x.func, x.args, x.keywords))
        elif isinstance(x, types.BuiltinFunctionType | np.ufunc):
            self.builtin(x)
        elif isinstance(x, dict | types.MappingProxyType) and type(x).__module__ != "__main__":
            self.put(type(x).__name__, str(len(x)))
            self.each(part for item in x.items() for part in item)
        elif isinstance(x, enum.Enum):
            self.kind(type(x))
            self.put(x.name)
        elif isinstance(x, jax.sharding.Mesh):  # it keeps more of its devices when it is used
            self.put("mesh", str(x.axis_names), str(x.axis_types), str(x.devices.shape))
            self.each(x.devices.ravel().tolist())
        elif isinstance(x, jax.sharding.NamedSharding):
            self.put("sharding", str(x.spec), str(x.memory_kind))
            self.value(x.mesh)
        elif isinstance(x, jax.Device):
            self.put("device", x.platform, x.device_kind, str(x.id))
        else:
            self.parts(x)

    def parts(self, x: object) -> None:
        """What an object of a known class holds."""
        self.kind(type(x))
        if isinstance(x, tuple):
            self.put(str(len(x)))
            self.each(x)
        elif dataclasses.is_dataclass(x):
            self.each(getattr(x, field.name, None) for field in dataclasses.fields(x))
        elif hasattr(x, "__wrapped__"):  # `jax.jit`, `functools.cache`
            self.value(x.__wrapped__)
        elif type(x) is not object:
            held = {name: getattr(x, name) for name in _slots(type(x)) if hasattr(x, name)}
            held |= getattr(x, "__dict__", {})
            if not held:
                raise UnknownError(f"a {type(x).__name__}")
            for name in sorted(held):
                self.put(name)
                self.value(held[name])

    def builtin(self, x: types.BuiltinFunctionType | np.ufunc) -> None:
        """A function without code of Python."""
        of_object = getattr(x, "__self__", None)
        self.put("builtin", x.__name__)
        if isinstance(of_object, types.ModuleType) or of_object is None:
            self.home("builtin", getattr(x, "__module__", None) or "builtins", x.__name__)
        else:
            self.value(of_object)

    def function(self, x: types.FunctionType) -> None:
        """Its code, what it closes over and, of a module that is not known, what it looks up."""
        # `functools.wraps` gives a function another's `__module__`; its globals are its own.
        home = x.__globals__.get("__name__") or ""
        known = sources.is_known(home)
        self.put("function", x.__qualname__)
        if known:
            self.home("function", home, x.__qualname__)
        self.code(x.__code__)
        self.each((x.__defaults__, x.__kwdefaults__))
        for cell in x.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:
                self.put("empty")
            else:
                self.value(held)
        if not known:
            for name in sorted(set(_looked_up(x.__code__))):
                self.put("global", name)
                if name in x.__globals__:
                    self.value(x.__globals__[name])

    def code(self, x: types.CodeType) -> None:
        """Code, without the lines on which it stands."""
        self.put("code", x.co_name, x.co_code, x.co_exceptiontable)
        counts = x.co_argcount, x.co_posonlyargcount, x.co_kwonlyargcount, x.co_flags
        self.each((x.co_names, x.co_varnames, x.co_freevars, x.co_cellvars, counts))
        for constant in x.co_consts:
            if isinstance(constant, types.CodeType):
                self.code(constant)
            else:
                self.value(constant)


def _looked_up(code: types.CodeType) -> Iterator[str]:
    """The global names that code reads, functions inside of it included."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
        elif step.opname == "IMPORT_NAME" and not sources.is_known(step.argval):
            raise UnknownError(f"module {step.argval}")
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _looked_up(constant)


def _slots(kind: type) -> list[str]:
    """The slots of a class and of those that it is made of."""
    found: list[str] = []
    for part in kind.__mro__:
        names = vars(part).get("__slots__", ())
        found += [names] if isinstance(names, str) else list(names)
    return [name for name in found if name not in ("__dict__", "__weakref__")]
