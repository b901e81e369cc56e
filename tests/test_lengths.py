"""Functions fit a screen, files are one chapter (CONTRIBUTING.md)."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("gaia_jax", "training", "tools")
# A benchmark's or an example's function may read from the top down like a script.
SCRIPTS = ("benchmarks", "examples")


def _python(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller gives: without self or cls, `*rest` and `**options` as one each."""
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args)]
    found = len(names) + len(a.kwonlyargs) + bool(a.vararg) + bool(a.kwarg)
    return found - (names[:1] in (["self"], ["cls"]))


def _too_long(text: str) -> list[tuple[str, int, int]]:
    """(name, lines, parameters) of the functions with over 60 lines or over 8 parameters."""
    sizes = [
        (node.name, (node.end_lineno or 0) - node.lineno + 1, _parameters(node))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [size for size in sizes if size[1] > 60 or size[2] > 8]


def test_functions_have_at_most_60_lines_and_8_parameters():
    found = {
        f"{path.relative_to(ROOT).as_posix()} {name}": (lines, parameters)
        for path in _python(*FOLDERS)
        for name, lines, parameters in _too_long(path.read_text(encoding="utf-8"))
    }
    assert not found


def test_files_have_at_most_400_lines():
    files = _python(*FOLDERS, *SCRIPTS)
    lines = {p.relative_to(ROOT): len(p.read_text(encoding="utf-8").splitlines()) for p in files}
    assert {path.parts[0] for path in lines} == {*FOLDERS, *SCRIPTS}
    assert not {path: n for path, n in lines.items() if n > 400}


def test_what_is_too_long_is_found():
    text = "def f(self, a, b, c, d, e, f, g, h): ...\ndef g(a, b, c, d, e, f, g, h, *i): ...\n"
    text += "async def h():\n" + "    await x\n" * 60
    assert _too_long(text) == [("g", 1, 9), ("h", 61, 0)]
