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
from gaia_jax.setup.setup_json import SEATS, setup_from_json

from ..system import data_files
from ..system.data_files import LIST, OBJECT, SWITCH, TEXT, WHOLE
from ..system.environments import make_env
from ..types import Environment, EnvModule
from . import card, parquet_files
from .schema import DECISIONS as DECISIONS  # also by this name elsewhere
from .schema import GAMES as GAMES
from .schema import NAME, SCHEMA, About, schema

Range = tuple[About, Path, int]  # a part, its folder, and its first row there

FORMAT = "gaia_jax dataset 1"
ABOUT, README = "dataset.json", "README.md"
PIECES, DECISION_PIECES = "pieces", "decision_pieces"
# What the games of a part depend on; adjoining parts with equal values are merged.
IDENTITY = ("env", "version", "players", "agents", "likeliest", "rotations", "batch", "seed")
LONGEST = 10**7  # bytes of dataset.json
# Keys of every `dataset.json`; further keys are those of a complete one.
FIXED = ("format", "tables", "schema", "parts", "files")
# Kinds of its keys, those of a part, of an agent and of a file (`data_files.check_keys`).
KEYS = {"parts": LIST, "files": OBJECT}
COMPLETE = {"vp_sources": LIST, "slots": OBJECT}
OPTIONAL = {"made_with": LIST, "strength": OBJECT}  # missing in older datasets
AGENT = {"name": TEXT, "sha256": TEXT}
FILE = {"rows": WHOLE, "bytes": WHOLE, "sha256": TEXT}
PART = {"env": TEXT, "version": TEXT, "players": WHOLE, "agents": LIST, "likeliest": SWITCH,
        "rotations": WHOLE, "batch": WHOLE, "seed": WHOLE, "first": WHOLE,
        "games": WHOLE}  # fmt: skip


def read_about(folder: Path) -> About:
    """`dataset.json` of a folder. Raises UserError where there is none."""
    path = folder / ABOUT
    try:
        data = data_files.read_json(path, longest=LONGEST)
    except UserError as error:
        raise UserError(f"{folder} is no dataset: {error}") from error
    check_about(str(path), data)
    return dict(data)


def read_whole(folder: Path) -> About:
    """`read_about` of a complete dataset. Raises UserError where it is incomplete."""
    about = read_about(folder)
    if not about["files"]:
        raise UserError(f"{folder} is not whole: run its command again")
    return about


def check_about(path: str, data: object) -> None:
    """Reject data that is not a `dataset.json`: a UserError names the first wrong key."""
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
        # Alone against the Automa there are two: it is the second one.
        if part["players"] not in SEATS or len(part["agents"]) != max(part["players"], 2):
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
    optional = {key: kind for key, kind in OPTIONAL.items() if key in data}
    data_files.check_keys(path, data, COMPLETE | optional)
    rows, games = data["files"][GAMES]["rows"], sum(part["games"] for part in data["parts"])
    if rows != games:
        raise UserError(f"{path}: {GAMES} has {rows} rows, the parts {games} games")


def agents(about: About) -> list[tuple[str, str]]:
    """Name and hash of all agents of a dataset, in order, without the Automa."""
    deciding = (agent for part in about["parts"] for agent in part["agents"][: part["players"]])
    return sorted({(agent["name"], agent["sha256"]) for agent in deciding})


def env_of(folder: Path, env_module: EnvModule, id: str, players: int) -> Any:
    """The environment of a dataset's games. Raises UserError for an unknown id."""
    try:
        return make_env(env_module, id, "vp", players)
    except UserError as error:
        raise UserError(f"{folder / ABOUT}: {error}") from error


def check_games(folder: Path, about: About, env: Environment) -> None:
    """Reject games that do not match `dataset.json`, before anything is compiled.

    Reads the end of the file and the set-up of the first game.

    Raises:
        UserError: the file is truncated, lacks a column or rows, or is of another ruleset.
    """
    path, ids = folder / GAMES, list(env.ruleset.ids["vp_source"])
    if about["vp_sources"] != ids:
        declared = data_files.shown(about["vp_sources"])
        raise UserError(f"{folder / ABOUT}: vp_sources are {declared}, not those of {env.id}")
    _, table = next(parquet_files.row_groups(path, ["env", "setup"]), (0, None))
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
    parquet_files.check(path, schema(setup, env.ruleset.ids), rows)


def check_bytes(folder: Path, about: About) -> str:
    """Compare the bytes of the games with dataset.json. Returns "" or the difference.

    Raises:
        UserError: rows cannot be read; the message names them.
    """
    path = folder / GAMES
    if data_files.digest(path) == about["files"][GAMES]["sha256"]:
        return ""
    for _ in parquet_files.row_groups(path):
        pass
    return f"{path} is not the file of {ABOUT}: its sha256 differs"


