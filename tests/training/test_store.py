"""Stores of games: what is cut off, what is foreign, who holds them. No game is played."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaia_jax.cli.command_line import UserError
from training.games import store, table
from training.games.formats import Csv, Head, Npz
from training.games.store import Store
from training.games.table import Games, rotated
from training.system import atomic_files

IDS = {"faction": ("A", "B", "C", "D", "E"), "vp_source": ("mine", "gift")}
ABOUT = {"env": "toy", "version": "1", "seed": 3, "agents": "a,b,c,d"}
HEAD = Head(ABOUT, 0, 4)
CSV = Csv(lambda *_: IDS)


def games(setups: int, seed: int = 0) -> Games:
    rng = np.random.default_rng(seed)
    shape = (setups, 4, 4)

    def some(*more: int) -> np.ndarray:
        return rng.integers(0, 5, (*shape, *more))

    seconds = rng.integers(1, 9, shape[:2]) / 4
    return Games(
        np.broadcast_to(rotated(), shape), some() % 4 + 1, some(), some() * 7, some(2),
        some(len(table.BEHAVIOUR)), some()[..., 0] + 90, seconds, some() + 20, some() // 4,
    )  # fmt: skip


def opened(path: Path, resume: bool = True, head: Head = HEAD) -> Store:
    return Store(path, Npz() if path.suffix == ".npz" else CSV, head, 9, resume)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of three set-ups, added in two batches."""
    file = opened(tmp_path / "games.csv", resume=False)
    file.add(games(3).slice(0, 2))
    file.add(games(3).slice(2))
    file.close()
    return tmp_path / "games.csv"


def same(a: Games | None, b: Games) -> bool:
    assert a is not None
    return all(np.array_equal(x, b.rows()[name]) for name, x in a.rows().items())


def test_games_read_as_they_were_written(path: Path) -> None:
    file = opened(path)
    assert same(file.games, games(3))
    file.close()
    assert [p.name for p in path.parent.iterdir()] == ["games.csv"]


def test_whatever_is_cut_off_no_whole_set_up_is_lost(path: Path) -> None:
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    ends = [sum(map(len, lines[: 1 + 16 * n])) for n in range(4)]
    for cut in [0, 5, ends[0] - 1, *range(ends[0], len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        file = opened(path)
        count = sum(end <= cut for end in ends[1:])
        if count:
            assert same(file.games, games(3).slice(0, count))
        else:
            assert file.games is None
        assert path.read_bytes() == whole[:cut]  # until there are new games
        if cut % 2:
            file.add(games(3).slice(count))
            assert path.read_bytes() == whole
        file.close()


def test_set_ups_that_are_played_anew_stay_until_then(path: Path) -> None:
    whole = path.read_bytes()
    file = opened(path)
    file.keep(2)
    assert file.count == 2
    assert path.read_bytes() == whole
    file.add(games(5).slice(2))
    file.close()
    again = opened(path)
    assert again.count == 5
    again.close()


def test_arrays_read_as_they_were_written(tmp_path: Path) -> None:
    """Also what was written before there was one table, whose columns have other names."""
    path = tmp_path / "games.npz"
    file = opened(path, resume=False)
    file.add(games(3).slice(0, 2))
    file.add(games(3).slice(2))
    file.close()
    assert same(store.read(path, Npz(), HEAD).games, games(3))
    with pytest.raises(UserError, match="has seed 3, not 4"):
        opened(path, head=HEAD._replace(about=ABOUT | {"seed": 4}))
    with pytest.raises(UserError, match="holds another part of the games: first 0"):
        opened(path, head=HEAD._replace(first=2))
    rows = games(3).rows()
    names = {"vp_source": "sources", **{x: x for x in ("vp", "faction", "decisions", "illegal")}}
    old = {name: rows[new] for name, new in names.items()}
    agent, formed = np.minimum(rows["entry"], 1), rows["behaviour"][..., 0]
    about = np.array('{"env": "toy", "version": "1", "seed": 3, "agents": "a,b,c,d", "first": 0}')
    np.savez(path, about=about, agent=agent, federations=formed, decided=rows["decided"], **old)
    found = store.read(path, Npz(), HEAD).games
    assert found is not None and np.array_equal(found.entry, rows["entry"])
    for name in ("vp", "sources", "federations", "decided"):
        assert np.array_equal(getattr(found, name), getattr(games(3), name)), name


def test_a_killed_command_goes_on_before_its_first_games(tmp_path: Path) -> None:
    """Rows are held by an empty file, arrays by none."""
    for name, held in (("games.npz", False), ("games.csv", True)):
        first = opened(tmp_path / name)
        assert (tmp_path / name).exists() == held
        if held:
            first._file.close()  # as when it is killed
        file = opened(tmp_path / name)
        file.add(games(1))
        file.close()
        assert opened(tmp_path / name).count == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"bread\nmilk\n", "is not a CSV of this arena"),
        (b"notes", "is not a CSV of this arena"),
        (bytes(range(256)), "is not a CSV of this arena"),
        (None, "line 50: it has 1 columns"),
    ],
)
def test_a_foreign_file_is_refused_and_untouched(path: Path, content: Any, says: str) -> None:
    foreign = path.read_bytes() + b"my notes\n" if content is None else content
    path.write_bytes(foreign)
    for resume, words in ((True, says), (False, "exists")):
        with pytest.raises(UserError, match=words):
            opened(path, resume)
        assert path.read_bytes() == foreign


