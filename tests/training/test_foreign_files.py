"""A file that a person wrote is never written over, by no output of any command."""

import functools
import importlib
import json
import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
from exported import FACE, command
from test_compare import run_folder

from gaia_jax import replay
from training import compare, labels, review
from training.analysis import review_report, search_report
from training.games import dataset
from training.study import __main__ as study
from training.system import cli

MINE = {
    "notes.txt": "my notes\n",
    "precious.md": "# Learning\n\nWhat I found.\n",
    "precious.svg": '<svg xmlns="http://www.w3.org/2000/svg"><title>mine</title></svg>\n',
    "precious.html": "<!doctype html>\n<p>mine</p>\n",
    "other.json": '{"mine": 1}\n',
    "table.csv": "decision,mine\n1,2\n",
    "games.npz": "no zip, but mine\n",
}
RECORD = str(next(Path("docs/records").resolve().glob("*.json")))
FOUR = "random,random,random,random"
# Command, arguments in front, and the flags of its outputs with a file that a person wrote.
OUTPUTS = [
    ("training.arena", ("--agents", FOUR), {"--json": "other.json", "--csv": "table.csv"}),
    ("training.evaluate", ("runs/x",), {"--json": "other.json", "--save": "games.npz"}),
    ("training.compare", ("runs/x",), {"--out": "precious.md", "--svg": "precious.svg"}),
    ("training.compare", ("runs/x",), {"--out": "precious.html", "--svg": "notes.txt"}),
    ("training.explain", ("x", "--agent", "zoo/quick+search:2"), {"--json": "other.json"}),
    ("training.review", ("x",), {"--json": "other.json", "--html": "precious.html"}),
    ("training.advise", (), {"--json": "other.json", "--html": "precious.html"}),
    ("training.study.__main__", ("data",), {"--figures": "notes.txt"}),
    ("training.study.__main__", ("data",), {"--figures": "other.json"}),
    ("training.clone", ("--labels", "x"), {"--out": "games.npz"}),
    ("gaia_jax.replay", (RECORD,), {"--csv": "table.csv", "--html": "precious.html"}),
    ("benchmarks.throughput", (), {"--json": "other.json"}),
    ("benchmarks.adapters", (), {"--json": "other.json"}),
    ("benchmarks.accelerator", (), {"--json": "other.json"}),
    ("benchmarks.scaling", (), {"--json": "other.json"}),
    ("benchmarks.compile_time", (), {"--json": "other.json"}),
    ("benchmarks.profile", (), {"--json": "other.json"}),
    ("benchmarks.training", (), {"--json": "other.json"}),
    ("benchmarks.compare", ("HEAD", "."), {"--json": "other.json"}),
]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The current folder, with files that a person wrote."""
    monkeypatch.chdir(tmp_path)
    for name, text in MINE.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def everything(folder):
    return {p: p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def run(main, *args):
    """The exit code of a command line as `python -m` ends with it."""
    try:
        return cli.run(functools.partial(main, [str(x) for x in args]))
    except SystemExit as error:
        return error.code


def refused(capsys, folder, main, *args):
    """The one line of a command that does nothing."""
    before = everything(folder)
    code, err = run(main, *args), capsys.readouterr().err
    assert everything(folder) == before, "the command wrote something"
    assert code == 2 and err.count("\n") == 1 and err.startswith("error: "), (code, err)
    return err


CASES = [(name, front, flag, file) for name, front, fl in OUTPUTS for flag, file in fl.items()]


@pytest.mark.parametrize(
    ("name", "front", "flag", "file"), CASES, ids=[f"{n} {f} {x}" for n, _, f, x in CASES]
)
def test_a_foreign_file_is_refused_before_any_work(name, front, flag, file, mine, capsys):
    main = importlib.import_module(name).main
    args = [*front, flag, file] if flag else [file, "part.parquet"]
    assert f"{file} exists" in refused(capsys, mine, main, *args)


@pytest.fixture
def runs(tmp_path):
    return [run_folder(tmp_path / name, 0, 1e-3, 50.0) for name in ("a-0", "b-0")]


def test_a_comparison_may_be_written_again_and_nothing_else(runs, mine, capsys):
    args = [*runs, "--out", "new.html", "--svg", "new.svg"]
    for _ in range(2):
        assert run(compare.main, *args) == 0, capsys.readouterr().err
    capsys.readouterr()
    Path("new.svg").write_text(MINE["precious.svg"])
    assert "--svg: new.svg exists" in refused(capsys, mine, compare.main, *args)
    # A picture that cannot be drawn is found before the page is written.
    args = [*runs, "--out", "page.html", "--svg", "p.svg", "--metric", "none"]
    assert "no experiment has none" in refused(capsys, mine, compare.main, *args)


def test_an_explanation_does_not_overwrite_a_review(mine):
    report = mine / "review.json"
    report.write_text('{"record": "x", "agent": "y", "seats": [], "moves": [], "judged": 0}')
    assert review_report.is_own_report(report) and not search_report.is_own_report(report)
    for part in ("candidates", "choices"):
        report.write_text(json.dumps({"record": "x", "agent": "y", part: []}))
        assert search_report.is_own_report(report) and not review_report.is_own_report(report)


def test_a_study_overwrites_only_its_own_files(full_export, mine, capsys):
    """`docs/lab/learning.md` was overwritten by `--page learning`, with exit code 0."""
    docs = mine / "docs" / "lab"
    docs.mkdir(parents=True)
    (docs / "learning.md").write_text(MINE["precious.md"])
    (docs / "own").mkdir()
    (docs / "own" / "effects.parquet").write_text(MINE["precious.svg"])
    main = functools.partial(study.main, env_module=FACE)
    for page, message in (
        ("learning", "learning.md exists"),
        ("own", "own/effects.parquet exists"),
    ):
        assert message in refused(
            capsys, mine, main, full_export, "--games-only", "--out", docs, "--page", page
        )
    for _ in range(2):  # its own page may be written again
        assert run(main, full_export, "--games-only", "--out", docs) == 0, capsys.readouterr().err
        assert run(main, full_export, "--figures", "own.json") == 0
    capsys.readouterr()
    assert (docs / "findings.md").is_file()
    for name in ("../../x", "/abs", "a/b", "", "a\0b", "..", "a\\b"):
        message = refused(capsys, mine, main, full_export, "--games-only", "--page", name)
        assert "--page must be a plain folder name" in message


def test_an_agent_of_the_zoo_has_a_plain_name_and_takes_the_place_of_none_of_a_person(
    mine, capsys, monkeypatch
):
    from training import ship, zoo

    monkeypatch.setattr(zoo, "FOLDER", mine)
    assert "must be a plain folder name" in refused(
        capsys, mine, ship.main, "../x", "--run", "runs/x"
    )
    assert "games.npz exists" in refused(capsys, mine, ship.main, "games", "--run", "runs/x")
    assert "other.json exists" in refused(capsys, mine, ship.main, "other", "--run", "runs/x")
    for text, message in (
        ("env=base", "--set env: the command sets that key itself"),  # these were a traceback
        ("training={}", "--set training: the command"),
        ("made=2024-01-01", "--set made: cannot read the value"),
        ("temperature", "--set wants key=value, got 'temperature'"),
        ("temperature=0", "temperature must be above 0"),  # such an agent cannot be loaded
        ("temperature=warm", "temperature must be a number"),
        ("name=other", "--set name: the command"),
    ):
        assert message in refused(capsys, mine, ship.main, "new", "--run", "x", "--set", text)


def test_two_outputs_of_a_command_are_two_files(mine, capsys):
    """An arena with `--csv x --record x` failed after its first games."""
    import training.arena as arena
    import training.evaluate as evaluate

    both = "want two paths"
    agents = ["--agents", FOUR, "--games", "4"]
    assert both in refused(capsys, mine, arena.main, *agents, "--csv", "x", "--record", "./x")
    assert both in refused(capsys, mine, arena.main, *agents, "--csv", "x", "--json", "x")
    both_of_one = ["--save", "x", "--json", mine / "x"]
    assert both in refused(capsys, mine, evaluate.main, "runs/x", *both_of_one)
    assert both in refused(capsys, mine, evaluate.main, "runs/x", "--save", "x", "--record", "x")
    assert both in refused(capsys, mine, compare.main, "runs/x", "--out", "x", "--svg", "x")
    assert both in refused(capsys, mine, replay.main, RECORD, "--csv", "x", "--html", "x")
    assert both in refused(capsys, mine, review.main, "x", "--json", "y", "--html", "y")


def test_records_go_into_a_folder_without_files_of_their_names(mine, capsys):
    import training.arena as arena

    Path("games").mkdir()
    Path("games/seed0-setup00000-seats0.json").write_text(MINE["other.json"])
    args = ["--agents", FOUR, "--csv", "new.csv", "--resume", "--record", "games"]
    assert "seats0.json exists" in refused(capsys, mine, arena.main, *args)


def test_labels_go_into_an_empty_folder_or_their_own(mine, capsys):
    """Not into a folder of other files, such as `docs`."""
    for name, file, message in (
        ("docs", "page.md", "the folder docs is not empty"),
        ("other", "about.json", "other/about.json exists"),
    ):
        Path(name).mkdir()
        (Path(name) / file).write_text("[]")
        assert message in refused(capsys, mine, labels.main, "--out", name)


def test_a_merge_that_fails_leaves_no_folder(full_export, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    part = tmp_path / "part"
    shutil.copytree(full_export, part)
    games = part / dataset.GAMES
    games.write_bytes(games.read_bytes()[: games.stat().st_size // 2])
    before = everything(tmp_path)
    code, _, err = command(capsys, "--out", tmp_path / "new", "--merge", part)
    assert code == 2 and err.count("\n") == 1 and "games.parquet" in err
    assert everything(tmp_path) == before


@pytest.mark.parametrize("saves", ["notes.txt", "notes.txt/saves", "/sys/kernel/saves", "dangling"])
def test_the_table_refuses_a_folder_of_saves_that_takes_none(saves, mine, capsys):
    """Read-only even for root: /sys/kernel. It was found at the first `Save`."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra play)")
    from training.play import __main__ as play

    os.symlink("nowhere", mine / "dangling")
    assert f"--saves: {saves}" in refused(capsys, mine, play.main, "--saves", saves).replace(
        "cannot write into ", ""
    )