def begin(folder: Path, part: About, made_with: str) -> bool:
    """Create a folder for a part, or continue with an existing one.

    Until it is complete, its number of games may change.

    Args:
        made_with: version of the code that plays now; earlier versions stay listed.
    Returns:
        Whether all of its games exist.
    Raises:
        UserError: the folder holds something else; it is unchanged.
    """
    versions = [made_with]
    if (folder / ABOUT).exists():
        about = read_about(folder)
        stored, *others = about["parts"]
        wrong = [key for key in part if stored.get(key) != part[key]]
        if others or set(wrong) - (set() if about["files"] else {"games"}):
            shown = ((key, *map(data_files.shown, (stored.get(key), part[key]))) for key in wrong)
            differences = ", ".join(f"{key} {old}, not {new}" for key, old, new in shown)
            others_text = f"{len(about['parts'])} parts" if others else differences
            raise UserError(f"{folder} holds other games: {others_text}")
        if about["files"]:
            return True
        versions = [*(x for x in about.get("made_with", []) if x != made_with), made_with]
    else:
        outputs.check_folder("--out", folder)
        folder.mkdir(parents=True, exist_ok=True)
    _write(folder, [part], {}, {"made_with": versions})
    return False


def finish(folder: Path, parts: list[About], about: About) -> None:
    """Write `dataset.json`, with further keys, and the card of complete Parquet files."""
    files = {}
    for name in (GAMES, DECISIONS):
        path = folder / name
        if path.exists():
            rows = pq.read_metadata(path).num_rows
            size = path.stat().st_size
            files[name] = {"rows": rows, "bytes": size, "sha256": data_files.digest(path)}
    _write(folder, parts, files, about)
    outputs.write_text(folder / README, card.of(folder, read_about(folder)))


def _write(folder: Path, parts: list[About], files: About, about: About) -> None:
    fixed = dict(zip(FIXED, (FORMAT, NAME, SCHEMA, parts, files), strict=True))
    outputs.write_text(folder / ABOUT, json.dumps(fixed | about, indent=1) + "\n")


def of_files(folder: Path) -> About:
    """The further keys of a folder's `dataset.json`."""
    return {key: value for key, value in read_about(folder).items() if key not in FIXED}


def merge(out: Path, folders: Sequence[Path], games: int | None = None) -> int:
    """Merge the games of several folders into one, in the order of agents, seed and deal.

    Args:
        games: number of games to take from the start, rounded up to whole set-ups; None: all.
    Returns:
        The number of games.
    Raises:
        UserError: a folder is not a complete dataset, two have the same games, or their columns
            differ.
    """
    outputs.check_folder("--out", out)
    ranges: list[Range] = []
    for folder in folders:
        at = 0
        for part in read_whole(folder)["parts"]:
            ranges.append((part, folder, at))
            at += part["games"]
    ranges.sort(key=lambda x: json.dumps([x[0][key] for key in IDENTITY]) + f"{x[0]['first']:012}")
    if games is not None:
        ranges = _first(ranges, games)
    parts: list[About] = []
    for part, folder, _ in ranges:
        _join(parts, part, folder)
    about = _together([of_files(folder) for folder in folders])
    if len({(part["env"], part["players"]) for part in parts}) > 1:
        raise UserError("the folders have games of different rules, which need different columns")
    try:
        with outputs.new_folder(out) as new:
            total = parquet_files.assemble(new / GAMES, _rows(ranges))
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


def _first(ranges: list[Range], games: int) -> list[Range]:
    """The ranges of the first games; the last one is shortened."""
    out = []
    for part, folder, at in ranges:
        whole_deals = -(-games // part["rotations"]) * part["rotations"]
        if games > 0:
            out.append((part | {"games": min(part["games"], whole_deals)}, folder, at))
        games -= part["games"]
    return out


def _join(parts: list[About], part: About, folder: Path) -> None:
    """Add a part; it extends the last one if it continues it."""
    if parts and all(parts[-1][key] == part[key] for key in IDENTITY):
        last = parts[-1]
        end = last["first"] + last["games"] // last["rotations"]
        if part["first"] < end:
            raise UserError(f"{folder} has games that another folder has: deal {part['first']}")
        if part["first"] == end:
            last["games"] += part["games"]
            return
    parts.append(dict(part))


def _rows(ranges: list[Range]) -> Iterator[pa.Table]:
    """The rows of each range, a row group at a time."""
    for part, folder, at in ranges:
        for first, table in parquet_files.row_groups(folder / GAMES):
            low, high = max(at, first), min(at + part["games"], first + len(table))
            if low < high:
                yield table.slice(low - first, high - low)
