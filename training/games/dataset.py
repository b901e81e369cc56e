"""The folder of a dataset: `dataset.json`, `games.parquet`, `README.md`, pieces until complete."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import UserError, reason
from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.xla.packed import PLAYERS

from ..system import data_files
from ..system.data_files import LIST, OBJECT, SWITCH, TEXT, WHOLE
from ..system.environments import make_env
from ..types import Environment, EnvModule
from . import card, shards
from .schema import DECISIONS as DECISIONS  # also by this name elsewhere
from .schema import GAMES as GAMES
from .schema import NAME, SCHEMA, About, schema

FORMAT = "gaia_jax dataset 1"
ABOUT, README = "dataset.json", "README.md"
PIECES, DECISION_PIECES = "pieces", "decision_pieces"
# What the games of a part depend on; adjoining parts with equal values are merged.
IDENTITY = ("env", "version", "players", "agents", "likeliest", "rotations", "batch", "seed")
LONGEST = 10**7  # bytes of dataset.json
# Kinds of its keys, those of a part, of an agent and of a file (`data_files.check_keys`).
KEYS = {"parts": LIST, "files": OBJECT}
MAY = {"made_with": LIST, "strength": OBJECT}  # missing in older datasets
AGENT = {"name": TEXT, "sha256": TEXT}
FILE = {"rows": WHOLE, "bytes": WHOLE, "sha256": TEXT}
PART = {"env": TEXT, "version": TEXT, "players": WHOLE, "agents": LIST, "likeliest": SWITCH,
        "rotations": WHOLE, "batch": WHOLE, "seed": WHOLE, "first": WHOLE,
        "games": WHOLE}  # fmt: skip


def read_about(folder: Path) -> dict[str, Any]:
    """`dataset.json` of a folder.

    Raises:
        UserError: there is no dataset.json, or it is not a dataset's.
    """
    path = folder / ABOUT
    try:
        data = data_files.read_json(path, longest=LONGEST)
    except UserError as error:
        raise UserError(f"{folder} is no dataset: {error}") from error
    check_about(str(path), data)
    return dict(data)


def read_whole(folder: Path) -> dict[str, Any]:
    """`read_about` of a complete dataset.

    Raises:
        UserError: it is incomplete.
    """
    about = read_about(folder)
    if not about["files"]:
        raise UserError(f"{folder} is not whole: run its command again")
    return about


def check_about(path: str, data: object) -> None:
    """Reject data that is not a `dataset.json`.

    Raises:
        UserError: it names the first missing or wrong key.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UserError(f"{path} is of no dataset: it has no format {FORMAT!r}")
    if data.get("schema") != SCHEMA:
        raise UserError(f"{path} has schema {data_files.shown(data.get('schema'))}, not {SCHEMA}")
    data_files.check_keys(path, data, KEYS)
    if not data["parts"]:
        raise UserError(f"{path}: parts has no games")
    for number, part in enumerate(data["parts"]):
        part_path = f"{path}: parts[{number}]"
        data_files.check_keys(part_path, part, PART)
        for agent in part["agents"]:
            data_files.check_keys(f"{part_path}.agents", agent, AGENT)
        if part["players"] not in PLAYERS or len(part["agents"]) != part["players"]:
            raise UserError(
                f"{part_path}: agents are {len(part['agents'])}, players {part['players']}"
            )
        if part["rotations"] < 1 or part["games"] < 1:
            raise UserError(f"{part_path}: rotations and games must be above 0")
    for name, file in data["files"].items():
        data_files.check_keys(f"{path}: files.{name}", file, FILE)
    if not data["files"]:
        return  # of an unfinished export
    if GAMES not in data["files"]:
        raise UserError(f"{path}: key 'files.{GAMES}' is missing")
    data_files.check_keys(path, data, {"vp_sources": LIST, "slots": OBJECT})
    data_files.check_keys(path, data, {key: kind for key, kind in MAY.items() if key in data})
    rows, games = data["files"][GAMES]["rows"], sum(part["games"] for part in data["parts"])
    if rows != games:
        raise UserError(f"{path}: {GAMES} has {rows} rows, the parts {games} games")


