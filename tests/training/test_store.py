"""Stores of games: what is cut off, what is foreign, who holds them. No game is played."""

from pathlib import Path

import numpy as np
import pytest

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError
from training.games import store, table
from training.games.store import Head, Store
from training.games.table import Games, rotated

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


def opened(path: Path, resume: bool = True, head: Head = HEAD) -> Store:
    return Store(path, head, IDS, 9, resume)


@pytest.fixture(params=["games.csv", "games.parquet"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A table of three set-ups, added in two batches."""
    if request.param.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')
    path: Path = tmp_path / request.param
    file = opened(path, resume=False)
    file.add(games(3).slice(0, 2))
    file.add(games(3).slice(2))
    file.close()
    return path


def same(a: Games | None, b: Games) -> bool:
    assert a is not None
    return all(np.array_equal(x, b.rows()[name]) for name, x in a.rows().items())


def test_games_read_as_they_were_written(path: Path) -> None:
    file = opened(path)
    assert same(file.games, games(3))
    file.close()
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert file.path and file.path.read_bytes() == store.encode(path, HEAD, games(3), IDS)


def test_a_damaged_file_is_rejected_in_one_line_and_unchanged(path: Path) -> None:
    data = path.read_bytes()
    for cut in [5, *range(200, len(data) - 1, len(data) // 20), len(data) - 9]:
        path.write_bytes(data[:cut])
        with pytest.raises(UserError, match="does not hold games|cannot read") as error:
            opened(path)
        assert "\n" not in str(error.value) and path.read_bytes() == data[:cut]


def test_a_value_that_contradicts_the_others_is_named(tmp_path: Path) -> None:
    path = tmp_path / "games.csv"
    lines = store.encode(path, HEAD, games(1), IDS).decode().splitlines()
    cells = lines[3].split(",")
    place = lines[0].split(",").index("place") + 3  # `agents` holds three commas
    cells[place] = "9.0"
    path.write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n")
    with pytest.raises(UserError, match="row 3 has place 9.0, not "):
        opened(path)


def test_a_large_table_is_written_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "WRITING_SHARE", 1e-9)
    path = tmp_path / "games.csv"
    file = opened(path)
    file.add(games(3).slice(0, 1))
    first = path.read_bytes()
    file.add(games(3).slice(1))
    assert path.read_bytes() == first
    file.close()
    assert path.read_bytes() == store.encode(path, HEAD, games(3), IDS)


def test_set_ups_that_are_played_anew_stay_until_then(path: Path) -> None:
    data = path.read_bytes()
    file = opened(path)
    file.truncate(2)
    assert file.count == 2
    assert path.read_bytes() == data
    file.add(games(5).slice(2))
    file.close()
    reopened = opened(path)
    assert reopened.count == 5
    reopened.close()


def test_a_killed_command_resumes_before_its_first_games(tmp_path: Path) -> None:
    first = opened(tmp_path / "games.csv")
    first._file.close()  # as if it was killed
    file = opened(tmp_path / "games.csv")
    file.add(games(1))
    file.close()
    assert opened(tmp_path / "games.csv").count == 1


@pytest.mark.parametrize("content", [b"bread\nmilk\n", b"notes", bytes(range(256)), b"\0" * 99])
@pytest.mark.parametrize("path", ["games.csv"], indirect=True)
def test_a_foreign_file_is_refused_and_untouched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for resume, words in ((True, "does not hold games of agents"), (False, "exists")):
        with pytest.raises(UserError, match=words):
            opened(path, resume)
        assert path.read_bytes() == content


def test_games_of_another_arena_are_rejected(path: Path) -> None:
    for key, value in {"seed": 4, "version": "2", "agents": "a,b,c,e"}.items():
        with pytest.raises(UserError, match=f"has {key} .*, not {value!r}"):
            opened(path, head=HEAD._replace(about=ABOUT | {key: value}))
    with pytest.raises(UserError, match="holds another part of the games: first 0"):
        opened(path, head=HEAD._replace(first=2))


def test_a_table_is_held_by_one_arena(path: Path) -> None:
    file = opened(path)
    with pytest.raises(UserError, match="in use by another command"):
        opened(path)
    file.truncate(1)
    file.add(games(3).slice(1))  # the replacement is another file
    with pytest.raises(UserError, match="in use by another command"):
        opened(path)
    file.close()
    opened(path).close()


def test_a_new_table_without_games_goes_away(tmp_path: Path) -> None:
    file = opened(tmp_path / "games.csv", resume=False)
    with pytest.raises(UserError, match="in use by another command|exists"):
        opened(tmp_path / "games.csv", resume=False)
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = path.read_bytes()
    file = opened(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        file.add(games(1))
    assert path.read_bytes() == data
    file.truncate(1)
    with pytest.raises(UserError, match="No space left on device"):
        file.add(games(1))
    file.close()
    assert path.read_bytes() == data and list(path.parent.iterdir()) == [path]


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
