"""Traced programs on disk: read by a second start, never a stale one, no reason to fail."""

import logging
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gaia_jax
from gaia_jax import rewards
from gaia_jax.xla import compilation_cache, fingerprint, program_cache, program_files, sources
from gaia_jax.xla.compact_vmap import Queue
from gaia_jax.xla.sources import UnknownError

ROOT = Path(__file__).resolve().parents[2]


class Own:
    """What the cache knows nothing of."""

    factor = 2


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the programs of this test lie; also those that are traced at once."""
    monkeypatch.setattr(program_cache, "MIN_SECONDS", 0.0)
    config, names = jax.config, ("jax_compilation_cache_dir", "jax_enable_compilation_cache")
    before = {name: getattr(config, name) for name in names}
    enabled = compilation_cache._enabled
    config.update("jax_enable_compilation_cache", True)
    monkeypatch.delenv(compilation_cache.NO_CACHE, raising=False)
    assert gaia_jax.enable_compilation_cache(tmp_path) == tmp_path
    yield tmp_path / program_cache.FOLDER
    for name, value in before.items():
        config.update(name, value)
    compilation_cache._enabled = enabled


@pytest.fixture
def told(caplog):
    """How often a program was read, made and not kept since it was asked the last time."""
    caplog.set_level(logging.DEBUG, "gaia_jax.xla.program_cache")

    def count():
        lines = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return tuple(sum(w in line for line in lines) for w in (" read in", " made in", "not kept"))

    return count


READ, MADE, NOT_KEPT = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def times(factor, x):
    return x * factor


def many(x, keys):
    """Structures, dtypes and random keys."""
    pair = Queue(x + 1, {"b": [x.astype(jnp.bfloat16)], "a": (None, keys)})
    drawn = jax.vmap(jax.random.uniform)(keys) * x
    return pair, gaia_jax.State(drawn, x, x > 1, x, x, x, x, ruleset="here")


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for one, other in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        if jax.dtypes.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        assert (one.dtype, one.weak_type) == (other.dtype, other.weak_type)
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_a_program_is_read_and_gives_what_jit_gives(folder, told):
    x, keys = jnp.arange(3.0), jax.random.split(jax.random.key(0), 3)
    wanted = jax.jit(many)(x, keys)
    same(gaia_jax.jit(many)(x, keys), wanted)
    assert told() == MADE
    again = gaia_jax.jit(many)
    same(again(x, keys), wanted)
    assert told() == READ
    same(again(x, keys=keys), wanted)  # another structure of arguments
    assert told() == MADE
    form = gaia_jax.jit(many).eval_shape(x, keys)
    assert jax.tree.structure(form) == jax.tree.structure(wanted)
    same(gaia_jax.jit(many).lower(x, keys).compile()(x, keys), wanted)
    assert told() == (2, 0, 0)


@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
def test_keys_of_every_kind(folder, told, kind):
    keys = jax.random.split(jax.random.key(0, impl=kind), 3)
    for times_ in (MADE, READ):
        same(gaia_jax.jit(many)(jnp.ones(3), keys), jax.jit(many)(jnp.ones(3), keys))
        assert told() == times_


def test_what_the_program_depends_on_makes_another(folder, told, monkeypatch):
    x = jnp.ones((2, 3))

    def run(function=None, x=x):
        function = function or partial(times, 2.0)
        got = gaia_jax.jit(function)(x)
        same(got, jax.jit(function)(x))
        return told()

    assert run() == MADE
    assert run() == READ
    assert run(partial(times, 3.0)) == MADE
    array = np.arange(3.0, dtype=np.float32)
    assert run(partial(times, array)) == MADE
    array[0] = 5.0
    assert run(partial(times, array)) == MADE
    assert run(lambda x: x - 1.0) == MADE
    assert run(lambda x: x - 2.0) == MADE
    assert run(lambda x, by=array: x - by) == MADE
    assert run(x=x[0]) == MADE
    assert run(x=x.astype(jnp.float16)) == MADE
    with jax.numpy_rank_promotion("raise"):
        assert run() == MADE
    with jax.threefry_partitionable(False):
        assert run() == MADE
    monkeypatch.setenv("XLA_FLAGS", os.environ.get("XLA_FLAGS", "") + " ")
    assert run() == MADE
    monkeypatch.setattr(sources, "installed", lambda: ["another JAX"])
    assert run() == MADE
    monkeypatch.undo()


def test_what_is_looked_up_in_a_module_counts(folder, told, monkeypatch):
    """Of a script its names; of the packages whatever stands there now."""
    module = {"__name__": "__main__", "rewards": rewards, "by": 2}
    exec("def pay(x):\n    return rewards.reward_by_vp(x, x * by)", module)
    x = jnp.ones(4, jnp.int16)
    for expected in (MADE, READ):
        gaia_jax.jit(module["pay"])(x)
        assert told() == expected
    module["by"] = 3
    gaia_jax.jit(module["pay"])(x)
    assert told() == MADE
    monkeypatch.setattr(rewards, "reward_by_vp", lambda before, after: after - before + 100)
    assert gaia_jax.jit(module["pay"])(x)[0] == 102
    assert told() == MADE


def test_code_that_has_changed_since_the_start_is_not_kept(folder, told, monkeypatch):
    monkeypatch.setattr(sources, "began", 0)
    assert gaia_jax.jit(partial(times, 2.0))(jnp.ones(2))[0] == 2
    assert told() == NOT_KEPT
    assert not folder.exists()


@pytest.mark.parametrize("damage", [lambda x: x[:-9], lambda x: x[:99], lambda x: b"", str.encode])
def test_a_damaged_file_is_said_and_made_anew(folder, told, capsys, damage):
    function, x = partial(times, 2.0), jnp.ones(2)
    gaia_jax.jit(function)(x)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage("nonsense" if damage is str.encode else whole))
    assert gaia_jax.jit(function)(x)[0] == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and f"{path} is damaged" in said[0]
    assert told() == (0, 2, 0)
    gaia_jax.jit(function)(x)
    assert told() == READ
    assert [x.name for x in folder.iterdir()] == [path.name]


def test_without_room_nothing_is_kept(folder, told, monkeypatch):
    def full(self, data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert gaia_jax.jit(partial(times, 2.0))(jnp.ones(2))[0] == 2
    assert told() == MADE
    assert not any(folder.iterdir())
    monkeypatch.undo()


def test_a_folder_that_cannot_be_written(folder, told):
    folder.write_text("in the way")
    assert gaia_jax.jit(partial(times, 2.0))(jnp.ones(2))[0] == 2
    assert folder.read_text() == "in the way"


def test_the_folder_keeps_its_size(folder, told, monkeypatch):
    def run(factor):
        gaia_jax.jit(partial(times, factor))(jnp.ones(2))
        return told()

    assert [run(x) for x in (1.0, 2.0, 3.0)] == [MADE] * 3
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for age, path in enumerate(files):
        os.utime(path, (age, age))
    assert run(1.0) == READ  # which makes it the youngest
    size = sum(path.stat().st_size for path in files)
    monkeypatch.setattr(program_files, "MOST_BYTES", size + 9)
    assert run(4.0) == MADE
    assert files[1] not in folder.iterdir()  # the second was not used for longest
    assert len(list(folder.iterdir())) == 3


def test_off_with_the_other_cache(folder, told, monkeypatch):
    compilation_cache.disable_compilation_cache()
    assert gaia_jax.jit(partial(times, 2.0))(jnp.ones(2))[0] == 2
    jax.config.update("jax_enable_compilation_cache", True)
    monkeypatch.setenv(compilation_cache.NO_CACHE, "1")
    gaia_jax.enable_compilation_cache()
    assert gaia_jax.jit(partial(times, 2.0))(jnp.ones(2))[0] == 2
    assert told() == (0, 0, 0)
    assert not folder.exists()


def test_inside_other_programs_it_is_jit(folder):
    square, x = gaia_jax.jit(lambda x: x * x), jnp.arange(3.0)
    same(jax.vmap(square)(x), x * x)
    assert jax.grad(square)(3.0) == 6
    same(jax.jit(lambda x: jax.lax.map(square, x))(x), x * x)
    with jax.disable_jit():
        same(square(x), x * x)


def test_options_of_jit(folder, told):
    x = jnp.arange(3.0)
    donating = gaia_jax.jit(lambda x: x + 1, donate_argnums=0)
    same(donating(x), jnp.arange(1.0, 4.0))
    assert x.is_deleted()
    assert told() == MADE
    static_ = gaia_jax.jit(lambda x, n: x * n, static_argnums=1)
    assert static_(jnp.ones(2), 3)[0] == 3
    assert told() == (0, 0, 0)


def test_what_cannot_be_kept_is_traced(folder, told, capfd):
    own = Own()
    x = jnp.ones(2)
    assert gaia_jax.jit(lambda x: x * own.factor)(x)[0] == 2
    assert told() == NOT_KEPT

    def talks(x):
        jax.debug.callback(lambda y: None, x)
        return x + 1

    assert gaia_jax.jit(talks)(x)[0] == 2
    assert told() == NOT_KEPT
    same(gaia_jax.jit(lambda: 1.0 * 2)(), jax.jit(lambda: 1.0 * 2)())  # a result of weak type
    assert told() == NOT_KEPT


def test_mistakes_are_those_of_jit(folder):
    def wrong(x):
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="^no such thing"):
        gaia_jax.jit(wrong)(jnp.ones(2))
    with pytest.raises(TypeError, match="state must be a State"):
        gaia_jax.jit(gaia_jax.make().step)(1, 2)


def test_fingerprints_know_what_they_do_not_know():
    assert fingerprint.of({1, 2, 3}) == fingerprint.of({3, 2, 1})
    assert fingerprint.of(gaia_jax.make()) == fingerprint.of(gaia_jax.make())
    others = [gaia_jax.make("base"), gaia_jax.make(reward="vp"), gaia_jax.make(max_steps=9)]
    assert len({fingerprint.of(env) for env in [gaia_jax.make(), *others]}) == 4
    loop = []
    loop.append(loop)
    for value in (Own(), Own, open, loop):
        if value is not open:
            with pytest.raises(UnknownError):
                fingerprint.of(value)


SCRIPT = """
import logging, sys, time
import jax.numpy as jnp, gaia_jax
from gaia_jax import rewards
from gaia_jax.xla import program_cache
logging.basicConfig(stream=sys.stdout, format="%(message)s")
program_cache.log.setLevel("DEBUG")
program_cache.MIN_SECONDS = 0.0
gaia_jax.enable_compilation_cache()
pay = gaia_jax.jit(lambda vp: rewards.reward_by_vp(vp, 2 * vp))
print(pay(jnp.full(4, 50, jnp.int16)))
"""


def test_processes_share_programs_until_a_source_is_edited(tmp_path):
    """Two at once, a third; then with another line in a file of the package."""
    shutil.copytree(ROOT / "gaia_jax", tmp_path / "gaia_jax")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "GAIA_", "XLA_"))}
    env = kept | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(tmp_path)}
    env["JAX_COMPILATION_CACHE_DIR"] = str(tmp_path / "cache")

    def start():
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT], env=env, cwd=tmp_path, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def ended(process):
        said, errors = process.communicate(timeout=300)
        assert process.returncode == 0 and not errors, errors
        *lines, result = said.splitlines()
        return lines, result

    both = [start(), start()]
    results = {ended(process)[1] for process in both}
    lines, result = ended(start())
    assert " read in" in lines[0] and results == {result}
    source = tmp_path / "gaia_jax" / "rewards.py"
    text = source.read_text(encoding="utf-8")
    assert text.count("/ 100") or text.count("100")
    source.write_text(text.replace("def reward_by_vp", "#\n\n\ndef reward_by_vp"), "utf-8")
    lines, again = ended(start())
    assert " made in" in lines[-1] and again == result
    assert len(list((tmp_path / "cache" / "programs").iterdir())) == 2


DEVICES = """
import logging, sys
import jax, jax.numpy as jnp, gaia_jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from gaia_jax.xla import program_cache
logging.basicConfig(stream=sys.stdout, format="%(message)s")
program_cache.log.setLevel("DEBUG")
program_cache.MIN_SECONDS = 0.0
gaia_jax.enable_compilation_cache()
for count in (1, 2):
    mesh = Mesh(jax.devices()[:count], ("games",))
    split, one = NamedSharding(mesh, P("games")), NamedSharding(mesh, P())
    def play(by, x):
        return x * by + jax.lax.axis_index("games"), jax.lax.pmean(x.sum(), "games")
    mapped = jax.shard_map(
        play, mesh=mesh, in_specs=(P(), P("games")), out_specs=(P("games"), P()), check_vma=False
    )
    for jit in (jax.jit, gaia_jax.jit):
        placed = {"in_shardings": (one, split), "out_shardings": (split, one)}
        x = jax.device_put(jnp.arange(4.0), split)
        found, sum_ = jit(mapped, donate_argnums=1, **placed)(jnp.float32(2), x)
        print(count, found, sum_, found.sharding, x.is_deleted())