def env_of(folder: Path, env_module: EnvModule, id: str, players: int) -> Any:
    """The environment of a dataset's games. Raises UserError for an unknown id."""
    try:
        return make_env(env_module, id, "vp", players)
    except UserError as error:
        raise UserError(f"{folder / ABOUT}: {error}") from error


def check_games(folder: Path, about: dict[str, Any], env: Environment) -> None:
    """Reject games that do not match `dataset.json`, before anything is compiled.

    Reads the end of the file and the set-up of the first game.

    Raises:
        UserError: the file is truncated, lacks a column or rows, or is of another ruleset.
    """
    path, ids = folder / GAMES, list(env.ruleset.ids["vp_source"])
    if about["vp_sources"] != ids:
        declared = data_files.shown(about["vp_sources"])
        raise UserError(f"{folder / ABOUT}: vp_sources are {declared}, not those of {env.id}")
    _, table = next(shards.row_groups(path, ["env", "setup"]), (0, None))
    if table is None or not len(table):
        raise UserError(f"{path} has no rows")
    if (declared := str(table["env"][0].as_py())) != env.id:
        raise UserError(f"{path} has games of {declared}, {folder / ABOUT} of {env.id}")
    text = str(table["setup"][0].as_py())
    try:
        setup_from_json(text, env.ruleset)
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path}: row 0 has no set-up of {env.id}: {reason(error)}") from error
    setup = json.loads(text)
    rows = about["files"][GAMES]["rows"]
    shards.check(path, schema(setup, env.ruleset.ids, env.num_players), rows)


def check_bytes(folder: Path, about: dict[str, Any]) -> str:
    """Compare the bytes of the games with dataset.json. Returns "" or the difference.

    Raises:
        UserError: rows cannot be read; the message names them.
    """
    path = folder / GAMES
    if shards.digest(path) == about["files"][GAMES]["sha256"]:
        return ""
    for _ in shards.row_groups(path):
        pass
    return f"{path} is not the file of {ABOUT}: its sha256 differs"


def begin(folder: Path, part: dict[str, Any], made_with: str) -> bool:
    """Create a folder for a part, or continue with an existing one.

    Until it is complete, its number of games may change.

    Args:
        made_with: version of the code that plays now; earlier versions stay listed.

    Returns:
        Whether all of its games exist.
    Raises:
        UserError: the folder holds something else; it is unchanged.
    """
    if (folder / ABOUT).exists():
        about = read_about(folder)
        is_complete = bool(about["files"])
        same = about["parts"] == [part]
        if not is_complete and len(about["parts"]) == 1:
            same = about["parts"][0] | {"games": part["games"]} == part
        if not same:
            raise UserError(f"{folder} holds other games: {_difference(about['parts'], part)}")
        if not is_complete:
            earlier_versions = [x for x in about.get("made_with", []) if x != made_with]
            _write(folder, [part], {}, {"made_with": [*earlier_versions, made_with]})
        return is_complete
    outputs.check_folder("--out", folder, parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, [part], {}, {"made_with": [made_with]})
    return False


def _difference(parts: list[dict[str, Any]], part: dict[str, Any]) -> str:
    if len(parts) != 1:
        return f"{len(parts)} parts"
    keys = [key for key in part if parts[0].get(key) != part[key]]
    return ", ".join(f"{key} {_short(parts[0].get(key))}, not {_short(part[key])}" for key in keys)


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def finish(folder: Path, parts: list[dict[str, Any]], about: About) -> None:
    """Write `dataset.json` and the card of a folder with complete Parquet files.

    Args:
        about: further keys.
    """
    files = {}
    for name in (GAMES, DECISIONS):
        path = folder / name
        if path.exists():
            rows = pq.read_metadata(path).num_rows
            size = path.stat().st_size
            files[name] = {"rows": rows, "bytes": size, "sha256": shards.digest(path)}
    _write(folder, parts, files, about)
    outputs.write_text(folder / README, card.of(folder, read_about(folder)))


