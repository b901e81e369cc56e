"""Logs of another engine as records: over games that the referee plays and writes in that form."""

from __future__ import annotations

import copy
import gzip
import json
import random
from typing import Any

import pytest

from gaia_jax import replay
from gaia_jax.importers import boardgamers
from gaia_jax.importers.boardgamers import Imported, LogError
from gaia_jax.importers.player import HALF, Player
from tests.replays import imported as importing
from tests.replays.changes import moves, rewrite
from tests.replays.record import record

Log = dict[str, Any]


@pytest.fixture(scope="module")
def log() -> Log:
    """Two players: a short game."""
    return record("two", ["TERRANS", "XENOS"], 0, {"mine": 3.0, "upgrade": 3.0})


@pytest.fixture(scope="module")
def imported(log: Log) -> Imported:
    return boardgamers.to_record(log)


@pytest.mark.slow
def test_a_log_becomes_a_record_that_plays(log: Log, imported: Imported) -> None:
    state = replay.play(imported.record)
    assert state.terminated
    recorded_vp = tuple(vp for _, vp in log["vp"])
    assert imported.logged_vp == recorded_vp
    # Ours sell nothing by themselves at the end.
    assert all(vp <= upper for vp, upper in zip(imported.record.final_vp, recorded_vp, strict=True))
    assert f"{len(imported.record.actions)} decisions of 2 players" in str(imported)


def without_states(log: Log) -> Log:
    """Set-up and lines alone."""
    bare = copy.deepcopy(log)
    bare["steps"] = [{"l": step["l"], "p": step["p"]} for step in bare["steps"]]
    return bare


def test_neither_states_nor_offers_are_needed(log: Log, imported: Imported) -> None:
    assert boardgamers.to_record(without_states(log)).record == imported.record


def test_a_game_that_was_broken_off_is_an_unfinished_record(log: Log) -> None:
    short = without_states(log) | {"ended": False}
    short["steps"] = short["steps"][:8]
    result = boardgamers.to_record(short)
    assert result.record.final_vp == () and "broken off" in str(result)
    assert replay.play(result.record).game.turn.round <= 1


def test_a_map_on_which_equal_types_touch_is_a_record(log: Log, imported: Imported) -> None:
    """A23 is of the draw: a game that was played is read as it lay."""
    rules = imported.record.env().ruleset
    setup = dict(imported.record.setup)
    for turns in range(6**4):
        turned = copy.deepcopy(setup["sectors"])
        for place in range(4):
            turned[place]["rotation"] = turns // 6**place % 6
        try:
            replay.record.setup_from_json(setup | {"sectors": turned}, rules)
        except ValueError as error:
            assert "touches" in str(error)
            replay.laid(setup | {"sectors": turned}, rules)
            return
    pytest.fail("no such map")


def line_of(log: Log, word: str) -> tuple[int, int, list[str]]:
    """The first command of this name: step, place in it, words."""
    number, at, words = moves(log, word)[0]
    return number, at, words


MUTANTS = {
    "a word that is none": ("up", lambda w: ["upp", *w[1:]], "unknown"),
    "a place that is none": ("build", lambda w: [*w[:-1], "99Z9"], "not on the map"),
    "an illegal place": ("build", lambda w: [*w[:-1], "1A0"], "not legal"),
    "a track that is none": ("up", lambda w: [w[0], "luck"], "cannot be read"),
    "a booster that is none": ("booster", lambda w: [w[0], "booster77"], "cannot be read"),
    "a command without its words": ("build", lambda w: ["spend"], "cannot be read"),
    "power for what it cannot buy": (
        "build",
        lambda w: ["spend", "1pw", "for", "1x"],
        "conversion: 1pw for 1x",
    ),
    "an amount of a million": (
        "build",
        lambda w: ["spend", "1000000o", "for", "1000000c"],
        "amount: 1000000",
    ),
}


@pytest.mark.parametrize("kind", MUTANTS)
def test_a_move_that_cannot_be_played_is_named(log: Log, kind: str) -> None:
    word, new, reason = MUTANTS[kind]
    game = without_states(log)
    number, at, words = line_of(log, word)
    rewrite(game | {"steps": game["steps"]}, number, at, new(words))
    with pytest.raises(LogError) as error:
        boardgamers.to_record(game)
    message = str(error.value)
    assert f"move {number + 1} " in message and reason in message and "\n" not in message


def test_a_line_that_is_none_is_named_before_the_game_begins(log: Log) -> None:
    for line, reason in (
        (3, "move 4: 3, here a text"),
        ({"p": 0}, "move 4: "),
        ({"l": " ", "p": 0}, "move 4: "),
        ({"l": "p1 faction luck", "p": 0}, "move 4 'p1 faction luck': luck, here no faction"),
        (log["steps"][3] | {"p": 7}, "move 4 .*: of player 7"),
    ):
        steps = [*log["steps"][:3], line, *log["steps"][4:]]
        with pytest.raises(LogError, match=reason) as error:
            boardgamers.to_record(log | {"steps": steps})
        assert "\n" not in str(error.value)
    with pytest.raises(LogError, match="faction of player 0: none"):
        boardgamers.to_record(log | {"steps": []})
    with pytest.raises(LogError, match="OverflowError"):
        boardgamers.to_record(without_states(log) | {"vp": [["a", float("inf")], ["b", 1]]})


