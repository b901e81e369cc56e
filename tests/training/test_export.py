"""Datasets: rows, resuming, ranges, mistakes."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml
from exported import AGENTS, FACE, GAMES, REPLAY, command, pq, rows_of, stopping

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from training import zoo
from training.games import card, dataset, parquet_files
from training.system import data_files

pytestmark = pytest.mark.usefixtures("small_datasets")


def test_a_row_a_game(full_export):
    rows = rows_of(full_export)
    assert [(row["deal"], row["rotation"]) for row in rows] == [
        (deal, rotation) for deal in range(12) for rotation in range(4)
    ]
    for row in rows:
        setup = json.loads(row["setup"])
        assert [row[f"faction_{seat}"] for seat in range(4)] == setup["factions"]
        assert row["setup_round_tiles"] == setup["round_tiles"]
        assert row["setup_basic_tiles"] == list(setup["basic_tiles"].values())
        assert row["setup_sectors_rotation"] == [laid["rotation"] for laid in setup["sectors"]]
        assert len(row["actions"]) == row["decisions"] == 9
        assert sum(row["win"]) == pytest.approx(1) and sum(row["place"]) == 10
        sources = [row[name] for name in row if name.startswith("vp_")]
        assert np.sum(sources, axis=0).tolist() == row["vp"]
    # The one who takes the most sits one seat further each time, on the same set-up.
    name = "exported:best_paid"
    for deal in range(0, 48, 4):
        assert len({row["setup"] for row in rows[deal : deal + 4]}) == 1
        seats = [[row[f"agent_{s}"] for s in range(4)].index(name) for row in rows[deal : deal + 4]]
        assert seats == [2, 3, 0, 1]
    by_name = {row[f"agent_{s}"]: row[f"agent_sha256_{s}"] for row in rows for s in range(4)}
    assert len(set(by_name.values())) == 2


def test_the_folder_says_what_it_is(full_export):
    about = json.loads((full_export / dataset.ABOUT).read_text())
    assert about["format"] == "gaia_jax dataset 1" and about["schema"] == 1
    (part,) = about["parts"]
    assert part["games"] == 48 and part["rotations"] == 4 and part["seed"] == 3
    assert about["slots"]["basic_tiles"][-1] == "free_3"
    file_info = about["files"][dataset.GAMES]
    assert file_info["rows"] == 48
    assert file_info["sha256"] == data_files.digest(full_export / dataset.GAMES)
    card = (full_export / dataset.README).read_text()
    head = yaml.safe_load(card.split("---")[1])
    assert head["configs"] == [
        {"config_name": "games", "data_files": dataset.GAMES, "default": True}
    ]
    assert head["size_categories"] == ["n<1K"] and "| 48 |" in card
    assert sorted(path.name for path in full_export.iterdir()) == sorted(
        [dataset.ABOUT, dataset.GAMES, dataset.README]
    )


def test_the_card_names_the_agents_how_strong_they_are_and_the_commit(full_export, tmp_path):
    about = json.loads((full_export / dataset.ABOUT).read_text())
    text = (full_export / dataset.README).read_text()
    assert about["made_with"] == [card.made_with()] and f"Played with {card.made_with()}." in text
    by_deal = {}
    for row in rows_of(full_export):
        for seat in range(4):
            agent = by_deal.setdefault((row[f"agent_{seat}"], row[f"agent_sha256_{seat}"]), {})
            agent.setdefault(row["deal"], []).append(row["vp"][seat])
    for (name, sha), deals in by_deal.items():
        mean = np.mean([np.mean(vp) for vp in deals.values()])
        assert re.search(rf"\| `{name}` \| {mean:.1f} \(\S+ to \S+\) \| `{sha}` \|", text)
    # A dataset stores the strength of shipped agents; an older one does not.
    strengths = card.strength(["zoo/strong", "random", "zoo/duel"], FACE.make("", "vp"))
    assert strengths.keys() == {"zoo/strong"}
    mean = zoo.about("zoo/strong")["results"]["self_play"]["vp"]["mean"]
    assert f"{mean:.1f} (" in card.of(full_export, about | {"strength": strengths})


def test_the_card_of_the_shipped_sample_is_current():
    folder = Path(__file__).resolve().parents[2] / "docs" / "sample"
    about = dataset.read_whole(folder)
    assert about["strength"].keys() == {"zoo/strong"} and about["made_with"]
    assert (folder / dataset.README).read_text("utf-8") == card.of(folder, about)


def test_the_first_games_with_their_decisions_are_one_command(full_export, tmp_path, capsys):
    out = tmp_path / "few"
    args = ["--out", out, "--merge", full_export, "--games", "8", "--decisions", *REPLAY]
    code, stdout, err = command(capsys, *args)
    assert code == 0 and "8 games in" in stdout and "72 decisions" in stdout, err
    about = dataset.read_whole(out)
    assert about["files"][dataset.DECISIONS]["rows"] == 72
    rows = rows_of(out, dataset.DECISIONS)
    assert {row["leech"] for row in rows} == {0}  # these games have no offers of power


@pytest.mark.parametrize("moment", ["before a piece", "in a piece", "before the end", "at the end"])
def test_a_killed_export_goes_on_to_the_same_file(
    full_export, moment, tmp_path, capsys, monkeypatch
):
    class Killed(BaseException):
        pass

    def kill(*args):
        raise Killed

    out = tmp_path / "cut"
    args = [*GAMES, "--games", "48", "--out", out]
    write = outputs.write_bytes
    with monkeypatch.context() as patch:
        if "piece" in moment:
            patch.setattr(outputs, "write_bytes", stopping(write, 2, Killed))
        elif moment == "before the end":
            patch.setattr(parquet_files, "assemble", kill)
        else:
            patch.setattr(dataset, "finish", kill)
        with pytest.raises(Killed):
            command(capsys, *args)
    pieces = sorted((out / dataset.PIECES).glob("*.parquet"))
    assert len(pieces) == (2 if "piece" in moment else 3)
    if moment == "in a piece":
        (out / dataset.PIECES / f".{pieces[0].name}.x").write_bytes(b"PAR1 half")
    written = []

    def count(path, data):
        written.append(path.parent.name)
        write(path, data)

    monkeypatch.setattr(outputs, "write_bytes", count)
    code, stdout, err = command(capsys, *args)
    assert code == 0, err
    # What was there is not played again.
    assert written.count(dataset.PIECES) == 3 - len(pieces)
    for name in (dataset.GAMES, dataset.ABOUT, dataset.README):
        assert (out / name).read_bytes() == (full_export / name).read_bytes()
    code, stdout, _ = command(capsys, *args)
    assert code == 0 and "is whole" in stdout


def test_an_unfinished_export_may_end_sooner(full_export, tmp_path, capsys, monkeypatch):
    """As many games as there was time for."""
    out, short = tmp_path / "long", tmp_path / "few"
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "write_bytes", stopping(outputs.write_bytes, 2))
        assert command(capsys, *GAMES, "--games", "480", "--out", out)[0] == 130
        code, stdout, err = command(capsys, *GAMES, "--games", "32", "--out", out)
        assert code == 0 and "32 games" in stdout, err
    assert command(capsys, *GAMES, "--games", "32", "--out", short)[0] == 0
    for name in (dataset.GAMES, dataset.ABOUT):
        assert (out / name).read_bytes() == (short / name).read_bytes()


def test_a_damaged_piece_is_named(tmp_path, capsys, monkeypatch):
    out = tmp_path / "damaged"
    with monkeypatch.context() as patch:
        patch.setattr(
            parquet_files, "assemble", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt())
        )
        command(capsys, *GAMES, "--games", "48", "--out", out)
    piece = sorted((out / dataset.PIECES).iterdir())[1]
    piece.write_bytes(piece.read_bytes()[:100])
    code, _, err = command(capsys, *GAMES, "--games", "48", "--out", out)
    assert code == 2 and f"error: {piece} is not a Parquet file: " in err, err
    assert err.endswith("; remove it and run the command again\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_file_that_is_not_written_completely_is_not_there(tmp_path, error):
    """Neither with the first rows of what comes, nor instead of an earlier file."""
    path, table = tmp_path / "games.parquet", pa.table({"x": np.arange(50)})

    def tables():
        yield table
        raise error

    for earlier in ([], [path]):
        with pytest.raises(
            KeyboardInterrupt if error is KeyboardInterrupt else UserError
        ) as raised:
            parquet_files.assemble(path, tables(), 20)
        assert error is KeyboardInterrupt or str(raised.value) == (
            f"cannot write {path}: No space left on device"
        )
        assert list(tmp_path.iterdir()) == earlier
        assert parquet_files.assemble(path, [table], 20) == pq.read_metadata(path).num_rows == 50


@pytest.mark.slow
def test_two_processes_write_the_same_file(full_export, tmp_path, capsys):
    """Real ones, which compile the games. About 60 s."""
    out = tmp_path / "team"
    code, _, err = command(capsys, *GAMES, "--games", "48", "--processes", "2", "--out", out)
    assert code == 0, err
    for name in (dataset.GAMES, dataset.ABOUT):
        assert (out / name).read_bytes() == (full_export / name).read_bytes()


def test_ranges_of_processes_merge_to_the_same_file(full_export, tmp_path, capsys):
    first, second, both = tmp_path / "one", tmp_path / "two", tmp_path / "both"
    assert command(capsys, *GAMES, "--games", "16", "--out", first)[0] == 0
    assert command(capsys, *GAMES, "--games", "32", "--first", "4", "--out", second)[0] == 0
    code, stdout, err = command(capsys, "--out", both, "--merge", second, first)
    assert code == 0 and "48 games" in stdout, err
    for name in (dataset.GAMES, dataset.ABOUT):
        assert (both / name).read_bytes() == (full_export / name).read_bytes()
    code, _, err = command(capsys, "--out", tmp_path / "twice", "--merge", second, second)
    assert code == 2 and "another folder has" in err
    code, _, err = command(capsys, *GAMES, "--games", "16", "--first", "3", "--out", first)
    assert code == 2 and "multiple of 4" in err


def test_the_first_games_of_a_dataset_are_those_that_were_asked_for_alone(
    full_export, tmp_path, capsys
):
    """Also within a row group and a batch; whole deals."""
    short, alone = tmp_path / "data" / "few", tmp_path / "data" / "alone"  # `data` is made
    code, stdout, err = command(capsys, "--out", short, "--merge", full_export, "--games", "22")
    assert code == 0 and "24 games" in stdout, err
    assert command(capsys, *GAMES, "--games", "24", "--out", alone)[0] == 0
    for name in (dataset.GAMES, dataset.ABOUT, dataset.README):
        assert (short / name).read_bytes() == (alone / name).read_bytes()


def test_mistakes_are_one_line(full_export, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    for args, message in [
        (["--agents", "random,random", "--out", tmp_path / "x"], "needs 4 names"),
        ([*GAMES, "--games", "16", "--out", full_export], "holds other games: games 48, not 16"),
        (["--out", empty, "--verify", "3"], "is no dataset"),
        (["--out", tmp_path / "gone", "--verify", "3"], "is no folder"),
        (["--out", full_export], "nothing to do"),
        ([*GAMES, "--out", tmp_path / "m", "--merge", full_export], "--merge plays no games"),
        (["--agents", AGENTS, "--batch", "6", "--out", tmp_path / "x"], "multiple of 4"),
    ]:
        code, _, err = command(capsys, *args)
        assert code == 2 and message in err and err.count("\n") == 1, (args, err)
