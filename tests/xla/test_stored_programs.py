"""Stored programs: a second start reads them, no change between two processes runs an old one."""

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax.ruleset import VARIANTS
from gaia_jax.xla import compilation_cache, stored_programs

ROOT = Path(__file__).resolve().parents[2]

# Prints a value by what changed; each reads a data file while JAX traces.
ARENA = """
import json
from pathlib import Path
import gaia_jax, jax, jax.numpy as jnp, numpy as np
import toy_env
from training.agents.base import Agent, random_agent
from training.games.engine import Match
from training.games.table import rotated

gaia_jax.enable_compilation_cache()
read = lambda: int((Path(__file__).parent / "data.txt").read_text())

class Env(toy_env.ToyEnv):
    def step(self, state, action):
        game = state.game
        return super().step(state.replace(game=game.replace(worth=game.worth * read())), action)

def act(params, state, mask, key):
    last = mask.shape[1] - 1 - jnp.argmax(mask[:, ::-1], -1)
    return jnp.argmax(mask, -1) if read() == 1 else last

def vp(env, agent):
    return np.asarray(Match(env, [agent] * 4, rotated(4), 2).play(1).vp).sum().item()

toy = toy_env.make("toy")
print(json.dumps({
    "an agent": vp(toy, Agent("own", act, cheap_when_forced=True)),
    "an environment": vp(Env("toy", toy.reward), random_agent(toy)),
}))
"""


def run(script: Path, cache: Path, *arguments: str, **more: str) -> str:
    """What a process prints; it has a cache of its own and leaves no byte code."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "GAIA_", "XLA_"))}
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests" / "training")))
    env = inherited | {
        "JAX_PLATFORMS": "cpu", "PYTHONPATH": path, "JAX_COMPILATION_CACHE_DIR": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    process = subprocess.run(
        [sys.executable, script, *arguments],
        env=env | more, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-2000:]
    return process.stdout


@pytest.mark.slow
def test_a_change_of_what_the_arena_plays_is_seen(tmp_path):
    """Before the change, after it, and after it without a cache: about 20 s a process."""
    (tmp_path / "script.py").write_text(ARENA)
    values = []
    for value, extra in ((1, {}), (2, {}), (2, {compilation_cache.NO_CACHE: "1"})):
        (tmp_path / "data.txt").write_text(str(value))
        values.append(json.loads(run(tmp_path / "script.py", tmp_path / "cache", **extra)))
    before, after, traced = values
    assert before.keys() == {"an agent", "an environment"} and after == traced
    assert all(before[kind] != after[kind] for kind in before)


# Prints how often a program was read and made, a digest of a draw, and the same of `jax.jit`.
PACKAGE = """
import hashlib, logging, sys
import gaia_jax, jax, numpy as np
from gaia_jax.xla import stored_programs
from gaia_jax.ruleset import LOST_FLEET
from gaia_jax.setup import draw

class Count(logging.Handler):
    words = []
    def emit(self, record):
        self.words.append(record.getMessage().split()[-1])
stored_programs.log.addHandler(Count())
stored_programs.log.setLevel("DEBUG")
gaia_jax.enable_compilation_cache()
env = gaia_jax.make()
usual = draw.draw_setup
if "function" in sys.argv:
    import gaia_jax.env
    gaia_jax.env.draw_setup = lambda *args: jax.tree.map(lambda x: x + 1, usual(*args))
if "array" in sys.argv:
    LOST_FLEET.tables.ore_per_step[:] += 1
for jit in (stored_programs.env_jit(env, "draw_setup"), jax.jit(env.draw_setup)):
    drawn = jax.device_get(jit(jax.random.key(5)))
    print(hashlib.sha256(b"".join(x.tobytes() for x in jax.tree.leaves(drawn))).hexdigest())
print(Count.words)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package, and what two processes print: one stores a program, one loads it."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "gaia_jax", folder / "gaia_jax")
    (folder / "script.py").write_text(PACKAGE)

    def start(*arguments: str) -> list[str]:
        out = run(folder / "script.py", folder / "cache", *arguments, PYTHONPATH=str(folder))
        return out.splitlines()

    return folder, start, start(), start()


