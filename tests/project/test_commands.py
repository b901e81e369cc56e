"""Command lines: help, errors, options that mean the same everywhere, progress reports."""

import argparse
import importlib
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

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


class Waits(threading.Event):
    """An event that `count` waits do not see, and that take no time; then a wait is a real one."""

    def __init__(self, count):
        super().__init__()
        self.count, self.seconds, self.over = count, [], threading.Event()

    def wait(self, timeout=None):
        if len(self.seconds) < self.count:
            self.seconds.append(timeout)
            return False
        self.over.set()
        return super().wait()


@pytest.fixture
def lines_of(monkeypatch, capsys):
    """The lines of `status_line` after some waits, and the waits in seconds."""

    def lines(count, text, **options):
        waits = Waits(count)
        thread = SimpleNamespace(Event=lambda: waits, Thread=threading.Thread)
        clock = SimpleNamespace(monotonic=lambda: sum(waits.seconds))
        monkeypatch.setattr(progress, "threading", thread)
        monkeypatch.setattr(progress, "time", clock)
        with progress.status_line(text, **options):
            assert waits.over.wait(60)
        return capsys.readouterr().err, waits.seconds

    return lines


def test_a_wait_is_told_where_there_is_no_terminal(lines_of, capsys):
    """A line at once and at growing intervals."""
    at = iter(range(100))
    lines, waits = lines_of(4, lambda: f"step {next(at)}", at_once=True)
    assert lines == "step 0\nstep 1\nstep 2\nstep 3\nstep 4\n" and waits == [10, 20, 40, 80]
    assert lines_of(1, lambda: "a while") == ("a while\n", [10])
    assert lines_of(0, lambda: "too short") == ("", [])
    with progress.status_line(lambda: "nothing", enabled=False):
        pass
    assert not capsys.readouterr().err
    assert progress.next_wait(progress.LONGEST_WAIT - 1) == progress.LONGEST_WAIT


def test_a_text_that_stays_the_same_is_followed_by_its_seconds(lines_of):
    texts = iter(["compiling", "compiling", "game 1", "game 1", "game 2"])
    lines, _ = lines_of(5, lambda: next(texts))
    expected = ["compiling", "compiling, 30 s", "game 1", "game 1, 80 s", "game 2"]
    assert lines.splitlines() == expected


@pytest.mark.parametrize("step", [0, 1], ids=["nothing is done", "something each time"])
def test_a_bar_is_lines_at_growing_intervals_where_there_is_no_terminal(step, monkeypatch, capsys):
    """One at the start, three after about 10, 20 and 40 s, one at the end."""
    now = [0.0]
    monkeypatch.setattr(cli, "time", SimpleNamespace(time=lambda: now[0]))
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    with cli.bar("game", 90) as bar:
        for _ in range(20):
            now[0] += 6
            bar.update(step)
    lines = re.findall(r"(\d+)/90 \[(\d\d:\d\d)<", capsys.readouterr().err)
    assert [time for _, time in lines] == ["00:00", "00:12", "00:36", "01:18", "02:00"]
    assert [int(done) for done, _ in lines] == [step * n for n in (0, 2, 6, 13, 20)]


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
