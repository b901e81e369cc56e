"""Files of games and the shards of unfinished ones. No game is played."""

from pathlib import Path

import numpy as np
import pytest

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from training.games import arena, store, table
from training.games.store import Head
from training.games.table import Games, rotated
from training.system.jobs import Shard, shard_folder

IDS = {"faction": ("A", "B", "C", "D", "E"), "vp_source": ("mine", "gift")}
ABOUT = {"env": "toy", "version": "1", "seed": 3, "agents": "a,b,c,d"}
HEAD = Head(ABOUT, 0, 4)


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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of three set-ups."""
    pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
    path = tmp_path / "games.parquet"
    path.write_bytes(store.encode(path, HEAD, games(3), IDS))
    return path


def test_games_read_as_they_were_written(path: Path) -> None:
    head, read = store.read(path, lambda *_: IDS)
    assert head == HEAD
    for name, x in read.rows().items():
        np.testing.assert_array_equal(x, games(3).rows()[name])
    lines = store.encode(Path("games.csv"), HEAD, games(3), IDS).decode().splitlines()
    assert len(lines) == 1 + 3 * 16 and lines[0].startswith("env,version,seed,agents,setup")


def test_a_damaged_file_is_rejected_in_one_line(path: Path) -> None:
    data = path.read_bytes()
    for cut in [0, 5, *range(200, len(data) - 1, len(data) // 20), len(data) - 9]:
        path.write_bytes(data[:cut])
        with pytest.raises(
            UserError, match="does not hold games|cannot read|is not a Parquet file"
        ) as error:
            store.read(path, lambda *_: IDS)
        assert "\n" not in str(error.value)


def test_a_value_that_contradicts_the_others_is_named(path: Path) -> None:
    import pyarrow.parquet as pq

    rows = pq.read_table(path)
    place = rows.column_names.index("place")
    values = rows["place"].to_pylist()
    values[2] = 9.0
    pq.write_table(rows.set_column(place, "place", [values]), path)
    with pytest.raises(UserError, match="its place contradicts the other columns"):
        store.read(path, lambda *_: IDS)


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
