"""Files of games and the shards of unfinished ones. No game is played."""

import csv
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from training.games import arena, store, table
from training.games.table import Games, rotated
from training.system.jobs import Shard, shard_folder

IDS = {"faction": ("A", "B", "C", "D", "E"), "vp_source": ("mine", "gift")}
ABOUT = {"env": "toy", "version": "1", "seed": 3, "agents": "a,b,c,d"}


def games(setups: int, seed: int = 0) -> Games:
    rng = np.random.default_rng(seed)
    shape = (setups, 4, 4)

    def ints(*more: int) -> np.ndarray:
        return rng.integers(0, 5, (*shape, *more))

    seconds = rng.integers(1, 9, shape[:2]) / 4
    return Games(
        np.broadcast_to(rotated(), shape), ints() % 4 + 1, ints(), ints() * 7, ints(2),
        ints(len(table.BEHAVIOUR)), ints()[..., 0] + 90, seconds, ints() + 20, ints() // 4,
    )  # fmt: skip


def test_a_file_has_a_row_for_each_seat_of_each_game(tmp_path: Path) -> None:
    """The same values as CSV and as Parquet."""
    parquet = pytest.importorskip("pyarrow.parquet", reason='needs pyarrow: pip install ".[data]"')
    played = games(3)
    for name in ("games.csv", "games.parquet"):
        (tmp_path / name).write_bytes(store.encode(Path(name), ABOUT, played, IDS))
    with (tmp_path / "games.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    stored = parquet.read_table(tmp_path / "games.parquet").to_pylist()
    assert rows == [{key: str(value) for key, value in row.items()} for row in stored]
    assert [int(row["vp"]) for row in rows] == played.vp.ravel().tolist()
    assert {row["agent"] for row in rows} == {"a", "b", "c", "d"}
    last = {key: int(rows[-1][key]) for key in ("setup", "rotation", "seat")}
    assert last == {"setup": 2, "rotation": 3, "seat": 3}
    assert float(rows[-1]["vp.gift"]) == played.sources[-1, -1, -1, 1]


def test_shards_are_kept_next_to_the_file(tmp_path: Path) -> None:
    """They are locked, continued on request and only by the same work; none leave no folder."""
    path = tmp_path / "games.csv"
    with shard_folder(path, ABOUT, resume=False) as folder:
        assert folder == tmp_path / "games.csv.shards"
    assert list(tmp_path.iterdir()) == []
    with shard_folder(path, ABOUT, resume=False) as folder:
        (folder / "000000000.npz").write_bytes(b"")
        with (
            pytest.raises(UserError, match="in use by another process"),
            shard_folder(path, ABOUT, resume=True),
        ):
            pass
    for about, resume, message in (
        (ABOUT, False, "--resume continues it"),
        (ABOUT | {"seed": 4}, True, "has seed 3, not 4"),
        (ABOUT | {"setups": 8}, True, "has setups None, not 8"),
    ):
        with pytest.raises(UserError, match=message), shard_folder(path, about, resume):
            pass
    with (
        pytest.raises(UserError, match="cannot read the shard"),
        shard_folder(path, ABOUT, resume=True) as folder,
    ):
        first = arena._FirstShards([Shard(folder / "000000000.npz", ())], lambda games: False)
        first.collect()


def test_a_shard_of_another_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "000000000.npz"
    path.touch()
    monkeypatch.setattr(arena, "read_arrays", lambda *_: {"vp": np.zeros((256, 4, 4))})
    shards = arena._FirstShards([Shard(path, ({}, 0, 0, 138))], lambda games: False)
    with pytest.raises(UserError, match=r"has 256 set-ups, not 138; move .* away to start again"):
        shards.collect()


def test_a_folder_is_locked_without_a_trace(tmp_path: Path) -> None:
    with outputs.folder_lock(tmp_path):
        with (
            pytest.raises(UserError, match="in use by another process"),
            outputs.folder_lock(tmp_path),
        ):
            pass
        assert list(tmp_path.iterdir()) == []
    with outputs.folder_lock(tmp_path):
        pass


def test_folders_for_results(tmp_path: Path) -> None:
    outputs.check_folder("--record", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "empty").mkdir()
    outputs.check_folder("--record", tmp_path / "empty")
    (tmp_path / "file").write_text("")
    wrong = {
        tmp_path / "file": "wants a folder",
        tmp_path: "is not empty",
        tmp_path / "file" / "new": "cannot write",
        Path("/sys/kernel/new"): "cannot write",
    }
    for path, message in wrong.items():
        with pytest.raises(UserError, match=f"--record.*{message}"):
            outputs.check_folder("--record", path)


def test_a_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    outputs.write_text(path, "one")
    path.chmod(0o640)
    outputs.write_text(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o640
    (tmp_path / "link").symlink_to("report.json")
    outputs.write_text(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    (tmp_path / "link").unlink()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        outputs.write_text(path, "three")
    assert path.read_text() == "two" and list(tmp_path.iterdir()) == [path]


def test_outputs_follow_the_umask_and_never_set_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to all threads: one that sets it changes the files of the others."""
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patch:
            patch.delattr(os, "umask")
            outputs.write_text(tmp_path / "file", "")
            with outputs.new_folder(tmp_path / "folder"):
                pass
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"file": 0o640, "folder": 0o750}


def test_processes_compile_one_after_the_other(tmp_path: Path) -> None:
    """Two that compile at the same time need twice the memory."""
    inside, counts = list[int](), list[int]()

    def compiles() -> None:
        with outputs.folder_lock(tmp_path, wait=True):
            inside.append(1)
            time.sleep(0.05)
            counts.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=compiles) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert counts == [1, 1, 1] and not list(tmp_path.iterdir())
