"""Configurations: overrides, types, ranges, messages."""

from pathlib import Path

import numpy as np
import pytest

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training.config import Config
from training.learn.learner_state import Hyper

pytestmark = pytest.mark.no_compile

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.yaml"
    path.write_text("name: some\nppo: {lr: 1e-3, epochs: 3}\n")
    return path


def test_overrides_win_over_the_file_and_the_file_over_defaults(file):
    config = configs.load(file, ["ppo.lr=3e-4", "track.sink=none", "ppo.epochs=4"])
    assert config.ppo.lr == 3e-4
    assert config.ppo.epochs == 4
    assert config.track.sink == "none"
    assert config.ppo.num_steps == Config().ppo.num_steps
    started = configs.override(config, ["run.warm_start=zoo/quick"])
    assert started.run.warm_start == "zoo/quick"
    assert configs.override(started, ["run.warm_start="]).run.warm_start == ""


def test_the_resolved_configuration_reads_back_equal(file, tmp_path):
    config = configs.load(file)
    (tmp_path / "config.yaml").write_text(configs.to_yaml(config))
    assert configs.load(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ppo.lrr=1", "unknown key 'ppo.lrr'; meant ppo.lr? The choices in ppo are: num_envs, "),
        ("run.zzz=1", "unknown key 'run.zzz'; the choices in run are: updates, updates_per"),
        ("ppo=3", "ppo must be a group of keys, got 3"),
        ("ppo.lr=fast", "ppo.lr must be a number, got 'fast'"),
        ("ppo.epochs=true", "ppo.epochs must be a whole number, got True"),
        ("ppo.normalize_advantage=1", "ppo.normalize_advantage must be true or false, got 1"),
        ("name=[a]", "name must be a text, got ['a']"),
        ("name='a?b'", 'without any of / \\ @ : , * ? " < > |'),
        ("name=a/b", "name must be a plain folder name of 1 to 100 bytes"),
        ("ppo.lr=0", "ppo.lr must be above 0, got 0"),
        ("ppo.lr=.nan", "ppo.lr must be a finite number, got nan"),
        ("seed=-1", "seed must be at least 0, got -1"),
        ("ppo.gae_lambda=2", "ppo.gae_lambda must be at most 1, got 2"),
        ("env.reward=gold", "env.reward must be one of vp, margin, rank, win, got 'gold'"),
        ("ppo.minibatches=7", "ppo.minibatches must divide ppo.num_steps, got 7 and 64"),
        ("ppo.game_blocks=3", "ppo.minibatches must be a multiple of ppo.game_blocks, got 8 and 3"),
        ("network.mixing=attention", "network.cell_width and network.width must be equal"),
        ("ppo.lr", "expected key=value, got 'ppo.lr'"),
        ("ppo.lr=[", "ppo.lr: cannot read the value '['"),
    ],
)
def test_a_wrong_override_is_one_clear_line(file, override, message):
    with pytest.raises(UserError) as error:
        configs.load(file, [override])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(UserError, match="cannot read the configuration .*gone.yaml: No such file"):
        configs.load(tmp_path / "gone.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("ppo: {lr: ]")
    with pytest.raises(UserError, match="broken.yaml is not valid YAML"):
        configs.load(broken)
    broken.write_text("- 1")
    with pytest.raises(UserError, match="must hold a mapping"):
        configs.load(broken)
    broken.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a text file"):
        configs.load(broken)


def test_differences_name_what_a_resumed_run_may_not_change(config):
    longer = configs.override(config, ["run.updates=80", "eval.games=4", "name=other"])
    assert configs.differences(config, longer) == []
    other = configs.override(config, ["ppo.clip=0.1"])
    assert configs.differences(config, other) == ["ppo.clip: 0.2 -> 0.1"]


@pytest.mark.parametrize(("first", "end"), [("lr", "lr_end"), ("entropy_coef", "entropy_end")])
def test_a_first_value_alone_is_a_constant_schedule(first, end, file):
    config = configs.override(Config(), [f"ppo.{first}=5e-4"])
    hyper = Hyper.of(config)
    assert getattr(hyper, end) == getattr(hyper, first) == np.float32(5e-4)
    assert configs.rising_schedules(config) == []
    # The order of overrides does not matter, and null takes back what a file has set.
    file.write_text(f"ppo: {{{end}: 7e-4}}")
    assert getattr(Hyper.of(configs.load(file, [f"ppo.{first}=5e-4"])), end) == np.float32(7e-4)
    constant = configs.load(file, [f"ppo.{end}=null", f"ppo.{first}=5e-4"])
    assert getattr(Hyper.of(constant), end) == np.float32(5e-4)


def test_a_schedule_that_rises_is_named():
    rising = configs.override(Config(), ["ppo.lr=5e-4", "ppo.lr_end=1e-3", "ppo.entropy_end=0"])
    (warning,) = configs.rising_schedules(rising)
    assert "ppo.lr_end 0.001" in warning and "ppo.lr 0.0005" in warning


def test_shipped_configurations_set_both_ends_of_every_schedule():
    for path in [*CONFIGS.glob("*.yaml"), CONFIGS / "studies" / "small.yaml"]:
        config = configs.load(path)
        assert configs.with_ends(config) is config, path