def _write(
    folder: Path, parts: list[dict[str, Any]], files: dict[str, Any], about: dict[str, Any]
) -> None:
    data = {"format": FORMAT, "tables": NAME, "schema": SCHEMA, "parts": parts, "files": files}
    outputs.write_text(folder / ABOUT, json.dumps(data | about, indent=1) + "\n")


def of_files(folder: Path) -> dict[str, Any]:
    """The further keys of a folder's `dataset.json`."""
    keys = ("format", "tables", "schema", "parts", "files")
    return {key: value for key, value in read_about(folder).items() if key not in keys}


def merge(out: Path, folders: Sequence[Path], games: int | None = None) -> int:
    """Merge the games of several folders into one, in the order of agents, seed and deal.

    Args:
        games: number of games to take from the start, rounded up to whole deals; None: all.
    Returns:
        The number of games.
    Raises:
        UserError: a folder is not a complete dataset, two have the same games, or their columns
            differ.
    """
    outputs.check_folder("--out", out, parents=True)
    loaded_parts = []
    for folder in folders:
        at = 0
        for part in read_whole(folder)["parts"]:
            loaded_parts.append((part, folder, at))
            at += part["games"]
    loaded_parts.sort(
        key=lambda x: json.dumps([x[0][key] for key in IDENTITY]) + f"{x[0]['first']:012}"
    )
    if games is not None:
        loaded_parts = _first(loaded_parts, games)
    parts: list[dict[str, Any]] = []
    for part, folder, _ in loaded_parts:
        _join(parts, part, folder)
    about = _together([of_files(folder) for folder in folders])
    if len({(part["env"], part["players"]) for part in parts}) > 1:
        raise UserError("the folders have games of different rules, which need different columns")
    try:
        with outputs.new_folder(out) as new:
            total = shards.assemble(new / GAMES, _rows(loaded_parts))
            finish(new, parts, about)
    except (pa.ArrowException, OSError) as error:
        sources = ", ".join(str(folder / GAMES) for folder in folders)
        raise UserError(f"cannot merge {sources} into {out}: {reason(error)}") from error
    return total


def _together(abouts: list[About]) -> About:
    """Merge the further keys of several datasets."""
    versions = dict.fromkeys(text for about in abouts for text in about.get("made_with", []))
    strength = {k: v for about in abouts for k, v in about.get("strength", {}).items()}
    shared = {"made_with": list(versions), "strength": strength}
    return abouts[0] | {key: value for key, value in shared.items() if value}


def _first(
    parts: list[tuple[dict[str, Any], Path, int]], games: int
) -> list[tuple[dict[str, Any], Path, int]]:
    """The parts of the first games; the last one is shortened."""
    out = []
    for part, folder, at in parts:
        whole_deals = -(-games // part["rotations"]) * part["rotations"]
        if games > 0:
            out.append((part | {"games": min(part["games"], whole_deals)}, folder, at))
        games -= part["games"]
    return out


def _join(parts: list[dict[str, Any]], part: dict[str, Any], folder: Path) -> None:
    """Add a part; it extends the last one if it continues it."""
    same = bool(parts) and all(parts[-1][key] == part[key] for key in IDENTITY)
    if not same:
        parts.append(dict(part))
        return
    last = parts[-1]
    end = last["first"] + last["games"] // last["rotations"]
    if part["first"] < end:
        raise UserError(f"{folder} has games that another folder has: deal {part['first']}")
    if part["first"] == end:
        last["games"] += part["games"]
    else:
        parts.append(dict(part))


def _rows(parts: list[tuple[dict[str, Any], Path, int]]) -> Iterator[pa.Table]:
    """The rows of each part, a row group at a time."""
    for part, folder, at in parts:
        for first, table in shards.row_groups(folder / GAMES):
            low, high = max(at, first), min(at + part["games"], first + len(table))
            if low < high:
                yield table.slice(low - first, high - low)