@pytest.mark.parametrize("kind", ["a replaced function", "an array written to", "an edited source"])
def test_a_change_of_the_package_is_seen(package, kind):
    folder, start, first, second = package
    draw, plain, words = first
    assert draw == plain and words == "['made']"
    assert second == [draw, plain, "['read']"]
    if kind == "an edited source":
        path = folder / "gaia_jax" / "setup" / "draw.py"
        text = path.read_text("utf-8")
        path.write_text(text.replace("DRAWS = (", "DRAWS = (\n    'more',"), "utf-8")
        changed = start()
        path.write_text(text, "utf-8")
        assert changed[0] == changed[1] != draw and changed[2] == "['made']"
        return
    changed = start("function" if kind == "a replaced function" else "array")
    assert changed[0] == changed[1] and changed[2] != "['read']"
    if kind == "a replaced function":  # it is of no known module, so nothing is stored of it
        assert changed[0] != draw and changed[2] not in ("['made']", "['read']")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the programs of this test are stored."""
    monkeypatch.setattr(stored_programs, "STARTED", 2**63)
    names = ("jax_compilation_cache_dir", "jax_enable_compilation_cache")
    before = {name: getattr(jax.config, name) for name in names}
    enabled = compilation_cache._enabled
    jax.config.update("jax_enable_compilation_cache", True)
    monkeypatch.delenv(compilation_cache.NO_CACHE, raising=False)
    assert gaia_jax.enable_compilation_cache(tmp_path) == tmp_path
    yield tmp_path / stored_programs.FOLDER
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache._enabled = enabled


@pytest.fixture
def log_words(caplog):
    """The last words of what was logged since the last call: "made", "read", or a reason."""
    caplog.set_level(logging.DEBUG, "gaia_jax.xla.stored_programs")

    def words():
        lines = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return [line.split()[-1] for line in lines]

    return words


def trace(env=None, key=None):
    """Load or export the program that draws a set-up, without compiling it."""
    key = jax.random.key(3) if key is None else key
    stored_programs.env_jit(env or gaia_jax.make(), "draw_setup").lower(key)


def test_a_stored_program_gives_what_jit_gives(folder, log_words):
    keys = jax.random.split(jax.random.key(1), 3)
    expected = jax.jit(jax.vmap(gaia_jax.make().draw_setup))(keys)

    def same(setups, tree=expected):
        jax.tree.map(np.testing.assert_array_equal, setups, tree)

    for word in ("made", "read"):
        program = stored_programs.env_jit(gaia_jax.make(), "draw_setup")
        same(program(keys[0]), jax.tree.map(lambda x: x[0], expected))
        assert log_words() == [word]
    same(jax.jit(jax.vmap(program))(keys))  # inside another program, of another size
    with jax.disable_jit():
        assert program(keys[0]).sector_tile.tolist() == expected.sector_tile[0].tolist()


def test_what_tracing_depends_on_makes_another_program(folder, log_words, monkeypatch):
    trace()
    trace(gaia_jax.make("base"))
    trace(gaia_jax.make(reward="vp"))
    trace(key=jax.random.key(3, impl="rbg"))
    with jax.debug_nans(True):
        trace()
    monkeypatch.setenv("XLA_FLAGS", os.environ.get("XLA_FLAGS", "") + " ")
    trace()
    monkeypatch.setattr(stored_programs, "library_digest", lambda: "another JAX")
    trace()
    assert log_words() == ["made"] * 7


def test_files_that_change_after_the_start_are_not_trusted(folder, log_words, monkeypatch):
    monkeypatch.setattr(stored_programs, "STARTED", 0)
    trace()
    assert log_words() == ["started"] and not folder.exists()


def test_only_shipped_environments_are_stored(folder, log_words):
    class Mine(gaia_jax.GaiaEnv):
        pass

    ruleset = VARIANTS["lost_fleet", 4]
    marked = gaia_jax.make()
    object.__setattr__(marked, "factor", 2)
    for env in (Mine(ruleset), marked):
        assert not stored_programs.is_shipped(env)
        assert not stored_programs.is_shipped(gaia_jax.auto_reset(env))
        stored_programs.env_jit(env, "draw_setup").lower(jax.random.key(0))
    assert log_words() == [] and not folder.exists()
    assert stored_programs.is_shipped(gaia_jax.auto_reset(gaia_jax.make("base", players=2)))


@pytest.mark.parametrize("damage", [lambda x: x[:-9], lambda x: x[:20], lambda x: b"", bytes.upper])
def test_a_damaged_file_is_reported_and_replaced(folder, log_words, capsys, damage):
    trace()
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    trace()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and f"{path} is damaged" in lines[0]
    trace()
    assert log_words() == ["made", "made", "read"]
    assert [x.name for x in folder.iterdir()] == [path.name]


def test_without_room_or_folder_nothing_is_stored(folder, log_words, monkeypatch):
    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    trace()
    assert not any(folder.iterdir())
    monkeypatch.undo()
    monkeypatch.setattr(stored_programs, "STARTED", 2**63)
    folder.rmdir()
    folder.write_text("in the way")
    trace()
    assert folder.read_text() == "in the way"


def test_the_folder_keeps_its_size(folder, log_words, monkeypatch):
    for reward in ("vp", "rank", "win"):
        trace(gaia_jax.make(reward=reward))
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for age, path in enumerate(files):
        os.utime(path, (age, age))
    trace(gaia_jax.make(reward="vp"))
    assert log_words()[-1] == "read"  # so it is not the oldest any more
    size = sum(path.stat().st_size for path in files)
    monkeypatch.setattr(stored_programs, "MAX_BYTES", size + 9)
    trace()
    assert set(files) - set(folder.iterdir()) == {files[1]}


def test_off_with_the_compilation_cache(folder, log_words):
    compilation_cache.disable_compilation_cache()
    trace()
    assert log_words() == [] and not folder.exists()


def test_jit_is_that_of_jax():
    assert gaia_jax.jit is jax.jit


@pytest.mark.slow  # it compiles a step of its own
def test_a_game_is_the_same(folder, log_words, env, init_games, step_games):
    """The real step: made, read, and `jax.jit`, for 60 decisions."""

    def play(init, step):
        states = init(jax.random.split(jax.random.key(0), 16))
        for _ in range(60):
            states = step(states, jnp.argmax(states.legal_action_mask, axis=-1))
        return states

    expected = play(init_games, step_games)
    for word in ("made", "read"):
        programs = (stored_programs.env_jit(env, name, batched=True) for name in ("init", "step"))
        jax.tree.map(np.testing.assert_array_equal, play(*programs), expected)
        assert log_words() == [word, word]
