"""A game of boardgamers.space as a record of ours.

    python -m gaia_jax.importers.boardgamers LOG --out game.json

LOG is JSON, one game or one a line, also gzipped (`docs/reference/datasets.md`). Every line of the
game is played by the rules of `base`, for two to four players. A line that cannot be played ends
the import with one line that names the move.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

import gaia_jax
from gaia_jax.cli import command_line, outputs
from gaia_jax.cli.progress import status_line
from gaia_jax.components import costs
from gaia_jax.importers.lines import BETWEEN, Line, groups
from gaia_jax.importers.notation import Log, MismatchError, setup_of
from gaia_jax.importers.player import HALF, LOST, Player
from gaia_jax.importers.position import Position, Script, final_vp
from gaia_jax.replay import FORMAT, Record, compiled, laid, write
from gaia_jax.ruleset import VARIANTS
from gaia_jax.state import GameState
from gaia_jax.xla.compilation_cache import enable_compilation_cache

LONGEST = 10**8  # bytes of a file, unpacked
RULES = "base"
# Parts of a recorded state, and their names.
STOCKS = {"c": "credits", "o": "ore", "k": "knowledge", "q": "qic"}
NAMES = STOCKS | {"vp": "VP", "res": "research levels"}
# Raised if a log does not have the expected form.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class LogError(ValueError):
    """A log that cannot be read or played; the message is one line that names the move."""


@dataclass(frozen=True)
class Imported:
    """A game that was read."""

    record: Record
    logged_vp: tuple[int, ...]  # (P,) as the log has them
    inexpressible: Mapping[str, int]  # choices that our actions cannot express, by their first move

    def __str__(self) -> str:
        """In a few lines."""
        count, players = len(self.record.actions), len(self.logged_vp)
        end = "to its end" if self.record.final_vp else "broken off"
        lines = [f"{count} decisions of {players} players, {end}"]
        if self.record.final_vp:
            lines.append("VP " + ", ".join(
                f"{faction} {vp}" + (f" (in the log {logged_vp})" if vp != logged_vp else "")
                for faction, vp, logged_vp in zip(
                    self.record.setup["factions"], self.record.final_vp, self.logged_vp, strict=True
                )
            ))  # fmt: skip
        return "\n".join(lines + [f"move {at}: {note}" for note, at in self.inexpressible.items()])


class _Importing(Player):
    """Plays a log, compares its states after each line, and sells the rest at the end."""

    def __init__(self, position: Position, log: Log, sells: Mapping[int, int]) -> None:
        """
        Args:
            sells: VP for remaining resources that a player must reach by selling, by player.
        """
        super().__init__(position, log)
        self._sells = sells

    def play_lines(self) -> Script:
        """All lines."""
        for together in groups(self.lines):
            if together[0].between:
                yield from self.between(together)
            else:
                yield from self.line(together[0])
            self.compare(together[-1])

    def compare(self, line: Line) -> None:
        """Compare the recorded state after a line: VP, tracks, and stocks if everything is paid.

        Raises:
            MismatchError: our value is another one. `final_vp` compares the end.
        """
        if self.position.over or not line.outcome:
            return
        self.at_line = line
        players = self.position.state.game.players
        for number, row in enumerate(line.outcome["pl"]):
            replayed = {"vp": players.vp[number], "res": players.tracks[number]}
            paid = number != self.waiting_for() and line.outcome["ph"] not in BETWEEN
            if paid and not (self._sells or {LOST, HALF} & self.inexpressible.keys()):
                replayed |= {name: getattr(players, of)[number] for name, of in STOCKS.items()}
            for name, value in replayed.items():
                if row[name] != value.tolist():
                    subject = f"{row['f']} has {NAMES[name]}"
                    raise MismatchError(subject, row[name], value.tolist())

    def line(self, line: Line) -> Script:
        """Decline offers that exist only because a player has sold power, then play the line."""
        while self.position.node == "LEECH" and self.position.player in self._sells:
            if self.position.player == line.who and line.is_leech:
                break
            yield from self.act("leech DECLINE")
        yield from super().line(line)

    def command(self, command: list[str], rest: list[list[str]]) -> Script:
        """One command; before the last pass also what the other engine sells at the end."""
        if command == ["pass"]:
            yield from self._sell(self._sells.get(self.who, 0))
        yield from super().command(command, rest)

    def _sell(self, vp: int) -> Script:
        """Sell until the rest is worth `vp` VP: power last, because it can be charged again."""
        for text in ("free Q_to_O", "free P1_to_C", "free burn"):
            while left_vp(self.position.state.game, self.who) < vp and self.position.legal(text):
                yield from self.act(text)
                while text == "free burn" and self.position.legal("free P1_to_C"):
                    yield from self.act("free P1_to_C")


def left_vp(game: GameState, player: int) -> int:
    """VP for credits, ore and knowledge at the end (FIN-11)."""
    players = game.players
    left = players.credits[player] + players.ore[player] + players.knowledge[player]
    return int(left) // costs.RESOURCES_PER_VP


def read(path: str | Path) -> list[dict[str, Any]]:
    """The logs of a file.

    Raises:
        LogError: the file has no log.
    """
    try:
        data = command_line.read_bytes(path, LONGEST)
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(LONGEST + 1)
        if len(data) > LONGEST:
            raise LogError(f"{path} is longer than {LONGEST:,} bytes")
        text = data.decode("utf-8-sig")
    except command_line.UserError as error:
        raise LogError(str(error)) from error
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise LogError(f"{path} is no text: {command_line.one_line(error)}") from error
    try:
        games = list(_values(text))
    except (ValueError, RecursionError) as error:
        raise LogError(f"{path} is not JSON: {error}") from error
    if not games or not all(isinstance(game, dict) and "steps" in game for game in games):
        raise LogError(f"{path} is no log: a game has the keys id, setup, steps and vp")
    return games


def _values(text: str) -> Iterator[Any]:
    """The JSON values of a text, with white space between them."""
    decoder, text = json.JSONDecoder(), text.rstrip()
    place = len(text) - len(text.lstrip())
    while place < len(text):
        value, place = decoder.raw_decode(text, place)
        yield value
        while text[place : place + 1].isspace():
            place += 1


def to_record(log: Log, progress: Callable[[int], object] = lambda move: None) -> Imported:
    """Play a log by our rules.

    Args:
        log: one game, as `read` gives it.
        progress: called with the number of each move.
    Returns:
        The record, which ends with our VP. The other engine sells power and QIC at the end; where
        that is worth VP and possible at the last pass, the record does so.
    Raises:
        LogError: the log cannot be read or played; the message names the move.
    """
    plain, left = _play(log, {}, progress)
    vp_pairs = enumerate(zip(plain.logged_vp, plain.record.final_vp, strict=False))
    sells = {at: left[at] + logged - vp for at, (logged, vp) in vp_pairs if logged > vp}
    best, held_back = plain, dict[int, int]()
    for player, vp in sells.items():
        try:
            sold, _ = _play(log, held_back | {player: vp}, progress)
        except LogError:  # more power can be charged then, which changes later offers
            continue
        if sum(sold.record.final_vp) > sum(best.record.final_vp):
            best, held_back = sold, held_back | {player: vp}
    return best


def _play(
    log: Log, sells: Mapping[int, int], progress: Callable[[int], object]
) -> tuple[Imported, list[int]]:
    """The record where these players sell; by player the VP for what was left at the last pass."""
    player: _Importing | None = None
    try:
        if (players := len(log["vp"])) not in (2, 3, 4):
            raise MismatchError("players", players, "2 to 4")
        rules = VARIANTS[RULES, players]
        if log["setup"].get("mirror"):
            raise MismatchError("map", "mirrored tiles", "tiles as printed")
        setup = setup_of(log, rules)
        env = gaia_jax.make(RULES, players=rules.players)
        start, step = compiled(env)
        position = Position(rules, jax.device_get(start(laid(setup, rules))))
        player = _Importing(position, log, sells)
        actions = []
        for action in player.play_lines():
            if player.at_line:
                progress(player.at_line.number + 1)
            actions.append(rules.actions.texts[action])
            position.set_state(jax.device_get(step(position.state, action)))
        logged_vp = tuple(int(vp) for _, vp in log["vp"])
        _check_end(position, player, log, logged_vp)
    except (MismatchError, *UNREADABLE) as error:
        raise LogError(_mismatch_message(log, player, error)) from error
    vp = tuple(position.state.game.players.vp.tolist()) if position.over else ()
    inexpressible = {note: line.number + 1 for note, line in player.inexpressible.items() if line}
    left = [left_vp(player.before, number) for number in range(rules.players)]
    played = Record(RULES, env.version, setup, tuple(actions), vp)
    return Imported(played, logged_vp, inexpressible), left


def _check_end(position: Position, player: Player, log: Log, logged_vp: Sequence[int]) -> None:
    """Compare the end, and the VP if our actions express every choice.

    Raises:
        MismatchError: it does not.
    """
    if position.over != log.get("ended", position.over):
        raise MismatchError("ended", log["ended"], position.over)
    bids_come_off_vp = "auction" in log.get("opts", {})
    if not position.over or player.inexpressible or bids_come_off_vp:
        return
    for number, vp in enumerate(logged_vp):
        replayed_vp = final_vp(position.rules, position.state.game, player.before, number)
        if replayed_vp != vp:
            raise MismatchError(f"VP of player {number} at the end", vp, replayed_vp)


def _mismatch_message(log: Log, player: Player | None, error: Exception) -> str:
    """The place and reason in one line why a log could not be played."""
    place = f"game {log.get('id', '')}".strip()
    if player and player.at_line:
        place += f", move {player.at_line.number + 1} {player.at_line.text!r}"
    if isinstance(error, MismatchError):
        subject, logged, replayed = error.args
        why = f"{subject}: {_shortened(logged)}, here {_shortened(replayed)}"
    else:
        why = f"cannot be read ({type(error).__name__}: {error})"
    before = ""
    if player and player.inexpressible:
        before = "; before it " + ", ".join(
            f"{subject} (move {line.number + 1})"
            for subject, line in player.inexpressible.items()
            if line
        )
    return command_line.one_line(f"{place}: {why}{before}")


def _shortened(value: object) -> str:
    """A value of a message: short."""
    text = " ".join(str(x) for x in value) if isinstance(value, list) else str(value)
    return text if len(text) < 80 else f"{text[:76]} ..."


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns the exit code: 2 where the log cannot be read or played."""
    return command_line.run(lambda: _main(arguments), (LogError,))


