"""Searches of a sweep: the file, and the trials with a stub of Optuna or Optuna itself."""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import toy_env
from started import params_of

from gaia_jax.cli.command_line import UserError
from training import config as configs
from training import sweep
from training.learn.checkpoint import load_warm_start
from training.run import sweep as run_sweep
from training.run import sweep_file, tuning
from training.run.folder import read_history
from training.run.population import Population
from training.run.sweep_file import Range
from training.system import cli, jobs

SPACE = {"network.layers": [1, 2], "ppo.epochs": {"low": 1, "high": 4},
         "ppo.lr": {"low": 1.0e-4, "high": 1.0e-2, "log": True}}  # fmt: skip
UPDATES = {"run.updates": 4}
TUNE = {"space": SPACE, "trials": 6, "at_once": 2, "opponent": "random", "games": 8}


def ranged(**bounds):
    """A file with a range of one key."""
    return {"tune": {"space": {"ppo.lr": {"low": 1, "high": 2} | bounds}}}


def test_a_trial_is_a_run_with_its_values(write_sweep):
    best = sweep_file.load(write_sweep(name="best", tune=TUNE))
    search = best.tune
    assert (search.trials, search.at_once, search.opponent, search.games) == (6, 2, "random", 8)
    rates, epochs = Range(low=1e-4, high=1e-2, log=True), Range(low=1, high=4)
    assert search.space == {"ppo.lr": rates, "network.layers": [1, 2], "ppo.epochs": epochs}
    assert search.space["ppo.epochs"].is_whole and not search.space["ppo.lr"].is_whole
    config = best.trial(3, {"ppo.lr": 0.002, "network.layers": 2})
    assert config.name == "best-trial-0003" and config.ppo.lr == 0.002
    assert config.network.layers == 2 and config.seed == 0


@pytest.mark.parametrize("path", ["configs/studies/search.yaml", "configs/studies/population.yaml"])
def test_the_shipped_searches_read(path):
    file = sweep_file.load(Path(path))
    assert file.trial(0, {key: 64 if key == "network.width" else 0.001 for key in file.tune.space})


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"tune": {}}, "tune.space: Field required"),
        ({"tune": {"space": {}}}, "tune.space: Dictionary should have at least 1 item"),
        ({"tune": {"space": {"ppo.lr": 0.1}}}, "space.ppo.lr: give the whole key, with a list of"),
        ({"tune": {"space": {"ppo": {"lr": [1]}}}}, "space.ppo: give the whole key, with a list"),
        ({"tune": {"space": {"ppo.lr": []}}}, "low and high, got []"),
        ({"tune": {"space": {"ppo.lr": {"low": 1}}}}, "low and high, got {'low': 1}"),
        (ranged(low="a"), "tune.space.ppo.lr: low must be a number, got 'a'"),
        (ranged(low="1"), "tune.space.ppo.lr: low must be a number, got '1'"),
        (ranged(low=True), "tune.space.ppo.lr: low must be a number, got True"),
        (ranged(high=math.inf), "tune.space.ppo.lr: high must be a finite number, got inf"),
        (ranged(high=10**400), "tune.space.ppo.lr: high must be a number, got a number of many"),
        (ranged(log="no"), "tune.space.ppo.lr: log must be true or false, got 'no'"),
        (ranged(log=None), "tune.space.ppo.lr: log must be true or false, got None"),
        (ranged(log=1), "tune.space.ppo.lr: log must be true or false, got 1"),
        (ranged(lg=1), "ppo.lr: unknown key 'lg'; meant log? The choices are: low, high, log"),
        (ranged(**{"3": 1}), "ppo.lr: unknown key '3'; the choices are: low, high, log"),
        (ranged(low=3), "tune.space.ppo.lr: low must be at most high, got 3 and 2"),
        (ranged(low=0, log=True), "at most high, and above 0 with log: true, got 0 and 2"),
        ({"tune": TUNE | {"trials": "many"}}, "tune.trials must be a whole number, got 'many'"),
        ({"tune": TUNE | {"games": 0}}, "tune.games must be at least 1, got 0"),
        ({"tune": TUNE | {"opponent": [3]}}, "tune.opponent must be a text, got [3]"),
        ({"tune": TUNE | {"trial": 3}}, "unknown key 'tune.trial'; meant tune.trials? The choices"),
        ({"tune": TUNE | {"method": "grid"}}, "tune.method must be one of tpe, population, got"),
        ({"tune": TUNE | {"method": "population", "at_once": 4}}, "at least 2 and divide trials"),
        ({"tune": TUNE | {"method": "population"}}, "ppo and recipe, not network.layers"),
        ({"tune": TUNE, "seeds": [1]}, "a search, tune, cannot have seeds"),
    ],
)
def test_a_wrong_search_is_one_line(write_sweep, capsys, tree, message):
    code = cli.run(lambda: sweep.main([str(write_sweep(**tree))], toy_env))
    err = capsys.readouterr().err
    assert code == 2 and message in err and err.count("\n") == 1