"""


def test_programs_of_several_devices(tmp_path):
    """One device and two, made and read, beside `jax.jit`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "GAIA_", "XLA_"))}
    env = kept | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    env |= {"JAX_COMPILATION_CACHE_DIR": str(tmp_path), "JAX_NUM_CPU_DEVICES": "2"}
    for word in (" made in", " read in"):
        run = subprocess.run(
            [sys.executable, "-c", DEVICES], env=env, capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        lines = [line for line in run.stdout.splitlines() if " in " not in line]
        assert sum(word in line for line in run.stdout.splitlines()) == 2, run.stdout
        assert lines[0] == lines[1] and lines[2] == lines[3] and len(lines) == 4


@pytest.mark.slow  # it compiles a step of its own
def test_a_game_is_the_same(folder, told, env, init_games, step_games):
    """The real step: made, read, and `jax.jit`, for 60 decisions."""

    def play(init, step):
        states = init(jax.random.split(jax.random.key(0), 16))
        for _ in range(60):
            states = step(states, jnp.argmax(states.legal_action_mask, axis=-1))
        return states

    wanted = play(init_games, step_games)
    for expected in ((0, 2, 0), (2, 0, 0)):
        same(play(*(gaia_jax.jit(jax.vmap(f)) for f in (env.init, env.step))), wanted)
        assert told() == expected