def _main(arguments: Sequence[str] | None) -> int:
    options = _parse(arguments)
    logs = read(options.log)
    ids = [str(log.get("id")) for log in logs]
    if options.game is None and len(logs) > 1:
        raise LogError(f"{options.log} has {len(logs)} games, --game wants one of {', '.join(ids)}")
    if options.game is not None and options.game not in ids:
        raise LogError(f"{options.log} has no game {options.game!r}: it has {', '.join(ids)}")
    log = logs[ids.index(options.game) if options.game is not None else 0]
    move = 0

    def progress(at: int) -> None:
        nonlocal move
        move = at

    with status_line(
        lambda: f"move {move} of {len(log['steps'])}" if move else "compiling the game"
    ):
        imported = to_record(log, progress)
    print(imported)
    if options.out:
        write(options.out, imported.record)
    command_line.wrote(options.out)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_line.Parser("python -m gaia_jax.importers.boardgamers", __doc__)
    parser.add_argument("log", metavar="LOG", type=Path, help="the log of a game, JSON")
    parser.add_argument("--game", metavar="ID", help="id of the game in a file with several")
    parser.add_argument("--out", metavar="RECORD", type=Path, help="write the record here")
    options = parser.parse_args(arguments)
    if options.out:
        outputs.check_file("--out", options.out, outputs.json_with(format=FORMAT))
    return options


if __name__ == "__main__":
    enable_compilation_cache()
    sys.exit(main())
