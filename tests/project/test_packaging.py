"""What an install brings: declared dependencies, a light import, a wheel, a whole sdist."""

import ast
import importlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

import gaia_jax
from tools import try_installs

ROOT = Path(__file__).resolve().parents[2]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = WHOLE["project"]
CONFIGS = {f"configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
# Where the name of the distribution is not that of the module.
MODULES = {"orbax-checkpoint": "orbax", "pyyaml": "yaml", "tensorboardX": "tensorboardX"}


def names(requirements):
    """Distributions, those of the own extras included."""
    distributions = set()
    for requirement in requirements:
        name, extras = re.fullmatch(r"([\w-]+)(?:\[([\w,]+)\])?.*", requirement).groups()
        if name == "gaia_jax":
            for extra in extras.split(","):
                distributions |= names(PROJECT["optional-dependencies"][extra])
        else:
            distributions.add(name)
    return distributions


def modules(requirements):
    return {MODULES.get(name, name.replace("-", "_")) for name in names(requirements)}


def imported(folder, but=()):
    """Top-level modules that are not of the standard library nor of the project."""
    paths = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        if any(part in path.relative_to(ROOT / folder).parts for part in but):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            for name in names:
                paths.setdefault(name.split(".")[0], path.relative_to(ROOT))
    own = {"gaia_jax", "gaia_training", "training", "benchmarks", "tests", "tools"}
    own |= {path.stem for path in (ROOT / folder).rglob("*.py")}  # neighbours of a script
    return {k: v for k, v in paths.items() if k not in own | sys.stdlib_module_names}


CORE, EXTRAS = modules(PROJECT["dependencies"]), PROJECT["optional-dependencies"]


def test_the_environment_needs_jax_and_numpy_alone():
    assert CORE == {"jax", "numpy"}
    assert imported("gaia_jax", but=["adapters", "data.py"]).keys() <= CORE


@pytest.mark.parametrize(
    ("folder", "extras"),
    [
        ("gaia_jax", ["adapters", "data"]),
        ("training", ["data", "play", "ray", "tune", "wandb"]),
        ("benchmarks", ["bench"]),
        ("tests", ["dev", "adapters", "ray"]),
        ("examples", ["dev"]),
    ],
)
def test_what_is_imported_is_declared(folder, extras):
    declared = CORE | modules([f"gaia_jax[{','.join(extras)}]"])
    if folder == "examples":
        declared |= {"torch", "grain"}  # of loaders.py, for programs that use them
    unknown = {k: v for k, v in imported(folder).items() if k not in declared}
    assert not unknown


def test_the_core_has_floors_and_no_caps():
    """A cap on JAX or numpy would keep users from the versions that their own project needs."""
    assert not [x for x in PROJECT["dependencies"] if re.search(r"<|==|~=", x)]


def test_the_version_is_a_version_and_cited():
    assert re.fullmatch(r"\d+\.\d+\.\d+", gaia_jax.__version__)
    assert f"\nversion: {gaia_jax.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


LIGHT = """
import sys, time
started = time.process_time()
import jax
before, began = set(sys.modules), time.process_time()
import gaia_jax, gaia_jax.adapters
gaia_jax.make("lost_fleet")
share = (time.process_time() - began) / (began - started)
from jax._src import xla_bridge
heavy = {"flax", "optax", "orbax", "chex", "pgx", "pettingzoo", "gymnasium", "jaxmarl", "starlette",
         "training", "yaml", "tqdm"}
import gaia_jax.replay
assert not xla_bridge._backends, "a device was touched"
loaded = {name.split(".")[0] for name in set(sys.modules) - before}
assert not loaded & heavy, loaded & heavy
print(share)
"""


def test_an_import_is_light():
    """It takes less than `import jax` itself, in processor time: the machine may be busy."""
    run = [sys.executable, "-c", LIGHT]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [
        ("adapters.gymnasium", "gymnasium", "adapters"),
        ("adapters.jaxmarl", "jaxmarl", "adapters"),
        ("adapters.pettingzoo", "pettingzoo", "adapters"),
        ("adapters.pgx", "pgx", "adapters"),
        ("data", "pyarrow", "data"),
    ],
)
def test_the_error_of_a_missing_library_names_its_extra(monkeypatch, module, library, extra):
    monkeypatch.delitem(sys.modules, f"gaia_jax.{module}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    for loaded in [name for name in sys.modules if name.startswith(f"{library}.")]:
        monkeypatch.setitem(sys.modules, loaded, None)
    with pytest.raises(ModuleNotFoundError, match=rf'pip install "gaia_jax\[{extra}\]"'):
        importlib.import_module(f"gaia_jax.{module}")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist."""
    out = tmp_path_factory.mktemp("dist")
    run = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out)]
    subprocess.run(run, cwd=ROOT, check=True, capture_output=True)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def test_names_of_the_trainer_are_named_where_a_wheel_has_them():
    brought = WHOLE["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"].values()
    with pytest.raises(AttributeError) as error:
        gaia_jax.make_baseline_model  # noqa: B018
    (module,) = re.findall(r"`import (\w+)`", str(error.value))
    assert module in brought and f"{module}.make_baseline_model" in str(error.value)
    assert hasattr(importlib.import_module(module), "make_baseline_model")


def test_every_configuration_is_named_for_the_wheel():
    """Its files are listed one by one; building it to see takes too long for each run."""
    assert set(WHOLE["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]) >= CONFIGS


def test_an_editable_install_copies_no_module(tmp_path):
    """Changes of the clone reach `gaia` without another installation."""
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["editable"])
    with zipfile.ZipFile(path) as wheel:
        files = [name for name in wheel.namelist() if ".dist-info/" not in name]
        assert files == ["_gaia_jax.pth"]
        assert Path(wheel.read(files[0]).decode().strip()) == ROOT


@pytest.mark.slow
def test_the_wheel_has_both_packages_and_no_other_name(built):
    with zipfile.ZipFile(built[0]) as wheel:
        files = [name for name in wheel.namelist() if ".dist-info/" not in name]
    assert {name.split("/")[0] for name in files} == {"gaia_jax", "gaia_training"}
    assert {"gaia_jax/py.typed", "gaia_training/py.typed"} <= set(files)
    agents = sum(path.stat().st_size for path in (ROOT / "training/zoo").glob("*.npz"))
    assert built[0].stat().st_size < agents + 2**19
    clone = {p.relative_to(ROOT / "training").as_posix() for p in (ROOT / "training").rglob("*")}
    inside = {name.removeprefix("gaia_training/") for name in files if "/shipped/" not in name}
    missing = {name for name in clone - inside if (ROOT / "training" / name).is_file()}
    assert not {name for name in missing if "__pycache__" not in name}
    shipped = {name.partition("/shipped/")[2] for name in files if "/shipped/" in name}
    launchers = {f"configs/cluster/{path.name}" for path in (ROOT / "configs/cluster").iterdir()}
    assert CONFIGS | launchers | {"docs/records/lost_fleet.json"} <= shipped


INSTALLED = """
import sys
sys.path.insert(0, {wheel!r})
import gaia_training
from gaia_training import config, zoo
from gaia_training.__main__ import main
assert "training" not in sys.modules and {wheel!r} in gaia_training.__file__
assert zoo.about("zoo/strong")["env"] == "lost_fleet"
assert config.load("configs/quick.yaml").name == "quick"
assert main(["--version"]) == 0
"""


@pytest.mark.slow
def test_the_wheel_works_in_another_folder(built, tmp_path):
    """As pip would unpack it; what it needs is that of this environment."""
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(tmp_path / "site")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", INSTALLED.format(wheel=str(tmp_path / "site"))],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gaia_jax ")


def test_no_import_inside_the_trainer_says_its_own_name():
    """It is `training` in a clone and `gaia_training` where it is installed."""
    wrong = []
    for path in sorted((ROOT / "training").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [x.name for x in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            wrong += [f"{path}: {x}" for x in names if x.split(".")[0] == "training"]
    assert not wrong
    done = subprocess.run(
        [sys.executable, "-m", "gaia_training", "--version"], cwd=ROOT, capture_output=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_sdist_is_whole(built):
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("no git checkout: what the sdist should have is not known")
    with tarfile.open(built[1]) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    missing = set(tracked.stdout.split("\n")) - files
    missing -= {"", ".gitignore"}
    assert not {name for name in missing if (ROOT / name).is_file()}


def test_the_trial_of_an_sdist_runs_its_tests_that_compile_nothing(tmp_path, monkeypatch):
    test = "import pytest\n@pytest.mark.no_compile\ndef test_a(): pass\ndef test_b(): pass\n"
    (tmp_path / "test_it.py").write_text(test)
    with tarfile.open(tmp_path / "it-1.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "test_it.py", "it-1/test_it.py")
    monkeypatch.setattr(try_installs, "build", lambda *_: (None, tmp_path / "it-1.tar.gz"))
    monkeypatch.setattr(try_installs, "install", lambda *_: sys.executable)
    summary = try_installs.try_sdist(tmp_path, "", False)
    assert summary.startswith("1 passed, 1 deselected")


@pytest.mark.parametrize("command", ["gaia_jax.replay x", "training.train", "training.play"])
def test_ctrl_c_while_a_command_is_imported_is_one_line(command, tmp_path):
    (tmp_path / "jax.py").write_text("raise KeyboardInterrupt")
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == "interrupted\n" and done.returncode != 0
