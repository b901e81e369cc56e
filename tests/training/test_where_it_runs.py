"""Commands without what they take for granted: a home, a stream, a device, the time to compile."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import TINY

ROOT = Path(__file__).resolve().parents[2]
FOUR = "random,random,random,random"
# As in a container under a number that no user has.
NO_HOME = """
import os, pwd, runpy, sys

def nobody(number):
    raise KeyError(f"getpwuid(): uid not found: {number}")

pwd.getpwuid = nobody
sys.argv.pop(0)
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def environment(**more: str) -> dict[str, str]:
    """What a user has, without what tests set."""
    inherited = {x: y for x, y in os.environ.items() if not x.startswith(("JAX_", "GAIA_", "XDG_"))}
    return inherited | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)} | more


def run(command: list[str], env: dict[str, str], folder: Path, redirect: str = "") -> tuple:
    """Exit code, standard output, standard error."""
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", *command],
        cwd=folder, env=env, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    return ended.returncode, ended.stdout, ended.stderr


# A process started in the background of a shell ignores Ctrl-C.
HEARS_INTERRUPTS = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])
"""
# The commands of each package share their start; of the trainer one is fast.
WRONG = [
    ["gaia_jax.replay", "nothing.json"],
    ["training.evaluate", "nothing"],
    pytest.param(["training.compare", "nothing"], marks=pytest.mark.slow),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[0])
def test_what_a_closed_standard_error_would_take_is_nowhere(wrong, tmp_path):
    """`print(file=None)` writes on standard output."""
    command = [sys.executable, "-m", *wrong]
    assert run(command, environment(), tmp_path, "2>&-") == (2, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("redirect", ["<&- >&-", pytest.param(">&-", marks=pytest.mark.slow)])
def test_a_closed_standard_output_changes_nothing(redirect, tmp_path):
    command = [sys.executable, "-m", *WRONG[0]]
    code, _, err = run(command, environment(), tmp_path, redirect)
    assert (code, err.count("\n"), err[:7]) == (2, 1, "error: ")


def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path):
    """XLA would write its messages into it."""
    script = """from gaia_jax.cli.interrupts import open_what_is_closed
open_what_is_closed()
print(open('f', 'w').fileno())"""
    code, out, _ = run([sys.executable, "-c", script], environment(), tmp_path, "<&- 2>&-")
    assert (code, int(out) > 2) == (0, True)


def test_a_program_with_a_closed_standard_error_reads_nothing_of_the_cache(tmp_path):
    (tmp_path / "file").write_text("in the way")
    script = "import gaia_jax; gaia_jax.enable_compilation_cache('file/cache')"
    assert run([sys.executable, "-c", script], environment(), tmp_path, "2>&-") == (0, "", "")


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[0])
def test_without_a_home_there_is_no_cache_and_one_line_says_so(wrong, tmp_path):
    env = environment()
    env.pop("HOME", None)
    code, out, err = run([sys.executable, "-c", NO_HOME, *wrong], env, tmp_path)
    first, last = err.splitlines()
    assert (code, out) == (2, "")
    assert first.startswith("no compilation cache: no home folder")
    assert last.startswith("error: ")


DEVICES = {
    "gaia_jax.replay": [str(ROOT / "docs/records/lost_fleet.json")],
    "training.train": ["--config", str(ROOT / "configs/quick.yaml")],
    "training.play": ["--port", "0", "--saves", "saves"],
    "training.export": ["--agents", FOUR, "--games", "4", "--out", "data"],
    "training.arena": ["--agents", FOUR, "--games", "4", "--csv", "games.csv"],
    "training.evaluate": ["zoo/quick", "--games", "4", "--json", "report.json"],
    "training.plan": [str(ROOT / "configs/quick.yaml")],
    "training.labels": [
        "--config",
        str(ROOT / "configs/quick.yaml"),
        "--games",
        "64",
        "--out",
        "x",
    ],
}


# Each command in a child, with a folder and streams of its own. Most of a start is imports: the
# parent has done them, and JAX has started nothing when it forks.
EACH = """
import json, os, runpy, sys, warnings

commands, sys.argv = json.loads(sys.argv[1]), ["-m"]
import jax, flax, optax, orbax.checkpoint, training

warnings.simplefilter("ignore")  # of JAX that it forks, of runpy that a module is there already
codes = {}
for module, arguments in commands.items():
    child = os.fork()
    if child:
        codes[module] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        continue
    os.mkdir(module)
    for number, name in ((1, "out"), (2, "err")):
        with open(f"{module}.{name}", "w") as file:
            os.dup2(file.fileno(), number)
    os.chdir(module)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    sys.exit(0)
print(json.dumps(codes))
"""


@pytest.fixture(scope="module")
def without_a_device(tmp_path_factory):
    """(the folder where the commands of DEVICES have run, their exit codes)."""
    folder = tmp_path_factory.mktemp("devices")
    env = environment(JAX_PLATFORMS="nonsense")
    code, out, err = run([sys.executable, "-c", EACH, json.dumps(DEVICES)], env, folder)
    assert (code, err) == (0, "")
    return folder, json.loads(out)


@pytest.mark.slow
@pytest.mark.parametrize("module", DEVICES)
def test_a_device_that_is_not_there_is_one_line_and_nothing_is_done(module, without_a_device):
    folder, codes = without_a_device
    out, err = ((folder / f"{module}.{name}").read_text("utf-8") for name in ("out", "err"))
    assert (codes[module], out) == (2, ""), err
    assert err.startswith("error: ") and err.count("\n") == 1, err
    assert "'nonsense'" in err and "'cpu'" in err
    assert [path for path in (folder / module).rglob("*") if path.is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.5, 2.0, 4.0])
def test_the_table_ends_with_130_while_it_compiles(seconds, tmp_path):
    """Six of eight tries were SIGABRT: a thread inside XLA does not outlive the interpreter."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra play)")
    command = [sys.executable, "-c", HEARS_INTERRUPTS, "training.play", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--saves", "saves"],
        cwd=tmp_path, env=environment(GAIA_JAX_NO_CACHE="1"), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout and "The table is at" in process.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err.splitlines()[-1:]) == (130, ["interrupted"])


@pytest.mark.slow
def test_a_training_under_jax_s_switches_is_the_training_without(tmp_path):
    """On the toy game: a command sets them for its process."""
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY), encoding="utf-8")
    switches = {
        "JAX_ENABLE_X64": "1",
        "JAX_NUMPY_DTYPE_PROMOTION": "strict",
        "JAX_NUMPY_RANK_PROMOTION": "raise",
        "JAX_THREEFRY_PARTITIONABLE": "0",
    }
    reports = []
    for name, extra in (("usual", {}), ("switched", switches)):
        env = environment(**extra, JAX_DISABLE_MOST_OPTIMIZATIONS="1")
        command = [sys.executable, str(ROOT / "tests/training/toy_main.py"), "train"]
        options = ["--config", "tiny.yaml", f"name={name}", "run.updates=2"]
        code, _, err = run([*command, *options], env, tmp_path)
        assert code == 0, err[-2000:]
        report = json.loads((tmp_path / "runs" / name / "evaluation.json").read_text("utf-8"))
        reports.append({key: value for key, value in report.items() if key != "run"})
    assert reports[0] == reports[1]
