"""Documentation pages: links resolve, code blocks are valid, cited rulings exist."""

import argparse
import ast
import importlib
import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import gaia_jax
from tests.stub_env import StubEnv
from tools import rulings_index
from training import __main__ as gaia
from training import config as configs

pytestmark = pytest.mark.no_compile

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
MODULE = re.compile(r"^(?:\.venv/bin/|\w+=\S+ )*python -m ((?:gaia_jax|training|benchmarks)[\w.]*)")
PACKAGES = ("gaia_jax", "training", "tests", "tools", "benchmarks")


def _anchors(page):
    """The ids of a page's headings."""
    anchors = set()
    for title in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", title.lower())
        anchors.add(re.sub(r"[\s-]+", "-", plain).strip("-"))
    return anchors


def test_links_resolve():
    """Relative links with their anchors, and pages under docs/ named in backticks."""
    broken = []
    for page in PAGES:
        text = FENCED.sub("", page.read_text("utf-8"))
        for target in LINK.findall(text):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or anchor and anchor not in _anchors(file):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
        for name in re.findall(r"`(docs/[\w/]+\.md)`", text):
            if not (ROOT / name).is_file():
                broken.append(f"{page.relative_to(ROOT)}: {name}")
    assert not broken


class _Parsed(Exception):
    """Raised in place of running a command whose arguments were accepted."""


@contextmanager
def _parsers_only(monkeypatch):
    """Commands stop after parsing their arguments."""
    with monkeypatch.context() as patch:
        for name in ("parse_args", "parse_intermixed_args"):
            real = getattr(argparse.ArgumentParser, name)

            def stop(self, args=None, namespace=None, real=real):
                raise _Parsed(real(self, args, namespace))

            patch.setattr(argparse.ArgumentParser, name, stop)
        yield patch


def _commands(block):
    """The command lines of a shell block, without comments."""
    for line in block.replace("\\\n", " ").splitlines():
        text = re.split(r"\s+#", line)[0].strip()
        if text and not text.startswith("#"):
            yield text


def _module_of(command):
    """(module, arguments) of a `python -m` or `gaia` command line; None for any other text."""
    if match := MODULE.match(command):
        return match[1], shlex.split(command[match.end() :])
    words = command.split()
    if words[0] == "gaia" and len(words) > 1 and words[1] in gaia.COMMANDS:
        name = gaia.COMMANDS[words[1]][0]
        return f"training{name}" if name[0] == "." else name, shlex.split(command)[2:]
    return None


def _check_command(command, targets, patch):
    """Raises if a documented command line is not accepted."""
    if command.split()[0] == "make":
        assert command.split()[1] in targets, "no such target"
    if "[" in command or "..." in command or not (match := _module_of(command)):
        return
    module, arguments = match
    if ROOT.joinpath(*module.split("."), "__main__.py").is_file():
        module = f"{module}.__main__"
    patch.setattr(sys, "argv", [module, *arguments])
    with pytest.raises(_Parsed) as parsed:
        importlib.import_module(module).main()
    options = parsed.value.args[0]
    if getattr(options, "config", None) and hasattr(options, "overrides"):
        configs.load(ROOT / options.config, options.overrides)


def _check_python(code):
    """Raises if a Python block does not parse or imports what this project does not have."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in PACKAGES:
                    importlib.import_module(alias.name)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "gaia_jax":
            assert hasattr(gaia_jax, node.attr), node.attr


def test_code_blocks_are_valid(monkeypatch):
    """Python blocks parse and import; command lines are accepted by their parsers."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    faults = []
    with _parsers_only(monkeypatch) as patch:
        for page in PAGES:
            for language, block in FENCED.findall(page.read_text("utf-8")):
                if language == "python":
                    checks = [(block, lambda code: _check_python(code))]
                elif language in ("", "sh", "bash"):
                    checks = [
                        (line, lambda line: _check_command(line, targets, patch))
                        for line in _commands(block)
                    ]
                else:
                    continue
                for text, check in checks:
                    try:
                        check(text)
                    except (Exception, SystemExit, pytest.fail.Exception) as error:
                        faults.append(f"{page.relative_to(ROOT)}: {text!r}: {error!r}")
    assert not faults, "\n".join(faults)


def _run_blocks(page):
    """Executes the Python blocks of a page one after another in one scope."""
    scope: dict = {}
    blocks = [
        code for language, code in FENCED.findall(page.read_text("utf-8")) if language == "python"
    ]
    assert blocks
    for code in blocks:
        exec(compile(code, page.name, "exec"), scope)
    return scope


@pytest.mark.slow
def test_the_readme_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _run_blocks(ROOT / "README.md")


@pytest.mark.slow
def test_the_environment_guide_runs(monkeypatch, tmp_path):
    """On a short stub game; about 6 s."""
    monkeypatch.setattr(gaia_jax, "make", lambda id, reward="margin": StubEnv(reward=reward))
    monkeypatch.setattr(gaia_jax, "GaiaEnv", StubEnv)
    monkeypatch.chdir(tmp_path)
    _run_blocks(ROOT / "docs" / "guide" / "environment.md")


def test_every_cited_ruling_is_defined_once():
    defined = rulings_index.definitions()
    assert sorted({id for id in defined if defined.count(id) > 1}) == []
    missing = {id: paths for id, paths in rulings_index.citations().items() if id not in defined}
    assert not missing, "docs/reference/rulings.md does not define these"