def test_a_table_of_another_arena_is_refused(path: Path) -> None:
    for key, value in {"seed": 4, "version": "2", "agents": "a,b,c,e"}.items():
        with pytest.raises(UserError, match=f"has {key} .*, this is {value}"):
            opened(path, head=HEAD._replace(about=ABOUT | {key: value}))


def test_a_table_is_held_by_one_arena(path: Path) -> None:
    file = opened(path)
    with pytest.raises(UserError, match="in use by another command"):
        opened(path)
    file.keep(1)
    file.add(games(3).slice(1))  # beside and renamed: another file
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
    whole = path.read_bytes()
    file = opened(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        file.add(games(1))
    assert path.read_bytes() == whole
    file.keep(1)
    with pytest.raises(UserError, match="No space left on device"):
        file.add(games(1))
    file.close()
    assert path.read_bytes() == whole and list(path.parent.iterdir()) == [path]


def test_a_folder_is_locked_without_a_trace(tmp_path: Path) -> None:
    with atomic_files.folder_lock(tmp_path):
        with (
            pytest.raises(UserError, match="in use by another process"),
            atomic_files.folder_lock(tmp_path),
        ):
            pass
        assert list(tmp_path.iterdir()) == []
    with atomic_files.folder_lock(tmp_path):
        pass


def test_folders_for_results(tmp_path: Path) -> None:
    atomic_files.check_folder("--record", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    (tmp_path / "empty").mkdir()
    atomic_files.check_folder("--record", tmp_path / "empty")
    (tmp_path / "file").write_text("")
    wrong = {
        tmp_path / "file": "wants a folder",
        tmp_path: "is not empty",
        tmp_path / "gone" / "new": "does not exist",
        tmp_path / "file" / "new": "does not exist",
        Path("/sys/kernel/new"): "cannot write",
    }
    for path, says in wrong.items():
        with pytest.raises(UserError, match=f"--record.*{says}"):
            atomic_files.check_folder("--record", path)


def test_a_file_is_replaced_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    atomic_files.write_text(path, "one")
    path.chmod(0o640)
    atomic_files.write_text(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o640
    (tmp_path / "link").symlink_to("report.json")
    atomic_files.write_text(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    (tmp_path / "link").unlink()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        atomic_files.write_text(path, "three")
    assert path.read_text() == "two" and list(tmp_path.iterdir()) == [path]
