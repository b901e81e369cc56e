"""The shape of the two packages in figures: `python -m tools.shape [--json]`.

A *room* is a module or a package directly inside `gaia_jax/` or `training/`; an *arrow* is an
import of one room by another, anywhere in a file; *floors* are layers: each room is one floor above
the highest room that it imports; a *circle* is rooms (or files) that import one another. The tool
parses the source and imports nothing. `make lint` checks layers and cycles (import-linter).
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gaia_jax", "training")
# The rooms of `training/` from the lowest floor up: a room imports only earlier rooms.
LAYERS = (
    *("types", "system", "config", "networks", "zoo", "search", "learn", "agents", "games"),
    *("stats", "imitation", "run", "analysis", "study", "play"),
)


def files(package: str) -> list[Path]:
    """The Python files of a package, sorted."""
    return sorted((ROOT / package).rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(path: Path) -> str:
    """The room of a file: the first part of its path below the package."""
    inside = path.relative_to(ROOT).parts[1:]
    return inside[0].removesuffix(".py")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[str]:
    """The modules of the project that a file imports, dotted; a name of a module is its module."""
    modules = _modules()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base(path, node)
            names = [
                full if (full := f"{base}.{name.name}") in modules else base for name in node.names
            ]
        else:
            continue
        yield from (name for name in names if name in modules)


def _base(path: Path, node: ast.ImportFrom) -> str:
    """The module after `from`, dotted, of a relative import too."""
    above = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
    return ".".join((*above, *filter(None, [node.module])))


@cache
def _modules() -> dict[str, Path]:
    return {_module(path): path for package in PACKAGES for path in files(package)}


def arrows(package: str) -> set[tuple[str, str]]:
    """(from, to) of the rooms of a package; what its `__init__` re-exports is no arrow."""
    pairs = set()
    for path in files(package):
        for name in imports(path):
            other = _modules()[name]
            pair = room_of(path), room_of(other)
            if other.is_relative_to(ROOT / package) and "__init__" not in pair:
                pairs.add(pair)
    return {(a, b) for a, b in pairs if a != b}


def file_arrows(package: str) -> set[tuple[str, str]]:
    """(from, to) of the files of a package, without imports of the package itself."""
    pairs = set()
    for path in files(package):
        for name in imports(path):
            other = _modules()[name]
            if other.is_relative_to(ROOT / package) and other != path and name != package:
                pairs.add((_module(path), name))
    return pairs


def circles(pairs: set[tuple[str, str]]) -> list[list[str]]:
    """Groups of two and more that reach one another along the arrows."""
    reach: dict[str, set[str]] = {}
    for a, b in pairs:
        reach.setdefault(a, set()).add(b)
    changed = True
    while changed:
        changed = False
        for seen in reach.values():
            additions = set().union(*(reach.get(b, set()) for b in seen)) - seen
            changed |= bool(additions)
            seen |= additions
    groups = {
        tuple(sorted(b for b in seen if a in reach.get(b, ())))
        for a, seen in reach.items()
        if a in seen
    }
    return [list(group) for group in sorted(groups) if len(group) > 1]


def floors(pairs: set[tuple[str, str]]) -> int:
    """The number of floors; the rooms of a circle are on one floor."""
    group = {name: tuple(circle) for circle in circles(pairs) for name in circle}
    below: dict[Any, set[Any]] = {}
    for a, b in pairs:
        source, target = group.get(a, a), group.get(b, b)
        if source != target:
            below.setdefault(source, set()).add(target)

    @cache
    def height(room: Any) -> int:
        return 1 + max((height(target) for target in below.get(room, ())), default=0)

    return max((height(room) for room in below), default=1)


def upwards() -> list[str]:
    """Imports of `training/` that go up the list of layers, or down into a door."""
    place = {name: i for i, name in enumerate(LAYERS)}
    return sorted(
        f"{a} -> {b}"
        for a, b in arrows("training")
        if a in place and place.get(b, len(LAYERS)) > place[a]
    )


def functions(package: str) -> list[tuple[int, str]]:
    """(lines, where) of every function, the longest first."""
    lengths = [
        (node.end_lineno - node.lineno + 1, f"{path.relative_to(ROOT)}:{node.name}")
        for path in files(package)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    return sorted(lengths, reverse=True)


def any_parameters(package: str) -> tuple[int, int]:
    """How many parameters are annotated with `Any` somewhere, and how many there are."""
    parameters = [
        argument
        for path in files(package)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if argument.arg not in ("self", "cls")
    ]
    texts = [ast.unparse(a.annotation) for a in parameters if a.annotation]
    unknown = [text for text in texts if re.search(r"\bAny\b", text)]
    return len(unknown), len(parameters)


def doors() -> dict[str, int]:
    """Lines of the modules right inside `training/`."""
    return {
        path.name: len(path.read_text(encoding="utf-8").splitlines())
        for path in sorted((ROOT / "training").glob("*.py"))
    }


def guide_words() -> int:
    """Words of the pages of the guide."""
    pages = (ROOT / "docs" / "guide").glob("*.md")
    return sum(len(page.read_text(encoding="utf-8").split()) for page in pages)


def measure() -> dict[str, Any]:
    """Every figure, by package."""
    out: dict[str, Any] = {}
    for package in PACKAGES:
        pairs = arrows(package)
        rooms = {room_of(path) for path in files(package)} - {"__init__"}
        out[package] = {
            "lines": sum(len(p.read_text("utf-8").splitlines()) for p in files(package)),
            "files": len(files(package)),
            "rooms": len(rooms),
            "floors": floors(pairs),
            "arrows": len(pairs),
            "circles": circles(pairs),
            "circles of files": circles(file_arrows(package)),
            "longest function": functions(package)[0],
            "parameters of Any": "{} of {}".format(*any_parameters(package)),
        }
    out["training"] |= {"at the top": len(doors()), "doors": doors(), "upwards": upwards()}
    return out | {"words of the guide": guide_words()}


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser("python -m tools.shape", description=__doc__)
    parser.add_argument("--json", action="store_true", help="as JSON")
    figures = measure()
    if parser.parse_args().json:
        print(json.dumps(figures, indent=1))
        return 0
    for name, part in figures.items():
        if not isinstance(part, dict):
            print(f"{name}: {part}")
            continue
        print(name)
        for key, value in part.items():
            print(f"  {key}: {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
