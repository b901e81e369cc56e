"""`python -m training.study`: its tables, the Parquet file, and the JSON of answers."""

import json

import pytest
from exported import FACE, GAMES, command, pq

from gaia_jax import ruleset as rules
from gaia_jax.cli import outputs
from training.games import dataset
from training.stats import effects
from training.study import __main__ as study
from training.study import questions, report, results_file, vocabulary
from training.study.game_table import load
from training.system import cli


def study_of(*args):
    return cli.run(lambda: study.main([str(x) for x in args], FACE))


@pytest.mark.usefixtures("small_datasets")
def test_tables_of_a_dataset(full_export, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "docs"
    before = {path: path.read_bytes() for path in full_export.iterdir()}
    assert study_of(full_export, "--out", out) == 0, capsys.readouterr().err
    text = (out / "findings.md").read_text()
    assert "| this dataset | 48 | 12 |" in text and "use the first 48 games" in text
    # 12 deals cannot separate 14 boosters.
    assert "## Boosters in play\n\nNo effect has an interval: too few games." in text
    assert "## Passing one place later\n\nNo effect has an interval: too few games." in text
    assert "percentile 90" in text.split("## Planets near home\n\n")[1].split("##")[0]
    # The same data, the same tables; the decisions are derived once.
    repeated = tmp_path / "again"
    assert study_of(full_export, "--out", repeated) == 0
    assert "is there" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in full_export.iterdir()} == before
    assert (repeated / "findings.md").read_bytes() == (out / "findings.md").read_bytes()
    assert study_of(full_export, "--out", repeated, "--decided", 20, "--page", "few") == 0
    assert "use the first 20 games" in (repeated / "few.md").read_text()
    (copy,) = (tmp_path / "runs" / "study").glob("*_20")
    assert json.loads((copy / dataset.ABOUT).read_text())["parts"][0]["games"] == 20
    assert (repeated / "few" / report.PARQUET).exists()


def test_the_games_are_copied_by_one_process_at_a_time(full_export, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    digest = dataset.read_about(full_export)["files"][dataset.GAMES]["sha256"]
    folder = tmp_path / study.OUT / f"{digest[:16]}_48"
    folder.mkdir(parents=True)
    with outputs.folder_lock(folder):
        assert study_of(full_export, "--out", tmp_path / "docs") == 2
    assert "in use by another process" in capsys.readouterr().err
    assert not any(folder.iterdir())


@pytest.mark.usefixtures("small_datasets")
def test_answers_of_another_agent_are_a_column(full_export, tmp_path, capsys):
    """`--figures`, then `--beside`."""
    stored = tmp_path / "before.json"
    assert study_of(full_export, "--figures", stored) == 0
    args = [full_export, "--out", tmp_path, "--games-only", "--beside", stored]
    assert study_of(*args) == 0, capsys.readouterr().err
    text = (tmp_path / "findings.md").read_text()
    assert "| other agent | 48 | 12 |" in text and "skipped (`--games-only`)" in text
    section = text[text.index(f"## {questions.TITLES['seats']}") :]
    seats = json.loads(stored.read_text())["figures"]["seats"]
    for name, *numbers, size, _ in seats:
        (line,) = [
            x
            for x in section.splitlines()
            if x.startswith(f"| {vocabulary.TURN_ORDER_NAMES[name]} |")
        ]
        number = f"{numbers[0]:+.2f} ({numbers[1]:+.2f} to {numbers[2]:+.2f})"
        cells = [cell.strip(" *") for cell in line.split("|")]
        assert cells[2:5] == [number, f"{size:,}", number]
    rows = pq.read_table(tmp_path / "findings" / report.PARQUET).to_pylist()
    assert {row["agents"] for row in rows} == {"here", "before"}
    for agents in ("here", "before"):
        ids = {r["id"] for r in rows if (r["agents"], r["question"]) == (agents, "seats")}
        assert ids == {name for name, *_ in seats}
    stored.write_text(stored.read_text().replace(results_file.FORMAT, "x"))
    assert study_of(*args) == 2
    assert "has no format" in capsys.readouterr().err


@pytest.mark.usefixtures("small_datasets")
def test_games_of_one_set_up_have_no_intervals(tmp_path, capsys):
    """A report lists what has no interval by nature alone, `board_counts`."""
    data = tmp_path / "data"
    assert command(capsys, *GAMES, "--games", 4, "--out", data)[0] == 0
    assert study_of(data, "--out", tmp_path, "--games-only") == 0, capsys.readouterr().err
    assert "| this dataset | 4 | 1 |" in (tmp_path / "findings.md").read_text()
    rows = pq.read_table(tmp_path / "findings" / report.PARQUET).to_pylist()
    assert [(row["question"], row["name"]) for row in rows] == [
        ("board_counts", "percentile 10"), ("board_counts", "percentile 90"),
    ]  # fmt: skip


def test_small_families_are_adjusted_jointly():
    """An effect that is significant in its own family need not be in the joint family."""
    table, ruleset = load("docs/sample"), rules.RULESETS["lost_fleet"]
    answers = questions.answer_for_games(table, ruleset)
    families = [answers[f"in_play_{key}"] for key in questions.JOINT_FAMILY]
    jointly = [e for family in families for e in family]
    assert jointly == effects.adjust_jointly(jointly) and len(jointly) == 57
    alone = [e for family in families for e in effects.adjust_jointly(family)]
    assert sum(e.significant for e in alone) > sum(e.significant for e in jointly)
    low, high = (e.estimate for e in answers["board_counts"])
    assert 5 < low < high and 0 < answers["board"][0].size < 8192


def test_ids_have_plain_distinct_names():
    words = vocabulary.Vocabulary(rules.RULESETS["lost_fleet"])
    expected = {
        ("factions", "BAL_TAKS"): "Bal T'aks",
        ("opponents", "XENOS with ITARS"): "Xenos with Itars",
        ("seats", "1 to move"): "first to move",
        ("openings_XENOS", "upgrade / piece RL / mine"):
            "an upgrade, then build a research lab, then a mine",
        ("taken_ships", "explore TWILIGHT"): "shuttle to the Twilight",
        ("passing", "round 1"): "round 1",
    }  # fmt: skip
    for (question, id), name in expected.items():
        assert words.name(question, id) == name
    tiles = [
        effects.Effect(id, 1.0, 0.0, 2.0, 9, False)
        for id in ("RM-PI-ACAD-1-5VP", "RM-PI-ACAD-2-5VP", "RM-TF-2VP")
    ]
    names = [e.name for e in words.rename("round_tiles", tiles)]
    assert len(set(names)) == 3 and names[0].endswith("(no. 1)") and names[1].endswith("(no. 2)")