def test_another_state_than_ours_is_named(log: Log) -> None:
    for field in ("vp", "c"):
        game = copy.deepcopy(log)
        game["steps"][6]["s"]["pl"][0][field] += 1
        with pytest.raises(LogError, match=r"move 7 .*has (VP|credits): "):
            boardgamers.to_record(game)


@pytest.mark.parametrize(
    ("inexpressible", "compared"), [("satellites are on other cells", True), (HALF, False)]
)
def test_stocks_are_compared_where_pieces_alone_lie_elsewhere(
    log: Log, monkeypatch: pytest.MonkeyPatch, inexpressible: str, compared: bool
) -> None:
    """A board action that was taken out of a log with such satellites was not noticed."""
    game, usual = copy.deepcopy(log), Player.__init__
    game["steps"][6]["s"]["pl"][0]["c"] += 1

    def begin(self: Player, *arguments: Any) -> None:
        usual(self, *arguments)
        self.inexpressible[inexpressible] = None

    monkeypatch.setattr(Player, "__init__", begin)
    if compared:
        with pytest.raises(LogError, match=r"move 7 .*has credits: "):
            boardgamers.to_record(game)
    else:
        boardgamers.to_record(game)


def test_what_is_no_game_of_base_is_named(log: Log) -> None:
    for changed, reason in (
        ({"vp": log["vp"] * 3}, "players: 6, here 2 to 4"),
        ({"vp": log["vp"][:1]}, "players: 1, here 2 to 4"),
        ({"opts": {"frontiers": True}}, "not base: the expansion frontiers"),
        ({"setup": log["setup"] | {"mirror": True}}, "mirrored tiles"),
        ({"setup": {}}, "cannot be read"),
    ):
        with pytest.raises(LogError, match=reason):
            boardgamers.to_record(log | changed)


@pytest.mark.slow
def test_sixty_changed_logs_give_a_line_each(log: Log) -> None:
    rng = random.Random(1)
    for _ in range(60):
        number, game = importing.changed(log, rng)
        with pytest.raises(LogError) as error:
            boardgamers.to_record(game)
        text = str(error.value)
        named = int(text.split(", move ")[1].split()[0])
        assert number <= named <= number + 2 and "\n" not in text


def test_the_command_writes_a_record_and_names_what_is_wrong(
    log: Log, imported: Imported, tmp_path: Any, capsys: Any
) -> None:
    path, out = tmp_path / "logs.jsonl.gz", tmp_path / "game.json"
    broken = copy.deepcopy(log) | {"id": "broken"}
    broken["steps"][2]["l"] = "terrans build m 99Z9"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(game) for game in (log, broken)))
    assert boardgamers.main([str(path)]) == 2
    assert "has 2 games, --game wants one of two, broken" in capsys.readouterr().err
    assert boardgamers.main([str(path), "--game", "two", "--out", str(out)]) == 0
    assert f"wrote {out}" in capsys.readouterr().err
    assert replay.read(out).actions == imported.record.actions
    assert boardgamers.main([str(path), "--game", "broken", "--out", str(out)]) == 2
    last_line = capsys.readouterr().err.strip().splitlines()[-1]
    assert last_line.startswith("error: game broken, move 3 'terrans build m 99Z9': place: 99Z9")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{", "is not JSON"), ("", "is no log"), ("{}", "is no log"), ("[1]", "is no log")],
)
def test_a_file_that_holds_no_log(tmp_path: Any, text: str, reason: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(LogError, match=reason):
        boardgamers.read(path)


def test_a_file_that_cannot_be_read(tmp_path: Any) -> None:
    path = tmp_path / "log.json"
    packed = bytearray(gzip.compress(b'{"steps": []}' * 9))
    packed[10] ^= 255
    path.write_bytes(packed)
    with pytest.raises(LogError, match="is no text"):
        boardgamers.read(path)
    path.write_text('{\n "steps": [],\n "id" "two"\n}\n')
    with pytest.raises(LogError, match="is not JSON: .* line 3 "):
        boardgamers.read(path)
    with pytest.raises(LogError, match="No such file"):
        boardgamers.read(tmp_path / "none.json")


@pytest.mark.parametrize("between", ["\n", "\n\n", "\r\n \n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_games_of_a_file_with_line_separators_and_blank_lines(
    tmp_path: Any, between: str, encoding: str
) -> None:
    path = tmp_path / "logs.jsonl"
    games = [{"id": "one\u2028", "steps": []}, {"id": "two", "steps": []}]
    text = between.join(json.dumps(game, ensure_ascii=False) for game in games)
    path.write_bytes(f"{text}\n".encode(encoding))
    assert boardgamers.read(path) == games
