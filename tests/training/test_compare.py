"""Comparison of runs: experiments, interquartile means, bands, the page."""

import json
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from gaia_jax.cli import outputs
from training import compare
from training.run import curves
from training.stats import aggregate
from training.system import cli

STEPS = 1024
SVG = "{http://www.w3.org/2000/svg}"


def run_folder(path, seed, lr, level, updates=20, evaluated=True):
    """A run whose VP climb to `level`, with two opponents."""
    path.mkdir()
    tree = {"name": path.name, "seed": seed, "ppo": {"lr": lr}}
    (path / "config.yaml").write_text(yaml.safe_dump(tree))
    lines = []
    for update in range(1, updates + 1):
        vp = level * update / updates
        lines.append({"update": update, "time/decisions": STEPS * update, "games/vp": vp})
        if update % 5 == 0:
            for number, opponent in enumerate(("random", "greedy")):
                name = f"evaluation/{opponent}/vp_difference"
                lines.append({"update": update, name: vp - 10 * number})
    (path / "metrics.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    if evaluated:
        for number, opponent in enumerate(("random", "greedy")):
            mean = level - 10 * number
            result = {"mean": mean, "low": mean - 1, "high": mean + 1}
            report = {"opponent": opponent, "vp": {"policy": result}, "vp_difference": result,
                      "win_share": {"policy": result}}  # fmt: skip
            (path / f"evaluation-{number + 1}.json").write_text(json.dumps(report))
    return path


@pytest.fixture
def folders(tmp_path):
    levels = {"fast-0": 60.0, "fast-1": 64.0, "fast-2": 68.0, "slow-0": 40.0, "slow-1": 44.0}
    return [
        run_folder(tmp_path / name, int(name[-1]), 1e-3 if "fast" in name else 1e-4, level)
        for name, level in levels.items()
    ]


def test_iqm_is_the_mean_of_the_middle_half():
    assert aggregate.iqm(np.arange(8.0)) == pytest.approx(3.5)
    assert aggregate.iqm(np.array([-100.0, 1, 2, 100])) == pytest.approx(1.5)
    assert aggregate.iqm(np.array([7.0])) == 7
    # Of five: a quarter is one and a quarter of them.
    want = (0.75 * 2 + 3 + 0.75 * 4) / 2.5
    assert aggregate.iqm(np.array([9.0, 2, 3, 4, 1])) == pytest.approx(want)
    assert aggregate.iqm(np.array([[0.0, 1, 2, 3], [4, 5, 6, 7]])).tolist() == [1.5, 5.5]


def test_the_band_holds_the_truth():
    """Ten runs of three tasks: about 95 of 100 intervals hold the interquartile mean of all."""
    rng = np.random.default_rng(0)
    means = np.array([0.0, 5.0, 9.0])
    truth = aggregate.iqm((means + rng.normal(0, 2, (200_000, 3))).ravel())
    hits = 0
    for seed in range(100):
        low, high = aggregate.bootstrap(means + rng.normal(0, 2, (10, 3)), 400, seed)
        hits += low <= truth <= high
    assert hits >= 84  # a bootstrap of ten is a little narrow
    assert np.isnan(aggregate.bootstrap(np.zeros((1, 3)))).all()


def test_runs_of_one_configuration_are_one_experiment(folders):
    experiments = curves.experiments([curves.read(path) for path in folders])
    assert [(e.name, len(e.runs)) for e in experiments] == [("fast", 3), ("slow", 2)]
    assert curves.differences(experiments) == {"ppo.lr": [1e-3, 1e-4]}


def test_curves_and_strength_are_those_of_the_runs(folders):
    fast, slow = curves.experiments([curves.read(path) for path in folders])
    line = curves.curve(fast, "games/vp", "time/decisions")
    assert line.x[0] == STEPS and line.x[-1] == 20 * STEPS
    assert line.y[-1] == pytest.approx(aggregate.iqm(np.array([60.0, 64, 68])))
    assert line.band[-1, 0] <= line.y[-1] <= line.band[-1, 1]
    # Both opponents are tasks; the evaluations' x is that of the update before them.
    line = curves.curve(slow, "evaluation/*/vp_difference", "time/decisions")
    assert line.x[0] == 5 * STEPS
    assert line.y[-1] == pytest.approx(aggregate.iqm(np.array([40.0, 30, 44, 34])))
    assert curves.curve(fast, "no/such", "update") is None
    rows = curves.strength([fast, slow])
    assert rows[0]["vp"]["iqm"] == pytest.approx(
        aggregate.iqm(np.array([60.0, 50, 64, 54, 68, 58]))
    )
    assert rows[0]["opponents"] == ["greedy", "random"]


def test_the_page_is_whole(folders, tmp_path, capsys):
    out = tmp_path / "compare.html"
    svg = tmp_path / "first.svg"
    arguments = [*map(str, folders), "--out", str(out), "--svg", str(svg)]
    assert cli.run(lambda: compare.main(arguments)) == 0
    text = out.read_text()
    assert svg.read_text().removeprefix(outputs.COMMENT) in text and "20,480 / 20,480" in text
    assert "ppo.lr" in text and "fast-0" in text and "Final strength" in text
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    charts = re.findall(r"<svg.*?</svg>", text, re.S)
    assert len(charts) == 2
    for drawn in charts:
        texts = [x.text for x in ElementTree.fromstring(drawn).iter(f"{SVG}text")]
        assert {"fast", "slow", "decisions"} <= set(texts)
    output = capsys.readouterr()
    assert "fast: 3 runs" in output.out and "fast-1: 20,480 decisions, nan minutes" in output.out
    assert output.err == f"wrote {out}\nwrote {svg}\n"


def test_minutes_are_those_of_training_and_the_last_tenth_is_weighed_by_games(tmp_path):
    path = run_folder(tmp_path / "one-0", 0, 1e-3, 50.0)
    lines = [json.loads(x) for x in (path / "metrics.jsonl").read_text().splitlines()]
    for record in lines:
        if "games/vp" in record:
            record["time/decisions_per_second"] = STEPS / 30  # half a minute each
            record["games/ended"] = 3 * record["update"] - 56  # 1 and 4 in the last two
    (path / "metrics.jsonl").write_text("".join(json.dumps(x) + "\n" for x in lines))
    run = curves.read(path)
    decisions, minutes, vp = curves.lengths(run)
    assert (decisions, minutes) == (20 * STEPS, pytest.approx(10))
    assert vp == pytest.approx((47.5 + 4 * 50) / 5)
    line = curves.curve(curves.Experiment("one", [run]), "games/vp", curves.X["minutes"])
    assert line.x[0] == pytest.approx(0.5) and line.x[-1] == pytest.approx(10)


def test_one_run_has_no_band_and_the_interval_of_its_games(tmp_path):
    alone = run_folder(tmp_path / "alone", 0, 1e-3, 50.0)
    (alone / "evaluation-2.json").unlink()
    (experiment,) = curves.experiments([curves.read(alone)])
    assert np.isnan(curves.curve(experiment, "games/vp", "update").band).all()
    (row,) = curves.strength([experiment])
    assert row["vp"] == {"iqm": 50.0, "low": 49.0, "high": 51.0}


def test_an_evaluation_of_one_setup_has_no_interval(tmp_path):
    alone = run_folder(tmp_path / "alone", 0, 1e-3, 50.0)
    (alone / "evaluation-2.json").unlink()
    path = alone / "evaluation-1.json"
    path.write_text(path.read_text().replace("49.0", "null").replace("51.0", "null"))
    (row,) = curves.strength(curves.experiments([curves.read(alone)]))
    assert row["vp"]["iqm"] == 50 and curves.with_interval(row["vp"], 1) == "50.0"


def test_a_run_without_all_evaluations_is_reported(tmp_path, capsys):
    folders = [run_folder(tmp_path / f"x-{seed}", seed, 1e-3, 50.0) for seed in (0, 1)]
    (folders[1] / "evaluation-2.json").unlink()
    args = [*map(str, folders), "--out", str(tmp_path / "compare.html"), "--metric", "none"]
    assert cli.run(lambda: compare.main(args)) == 0
    assert "x: 2 runs, evaluations are incomplete" in capsys.readouterr().out


def test_without_matplotlib_the_install_command_is_named(folders, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    args = [*map(str, folders), "--out", str(tmp_path / "compare.html")]
    assert cli.run(lambda: compare.main(args)) == 2
    err = capsys.readouterr().err
    assert 'pip install "gaia_jax[plots]"' in err and err.count("\n") == 1
    assert not (tmp_path / "compare.html").exists()


def test_mistakes_are_one_line(folders, tmp_path, capsys):
    empty = run_folder(tmp_path / "empty", 0, 1e-3, 1.0, updates=0)
    for args, message in [
        ([tmp_path / "none"], "no config.yaml"),
        ([empty], "no records yet"),
        ([folders[0], folders[0]], "named twice"),
        ([folders[0], "--out", tmp_path / "gone" / "x.html"], "does not exist"),
    ]:
        code = cli.run(lambda args=args: compare.main([str(x) for x in args]))
        err = capsys.readouterr().err
        assert code == 2 and message in err and err.count("\n") == 1