class Study:
    """In the place of Optuna's: proposes the last told score, so that the order is visible."""

    told: list = []

    def ask(self):
        number = len(self.told)
        return SimpleNamespace(
            suggest_categorical=lambda key, values: values[number % 2],
            suggest_float=lambda key, low, high, log: low if log else high,
            suggest_int=lambda key, low, high, log: min(low + number, high),
        )

    def tell(self, trial, score):
        self.told.append(score)


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.setattr(Study, "told", [])
    optuna = SimpleNamespace(
        create_study=lambda direction, sampler: Study(),
        logging=SimpleNamespace(set_verbosity=lambda level: None, WARNING=0),
        samplers=SimpleNamespace(TPESampler=lambda seed: seed),
    )
    monkeypatch.setitem(sys.modules, "optuna", optuna)


def trained(name, runs, env_module, on, score):
    """The scores of runs, in the place of `train_all`; trial 3 fails until a file is there."""
    assert name == "best" and score == ("random", 8)
    done = [run for run in runs if not run.name.endswith("3") or Path("mended").exists()]
    return 0, [{"run": run.name, "vp_difference": float(run.ppo.epochs)} for run in done]


def run_search(file):
    return tuning.tune(file, file.tune, toy_env, jobs.LOCAL)


def test_trials_are_scored_before_the_next_are_proposed(write_sweep, stub, monkeypatch, capsys):
    monkeypatch.setattr(run_sweep, "train_all", trained)
    search = sweep_file.load(write_sweep(name="best", tune=TUNE))
    Path("mended").touch()
    assert run_search(search) == 0
    assert Study.told == [1.0, 1.0, 3.0, 3.0, 4.0, 4.0]
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == (
        "best-trial-0005  +4.0 VP  network.layers=1, ppo.epochs=4, ppo.lr=0.0001"
    )
    assert err == ""


def test_a_failed_trial_ends_the_search_and_the_same_command_continues_it(
    write_sweep, stub, monkeypatch, capsys
):
    monkeypatch.setattr(run_sweep, "train_all", trained)
    search = sweep_file.load(write_sweep(name="best", tune=TUNE))
    assert run_search(search) == 1
    assert Study.told == [1.0, 1.0]
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3 and err.startswith("a trial failed: the same command")
    Path("mended").touch()
    Study.told.clear()
    assert run_search(search) == 0
    assert Study.told == [1.0, 1.0, 3.0, 3.0, 4.0, 4.0]


def test_an_unknown_opponent_is_named_before_the_first_trial(write_sweep, stub, monkeypatch):
    monkeypatch.setattr(run_sweep, "train_all", lambda *_: pytest.fail("a run has begun"))
    search = sweep_file.load(write_sweep(tune=TUNE | {"opponent": "greddy"}))
    with pytest.raises(UserError, match="tune.opponent: unknown agent 'greddy'"):
        run_search(search)


