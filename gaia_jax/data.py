"""`transitions`: the decisions of a dataset of games, in shuffled batches for training.

    for batch in gaia_jax.data.transitions("data/mixed", env, batch=256):
        batch["observation"], batch["mask"], batch["action"], batch["return_to_go"]

A dataset stores set-ups and actions alone (`gaia export`). Positions are made by playing the games
again, a group of games at a time, so the memory needed does not grow with the dataset. Needs
pyarrow, which is in the extra `data`.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jax import Array, lax

from gaia_jax.adapters.layout import KINDS, SCALED, arranged, choice
from gaia_jax.cli import arguments
from gaia_jax.cli.command_line import UserError
from gaia_jax.env import GaiaEnv
from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.state import Setup

GAMES = "games.parquet"
COLUMNS = ("env", "version", "setup", "actions", "vp")
OBSERVATIONS = (SCALED, *KINDS)
STRIDE = 32  # decisions of each game that one compiled call plays
MOST = 2**31 - 1

Batch = dict[str, Any]  # arrays (B, ...) by name; of "observation": or an `Observation` of arrays


def transitions(
    path: str | os.PathLike[str],
    env: GaiaEnv,
    batch: int = 256,
    *,
    observation: str = SCALED,
    seed: int | None = 0,
    epochs: int | None = 1,
    shard: tuple[int, int] = (0, 1),
    group: int = 64,
) -> Iterator[Batch]:
    """The decisions of all seats, each with what followed.

    Args:
        path: a dataset's folder, or a `games.parquet`.
        env: of the games' ruleset, version and number of players; its rewards are those paid.
        batch: B, transitions of a batch. The last ones, which fill no batch, are left out.
        observation: "scaled", "vector", "picture" or "tree", as `gaia_jax.single_agent` takes it.
        seed: of the order. Row groups of the file, games within them and the transitions of
            `group` games are shuffled. None: the order of the file, game by game.
        epochs: how many times to play the games; None: without end.
        shard: (i, n): only every n-th game of the file from the i-th on, such as
            `(jax.process_index(), jax.process_count())`.
        group: games that are played at a time. A decision takes about 20 kB until it is yielded.
    Yields:
        numpy arrays by name:
        `observation`: (B, ...), what the deciding seat sees;
        `mask`: (B, A) bool, its legal actions;
        `action`: (B,) int32;
        `seat`: (B,) int32, the player that decides;
        `reward`: (B,) float32, what the seat is paid until its next decision;
        `return_to_go`: (B,) float32, what it is paid until the end of the game;
        `end`: (B,) bool, the seat's last decision;
        `game`: (B,) int64, the row of the file;
        `decision`: (B,) int32, the number of the decision in its game.
    Raises:
        UserError: the file is unreadable, or of another game than `env`; a row does not replay.
        TypeError, ValueError: a wrong argument; without end, a shard without games.
    """
    file = _file(Path(path), env)
    choice("observation", observation, OBSERVATIONS)
    size = arguments.whole_number("batch", batch, 1, MOST)
    width = arguments.whole_number("group", group, 1, MOST)
    index, shards = shard
    shards = arguments.whole_number("the second of shard", shards, 1, MOST)
    index = arguments.whole_number("the first of shard", index, 0, shards - 1)
    if epochs is None and index >= (games := pq.read_metadata(file).num_rows):
        raise ValueError(f"shard {index} of {shards} has no games: the file has {games}")
    rng = None if seed is None else np.random.default_rng(seed)
    number = MOST if epochs is None else arguments.whole_number("epochs", epochs, 1, MOST)
    rows = (row for _ in range(number) for row in _rows(file, rng) if row["row"] % shards == index)
    arrange = _arrange(env, observation)
    return _batches(_played(rows, env, width, file, rng), size, arrange)


def _file(path: Path, env: GaiaEnv) -> Path:
    """The file of games, checked against the environment by its columns and first row."""
    file = path / GAMES if path.is_dir() else path
    try:
        with pq.ParquetFile(file) as parquet:
            missing = set(COLUMNS) - set(parquet.schema_arrow.names)
            if missing or not parquet.metadata.num_rows:
                lack = f"column {min(missing)!r}" if missing else "rows"
                raise UserError(f"{file} has no {lack}")
            first = parquet.read_row_group(0, list(COLUMNS)).slice(0, 1).to_pylist()[0]
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{file} is no file of games: {str(error).splitlines()[0]}") from error
    own = (env.id, env.version, env.num_players)
    if (stored := (first["env"], first["version"], len(first["vp"]))) != own:
        games = (f"{id!r} {version} for {players}" for id, version, players in (stored, own))
        raise UserError(f"{file} has games of {' players, the environment is '.join(games)}")
    return file


def _rows(file: Path, rng: np.random.Generator | None) -> Iterator[dict[str, Any]]:
    """Every game of the file once, with its number as `row`."""
    with pq.ParquetFile(file) as parquet:
        sizes = [parquet.metadata.row_group(i).num_rows for i in range(parquet.num_row_groups)]
        firsts = np.cumsum([0, *sizes])
        for number in _order(len(sizes), rng):
            table = parquet.read_row_group(number, list(COLUMNS))
            for row in _order(len(table), rng):
                game = table.slice(row, 1).to_pylist()[0]
                yield game | {"row": int(firsts[number] + row)}


def _order(size: int, rng: np.random.Generator | None) -> list[int]:
    return list(range(size)) if rng is None else rng.permutation(size).tolist()


def _played(
    rows: Iterator[dict[str, Any]],
    env: GaiaEnv,
    width: int,
    file: Path,
    rng: np.random.Generator | None,
) -> Iterator[Batch]:
    """The transitions of `width` games after the other, in the order that `rng` draws."""
    while group := list(itertools.islice(rows, width)):
        played = _replay(group, env, width, file)
        if rng is not None:
            order = rng.permutation(len(played["action"]))
            played = jax.tree.map(lambda x, order=order: x[order], played)
        yield played


def _replay(rows: list[dict[str, Any]], env: GaiaEnv, width: int, file: Path) -> Batch:
    """All decisions of at most `width` games, game by game."""
    setups = [setup_from_json(row["setup"], env.ruleset) for row in rows]
    lengths = np.array([len(row["actions"]) for row in rows])
    actions = np.zeros((-(-lengths.max() // STRIDE) * STRIDE, width), np.int32)
    for column, row in enumerate(rows):
        actions[: lengths[column], column] = row["actions"]
    start, advance = _compiled(env)
    filled = setups + setups[-1:] * (width - len(setups))
    state = start(jax.tree.map(lambda *x: np.stack(x), *filled))
    live = np.arange(len(actions))[:, None] < lengths
    notes = []
    for first in range(0, len(actions), STRIDE):
        state, seen = advance(state, actions[first : first + STRIDE])
        notes.append(jax.tree.map(_chosen(live[first : first + STRIDE]), jax.device_get(seen)))
    decision, game = np.nonzero(live)
    order = np.lexsort((decision, game))
    out: Batch = jax.tree.map(lambda *x: np.concatenate(x)[order], *notes)
    out["decision"], game = decision[order].astype(np.int32), game[order]
    out["game"] = np.array([row["row"] for row in rows])[game]
    final = np.asarray(state.game.players.vp)[: len(rows), : env.num_players]
    wrong = (final != [row["vp"] for row in rows]).any(1)
    wrong[game[~out.pop("is_legal")]] = True
    if wrong.any():
        row = rows[int(wrong.argmax())]["row"]
        raise UserError(f"{file}: row {row} does not replay to its VP")
    return out | _returns(out.pop("paid"), out["seat"], game)


def _chosen(live: np.ndarray) -> Any:
    """(T, G, ...) -> the entries (T, G) that are of a game, in a row."""
    return lambda x: x[:, : live.shape[1]][live]


def _returns(paid: np.ndarray, seat: np.ndarray, game: np.ndarray) -> Batch:
    """Reward, return to go and end of each decision of games in a row.

    Args:
        paid: (N, P) float32, what each decision pays to each player.
        seat: (N,), who decides.
        game: (N,), ascending.
    """
    to_go = np.zeros(len(seat), np.float32)
    reward, end = to_go.copy(), np.zeros(len(seat), bool)
    for number in np.unique(game):
        rows = np.flatnonzero(game == number)
        later = np.cumsum(paid[rows][::-1].astype(np.float64), axis=0)[::-1]
        for player in range(paid.shape[1]):
            own = np.flatnonzero(seat[rows] == player)
            value = later[own, player]
            to_go[rows[own]] = value
            reward[rows[own]] = value - np.append(value[1:], 0)[: len(value)]
            end[rows[own[-1:]]] = True
    return {"reward": reward, "return_to_go": to_go, "end": end}


@functools.lru_cache(maxsize=8)
def _compiled(env: GaiaEnv) -> tuple[Any, Any]:
    """First states of set-ups; and STRIDE decisions: (states, actions (T, G)) -> states, notes.

    After its end a game does not change.
    """

    def start(setups: Setup) -> Any:
        return jax.vmap(env.init_from)(setups)

    def advance(states: Any, actions: Array) -> Any:
        def decide(states: Any, chosen: Array) -> Any:
            seat, mask = states.current_player, states.legal_action_mask
            seen = jax.vmap(env.observe)(states, seat)
            after = jax.vmap(env.step)(states, chosen)
            legal = jnp.take_along_axis(mask, chosen[:, None], axis=1)[:, 0]
            notes = {"observation": seen, "mask": mask, "action": chosen, "seat": seat}
            return after, notes | {"is_legal": legal, "paid": after.rewards}

        return lax.scan(decide, states, actions)

    return jax.jit(start), jax.jit(advance)


def _arrange(env: GaiaEnv, observation: str) -> Any:
    """A function of a batch of observations that gives them in the form asked for, numpy."""
    if observation == "tree":
        return lambda seen: seen
    arrange = functools.partial(arranged, observation, env.ruleset)
    return jax.jit(jax.vmap(arrange))


def _batches(played: Iterator[Batch], size: int, arrange: Any) -> Iterator[Batch]:
    """Cut transitions into batches of `size`; what is left over begins the next ones."""
    rest: Batch | None = None
    for new in played:
        both = new if rest is None else jax.tree.map(lambda *x: np.concatenate(x), rest, new)
        full = len(both["action"]) // size * size
        for first in range(0, full, size):
            part = jax.tree.map(lambda x, i=first: x[i : i + size], both)
            yield part | {"observation": jax.device_get(arrange(part["observation"]))}
        rest = jax.tree.map(lambda x, i=full: x[i:].copy(), both)
