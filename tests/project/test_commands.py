"""Command lines: help, errors, options that mean the same everywhere, progress reports."""

import argparse
import importlib
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gaia_jax.cli import command_line, progress
from gaia_jax.cli.command_line import UserError
from gaia_jax.xla import packed
from training import __main__ as gaia
from training.system import cli

pytestmark = pytest.mark.no_compile

ROOT = Path(__file__).resolve().parents[2]


class Parsed(Exception):
    """The arguments were taken."""


COMMANDS = (
    "gaia_jax.replay", "training.train", "training.evaluate", "training.arena", "training.explain",
    "training.play", "training.labels", "training.clone", "training.ship",
    "training.export", "training.plan", "training.compare", "training.study",
    "training.sweep", "training.advise", "training.review", "gaia_jax.importers.boardgamers",
    "training.puzzles", "training.check",
)  # fmt: skip
# The module with the command line of a package.
PACKAGES = {
    "gaia_jax.replay": "gaia_jax.replay.command",
    "training.play": "training.play.__main__",
    "training.study": "training.study.__main__",
}


NO_DEFAULTS = ("None", "False", "[]", "", argparse.SUPPRESS)


@pytest.mark.parametrize("module", COMMANDS)
def test_help_shows_every_default(monkeypatch, module):
    """And describes every argument."""
    parsers = []

    def record_parser(self, *_, **__):
        parsers.append(self)
        raise Parsed

    for name in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(argparse.ArgumentParser, name, record_parser)
    monkeypatch.setattr(sys, "argv", [module])
    with pytest.raises(Parsed):
        importlib.import_module(PACKAGES.get(module, module)).main()
    (parser,) = parsers
    text = " ".join(parser.format_help().split())
    for action in parser._actions:
        assert action.help, action.dest
        if action.option_strings and str(action.default) not in NO_DEFAULTS:
            assert f"(default: {action.default})" in text, action.dest


HELP = """
import importlib, sys
sys.argv = ["-m", "--help"]
try:
    sys.exit(importlib.import_module("training.__main__").main([%r, "--help"]))
except SystemExit:
    assert not {"jax", "numpy", "flax", "pydantic", "tqdm"} & set(sys.modules)
"""