def test_without_optuna_it_says_which_extra(write_sweep, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    search = sweep_file.load(write_sweep(tune=TUNE))
    with pytest.raises(UserError, match=r'needs Optuna: pip install "gaia_jax\[tune\]"'):
        run_search(search)


def test_optuna_proposes_the_same_trials_again(write_sweep, monkeypatch, capsys):
    """So that an interrupted search continues with its own runs."""
    pytest.importorskip("optuna", reason='needs Optuna: pip install "gaia_jax[tune]"')
    proposed = []

    def note(name, runs, *rest):
        proposed.append(runs)
        return trained(name, runs, *rest)

    monkeypatch.setattr(run_sweep, "train_all", note)
    Path("mended").touch()
    search = sweep_file.load(write_sweep(name="best", tune=TUNE))
    for _ in range(2):
        run_search(search)
    assert proposed[:3] == proposed[3:]
    rates = [config.ppo.lr for batch in proposed[:3] for config in batch]
    assert len(set(rates)) == 6 and all(1e-4 <= rate <= 1e-2 for rate in rates)
    assert {config.network.layers for batch in proposed for config in batch} == {1, 2}


RATES = {"ppo.epochs": [1, 2, 4], "ppo.lr": {"low": 1.0e-4, "high": 1.0, "log": True}}
POPULATION = TUNE | {"method": "population", "space": RATES, "trials": 12, "at_once": 4}


def test_the_worst_of_a_population_continues_the_best(write_sweep, monkeypatch, capsys):
    """Scores are the rates, so that the least rate loses in each of the three generations."""
    generations = []

    def trained(name, runs, *_):
        generations.append(runs)
        return 0, [{"run": run.name, "vp_difference": run.ppo.lr} for run in runs]

    monkeypatch.setattr(run_sweep, "train_all", trained)
    changes = {"run.warm_start_temperature": 0.3}
    search = sweep_file.load(write_sweep(name="best", set=changes, tune=POPULATION))
    assert run_search(search) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("best-trial-")
    first, second, third = generations
    assert [config.seed for config in first + second + third] == list(range(12))
    assert not any(config.run.warm_start for config in first)
    assert len({config.ppo.lr for config in first}) == 4
    for number, (before, after) in enumerate([(first, second), (second, third)]):
        rates = [config.ppo.lr for config in before]
        best, worst = rates.index(max(rates)), rates.index(min(rates))
        for member, config in enumerate(after):
            parent = best if member == worst else member
            assert config.run.warm_start == f"runs/best-trial-{4 * number + parent:04}"
            assert config.run.warm_start_temperature == 1, "a policy is not sharpened again"
            if member != worst:
                assert config.ppo == before[member].ppo
        factor = after[worst].ppo.lr / max(rates)
        assert factor in (pytest.approx(0.8, rel=1e-3), pytest.approx(1.25, rel=1e-3))
    assert run_search(search) == 0
    assert generations[3:] == [first, second, third]  # the same command continues


@pytest.mark.parametrize(
    ("value", "bounds", "expected"),
    [
        (1.0, {"low": 0.05, "high": 1}, {0.8, 1.0}),  # a whole bound of a range of real numbers
        (0.04, {"low": 0, "high": 0.05}, {0.032, 0.05}),
        (1, {"low": 1, "high": 8}, {1, 2}),
        (2, {"low": 1, "high": 8}, {1, 3}),
        (8, {"low": 1, "high": 8}, {6, 8}),
    ],
)
def test_a_value_of_a_population_changes_within_its_range(write_sweep, value, bounds, expected):
    search = Population(sweep_file.load(write_sweep(name="best", tune=POPULATION)).tune.space, 0)
    perturbed = [search._perturb(value, Range(**bounds)) for _ in range(20)]
    assert set(perturbed) == expected
    assert {type(x) for x in perturbed} == {type(value)}


@pytest.mark.slow
def test_a_population_learns_in_runs_that_continue_each_other(write_sweep):
    """Two generations of two members of the toy game. About a minute."""
    tune = POPULATION | {"trials": 4, "at_once": 2}
    search = sweep_file.load(
        write_sweep(name="best", set={"run.updates": 4, "eval.games": 0}, tune=tune)
    )
    assert run_search(search) == 0
    env = toy_env.make("toy")
    for number in (2, 3):
        run = configs.load(Path(f"runs/best-trial-000{number}/config.yaml")).run.warm_start
        assert run in ("runs/best-trial-0000", "runs/best-trial-0001")
        start = load_warm_start(run, env)
        first_line = read_history(Path(f"runs/best-trial-000{number}"))[0]
        assert start.name == first_line["warm_start"] == f"{run}@4"
        leaves = jax.tree.leaves(start.params)
        learned = np.concatenate([np.ravel(x) for x in leaves])
        assert np.array_equal(learned, params_of(Path(run), 4))


@pytest.mark.slow
def test_a_run_is_scored_by_games_against_the_opponent(write_sweep):
    tree = configs.to_dict(sweep_file.load(write_sweep(name="best", tune=TUNE)).trial(0, UPDATES))
    run_sweep.RUNS.mkdir()
    result = json.loads(run_sweep.train_run(tree, "best", "toy_env", ("random", 8)))
    assert result["run"] == "best-trial-0000" and isinstance(result["vp_difference"], float)