@pytest.mark.parametrize("command", [name for name in gaia.COMMANDS if name != "import"])
def test_help_is_said_before_anything_is_loaded(command):
    """0.3 s of processor time here, where `import jax` alone takes 1.2."""
    done = subprocess.run(
        [sys.executable, "-c", HELP % command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert f"gaia {command}" in done.stdout or command == "replay"


def test_the_numbers_of_players_are_those_of_the_rules():
    assert cli.PLAYERS == packed.PLAYERS


def test_gaia_has_every_command_that_is_not_hidden():
    modules = {path.strip(".").removesuffix(".__main__") for path, _ in gaia.COMMANDS.values()}
    expected = {PACKAGES.get(name, name).removesuffix(".__main__") for name in COMMANDS}
    assert modules == {name.removeprefix("training.") for name in expected}


def test_gaia_by_itself_its_version_and_a_wrong_word(capsys):
    assert gaia.main(["--version"]) == 0
    assert re.match(r"gaia_jax \d+\.\d+\.\d+, jax \d", capsys.readouterr().out)
    assert gaia.main([]) == 0
    assert "  arena     different agents at one table" in capsys.readouterr().out
    assert gaia.main(["arean"]) == 2
    assert capsys.readouterr().err == (
        "error: there is no command 'arean'; did you mean 'arena'?\n"
    )


def test_the_same_thing_has_the_same_name_in_every_command():
    """`--agent` as well as evaluate's RUN, `--config` as well as plan's CONFIG."""
    from training import evaluate, plan

    assert evaluate._parse(["--agent", "x"]).run == evaluate._parse(["x"]).run == "x"
    for wrong in ([], ["x", "--agent", "y"]):
        with pytest.raises(UserError, match="name one agent"):
            evaluate._parse(wrong)
    for argv in (["--config", "c.yaml", "a=1", "b=2"], ["c.yaml", "a=1", "b=2"]):
        args = plan._parse(argv)
        assert (args.config, args.overrides) == ("c.yaml", ["a=1", "b=2"])
    with pytest.raises(UserError, match="a configuration is wanted"):
        plan._parse([])


def test_a_wrong_id_names_the_nearest():
    import gaia_jax
    from training import zoo
    from training.agents import make_agent

    with pytest.raises(ValueError, match="did you mean 'lost_fleet'?"):
        gaia_jax.make("lostfleet")
    with pytest.raises(ValueError, match="did you mean 'margin'?"):
        gaia_jax.make("base", reward="margins")
    with pytest.raises(UserError, match="did you mean 'greedy'?"):
        make_agent("gredy", gaia_jax.make("base"))
    with pytest.raises(UserError, match="did you mean 'zoo/strong'?"):
        zoo.about("zoo/strng")


def test_a_wait_is_told_where_there_is_no_terminal(monkeypatch, capsys):
    """A line at once and one after ten seconds; here after a twentieth of a second."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    at = iter(range(100))
    with progress.status_line(lambda: f"step {next(at)}", at_once=True):
        time.sleep(0.3)
    output = capsys.readouterr().err
    assert (
        output.splitlines()[:3] == ["step 0", "step 1", "step 2"] and len(output.splitlines()) < 9
    )
    assert "\r" not in output
    with (
        progress.status_line(lambda: "nothing", enabled=False),
        progress.status_line(lambda: "too short"),
    ):
        pass
    assert not capsys.readouterr().err
    with progress.status_line(lambda: "a while"):
        time.sleep(0.1)
    assert capsys.readouterr().err.startswith("a while\n")


def test_a_text_that_stays_the_same_is_followed_by_its_seconds(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    texts, finished = iter(["compiling", "compiling", "game 1", "game 1"]), threading.Event()

    def text():
        now = next(texts, "game 2")
        if now == "game 2":
            finished.set()
        return now

    with progress.status_line(text):
        assert finished.wait(10)
    lines = capsys.readouterr().err.splitlines()[:5]
    assert lines == ["compiling", "compiling, 10 s", "game 1", "game 1, 10 s", "game 2"]


def test_lines_come_at_growing_intervals_where_there_is_no_terminal(monkeypatch, capsys):
    """Lines after 0.05, 0.15, 0.35 and 0.75 s, not every 0.05 s."""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.05)
    with progress.status_line(lambda: "playing"):
        time.sleep(0.6)
    assert 2 <= len(capsys.readouterr().err.splitlines()) <= 3
    monkeypatch.setattr(cli, "LINE_SECONDS", 0.05)
    for step in (0, 1):  # nothing is done yet, or something each time
        with cli.bar("game", 90) as bar:
            for _ in range(20):
                time.sleep(0.03)
                bar.update(step)
        # One at the start, one at the end.
        assert 4 <= len(capsys.readouterr().err.splitlines()) <= 5
    waits = [10.0]
    while len(waits) < 9:
        waits.append(progress.next_wait(waits[-1]))
    assert waits[:4] == [10, 20, 40, 80] and waits[-1] == progress.LONGEST_WAIT


def test_a_bar_says_its_time_while_nothing_is_done_yet(monkeypatch, capsys):
    monkeypatch.setattr(cli, "LINE_SECONDS", 0.01)
    with cli.bar("game", 9) as bar:
        for _ in range(5):
            time.sleep(0.06)
            bar.update(0)
    assert capsys.readouterr().err.count("0/9") >= 4


def test_a_system_without_file_locks_is_refused_before_any_work(monkeypatch, capsys):
    monkeypatch.setattr(command_line, "SUPPORTED", False)
    monkeypatch.setattr(command_line.sys, "platform", "win32")
    done = []
    assert command_line.run(lambda: done.append(1) or 0) == 2 and not done
    assert capsys.readouterr().err == (
        "error: commands and training need Linux or macOS, got win32\n"
    )


def test_a_bar_that_is_not_shown_counts_on_and_says_nothing(capsys):
    with cli.bar("update", 4, shown=False) as bar:
        bar.update(0)
        bar.update(4)
    assert capsys.readouterr().err == ""
