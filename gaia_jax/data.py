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
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from gaia_jax.adapters.layout import KINDS, SCALED, arranged, choice
from gaia_jax.cli import arguments
from gaia_jax.cli.command_line import UserError
from gaia_jax.cli.lazy import of_extra
from gaia_jax.env import GaiaEnv
from gaia_jax.observation.scaling import scaled_tables
from gaia_jax.ruleset import Ruleset
from gaia_jax.setup.setup_json import players_of, setup_from_json
from gaia_jax.state import Setup

with of_extra("data"):
    import pyarrow as pa
    import pyarrow.parquet as pq

GAMES = "games.parquet"
COLUMNS = ("env", "version", "setup", "actions", "vp")
OBSERVATIONS = (SCALED, *KINDS)
STRIDE = 32  # decisions of each game that one compiled call plays
BLOCK = 256  # decisions that one compiled call observes, at least; larger ones leave the caches
MOST = 2**31 - 1

T = TypeVar("T")
Batch = dict[str, Any]  # arrays (B, ...) by name; of "observation": or an `Observation` of arrays


class _Group(NamedTuple):
    """The N decisions of several whole games."""

    columns: Batch  # arrays (N, ...) by name, those of a game in the order of time
    positions: Any  # numpy `State` without mask, (R, ...)
    rows: np.ndarray  # (N,) int, the row of each decision in `positions`

    def take(self, order: np.ndarray) -> Batch:
        """The columns and "position" of some decisions."""
        rows = self.rows[order]
        position = jax.tree.map(lambda x: x[rows], self.positions)
        return {name: x[order] for name, x in self.columns.items()} | {"position": position}


def transitions(
    path: str | os.PathLike[str],
    env: GaiaEnv,
    batch: int = 256,
    *,
    observation: str = SCALED,
    seed: int | None = 0,
    epochs: int | None = 1,
    shard: tuple[int, int] = (0, 1),
    group: int = 256,
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
        group: games that are played at a time, in a thread that is one group ahead. A decision
            takes 3 kB until it is yielded; small groups are slow.
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
    groups = _prefetch(_played(rows, env, width, file, rng))
    return _batches(groups, size, env, observation, file)


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
    if (stored := (first["env"], first["version"], _players_of(first["setup"]))) != own:
        games = (f"{id!r} {version} for {players}" for id, version, players in (stored, own))
        raise UserError(f"{file} has games of {' players, the environment is '.join(games)}")
    return file


def _players_of(setup: str) -> int:
    """The players who decide, by the set-up of a game; 0 for a broken one."""
    try:
        return players_of(json.loads(setup))
    except ValueError:
        return 0


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
) -> Iterator[tuple[_Group, np.ndarray]]:
    """The decisions of `width` games after the other, and the order in which they are yielded."""
    while games := list(itertools.islice(rows, width)):
        group = _replay(games, env, width, file)
        by_game = np.argsort(group.rows % width, kind="stable")
        yield group, by_game[_order(len(by_game), rng)]


def _prefetch(items: Iterator[T]) -> Iterator[T]:
    """`items`, each computed in a thread while the one before is in use."""
    config: Any = jax.config
    device = config.jax_default_device  # a context of the caller's thread

    def take() -> T | None:
        with jax.default_device(device):
            return next(items, None)

    pool = ThreadPoolExecutor(1, "transitions")  # ends with this generator
    item = pool.submit(take).result()
    while item is not None:
        following = pool.submit(take)
        yield item
        item = following.result()


def _replay(rows: list[dict[str, Any]], env: GaiaEnv, width: int, file: Path) -> _Group:
    """All decisions of at most `width` games."""
    setups = [_read_setup(row, env.ruleset, file) for row in rows]
    lengths = np.array([len(row["actions"]) for row in rows])
    actions = np.zeros((-(-lengths.max() // STRIDE) * STRIDE, width), np.int32)
    for column, row in enumerate(rows):
        actions[: lengths[column], column] = row["actions"]
    start, advance = _compiled_replay(env)
    filled = setups + setups[-1:] * (width - len(setups))
    state = start(jax.tree.map(lambda *x: np.stack(x), *filled))
    state, (positions, seat, paid) = _recorded(state, actions, advance)
    vp = np.asarray(state.game.players.vp)[: len(rows)]
    decision, game = np.nonzero(np.arange(len(actions))[:, None] < lengths)
    live, numbers = decision * width + game, np.array([row["row"] for row in rows])
    wrong = (actions[:, : len(rows)] >= env.num_actions).any(0)
    has_other_vp = [own != row["vp"] for own, row in zip(vp.tolist(), rows, strict=True)]
    wrong |= np.array(has_other_vp)
    if wrong.any():
        raise _replay_error(file, int(numbers[wrong.argmax()]))
    columns = {
        "action": actions[decision, game],
        "seat": seat[live],
        "game": numbers[game],
        "decision": decision.astype(np.int32),
    }
    return _Group(columns | _returns(paid[live], columns["seat"], game), positions, live)


def _recorded(state: Any, actions: np.ndarray, advance: Any) -> tuple[Any, Any]:
    """The last states of G games, and what `advance` returns of all decisions, (T * G, ...)."""
    recorded: Any = None
    for first in range(0, len(actions), STRIDE):
        turns = slice(first, first + STRIDE)
        state, part = advance(state, actions[turns])
        if recorded is None:
            recorded = jax.tree.map(lambda x: np.empty((len(actions), *x.shape[1:]), x.dtype), part)
        jax.tree.map(lambda x, new, turns=turns: np.copyto(x[turns], new), recorded, part)
    return state, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), recorded)


def _read_setup(row: dict[str, Any], ruleset: Ruleset, file: Path) -> Setup:
    """The set-up of a game that has decisions."""
    if not row["actions"]:
        raise UserError(f"{file}: row {row['row']} has no actions")
    try:
        return _setup(row["setup"], ruleset)
    except ValueError as error:
        raise UserError(f"{file}: row {row['row']}: {error}") from error


# An export plays each set-up several times; to read one takes as long as to play hundreds of
# decisions.
@functools.lru_cache(maxsize=8192)
def _setup(text: str, ruleset: Ruleset) -> Setup:
    return setup_from_json(text, ruleset)


def _replay_error(file: Path, row: int) -> UserError:
    return UserError(f"{file}: row {row} does not replay to its VP")


def _returns(paid: np.ndarray, seat: np.ndarray, game: np.ndarray) -> Batch:
    """Reward, return to go and end of each decision of several games.

    Args:
        paid: (N, S) float32, what each decision pays to each player.
        seat: (N,), who decides.
        game: (N,), of which game; the decisions of a game are in the order of time.
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
def _compiled_replay(env: GaiaEnv) -> tuple[Any, Any]:
    """Compiled: first states of set-ups; and STRIDE decisions of G games.

    The second takes states and actions (T, G), and returns states and (T, G, ...): the states in
    which the decisions were made, who decided and what everyone was paid. States have no mask, and
    every action counts as legal: masks are made with the observations, see `_batches`.
    After its end a game does not change.
    """

    def start(setup: Setup) -> Any:
        return env.first_state(env.deal(setup)).replace(legal_action_mask=None)

    def advance(states: Any, actions: Array) -> Any:
        masks = jnp.ones((actions.shape[1], env.num_actions), bool)

        def decide(states: Any, chosen: Array) -> Any:
            after = jax.vmap(env.decide)(states.replace(legal_action_mask=masks), chosen)
            part = states, states.current_player, after.rewards
            return after.replace(legal_action_mask=None), part

        return lax.scan(decide, states, actions)

    return jax.jit(jax.vmap(start)), jax.jit(advance)


@functools.lru_cache(maxsize=8)
def _observer(env: GaiaEnv) -> Any:
    """Compiled: states without masks (N, ...) -> what the deciding seats see, masks (N, A)."""

    def observe(state: Any) -> Any:
        state = env.with_mask(state.replace(legal_action_mask=jnp.zeros(env.num_actions, bool)))
        return env.observe(state, state.current_player), state.legal_action_mask

    return jax.jit(jax.vmap(observe))


def _arranger(env: GaiaEnv, observation: str) -> Any:
    """A function of a batch of observations that gives them in the form asked for, numpy.

    XLA computes both the scaling and the columns of an observation many times as slowly in one
    kernel with the copy that puts the tables in a row: this takes a call for each.
    """
    if observation == SCALED:
        scale = jax.jit(scaled_tables)

        def join(seen: Any) -> np.ndarray:
            tables = jax.device_get(scale(seen))
            return np.concatenate([x.reshape(len(x), -1) for x in tables], axis=1)

        return join
    if observation == "tree":
        return lambda seen: jax.tree.map(np.array, seen)
    arrange = jax.jit(jax.vmap(functools.partial(arranged, observation, env.ruleset)))
    return lambda seen: np.array(arrange(seen))


def _blocks(groups: Iterator[tuple[_Group, np.ndarray]], size: int) -> Iterator[Batch]:
    """All decisions in their order, `size` at a time; the last block may have fewer."""
    parts: list[Batch] = []
    missing = size
    for group, order in groups:
        while len(order):
            part, order = order[:missing], order[missing:]
            parts.append(group.take(part))
            missing -= len(part)
            if not missing:
                yield _joined(parts)
                parts, missing = [], size
    if parts:
        yield _joined(parts)


def _joined(parts: list[Batch]) -> Batch:
    """The same arrays of several parts in a row."""
    if len(parts) == 1:
        return parts[0]
    joined: Batch = jax.tree.map(lambda *x: np.concatenate(x), *parts)
    return joined


def _batches(
    groups: Iterator[tuple[_Group, np.ndarray]],
    size: int,
    env: GaiaEnv,
    observation: str,
    file: Path,
) -> Iterator[Batch]:
    """Observe the positions of one or more batches at a time, and cut them into batches."""
    observe, arrange = _observer(env), _arranger(env, observation)
    block_size = max(BLOCK // size, 1) * size
    for block in _blocks(groups, block_size):
        count, positions = len(block["action"]), block.pop("position")
        if count < block_size:
            rows = np.minimum(np.arange(block_size), count - 1)
            positions = jax.tree.map(lambda x, rows=rows: x[rows], positions)
        seen, masks = observe(positions)
        block |= {"observation": arrange(seen), "mask": np.array(masks)}
        is_legal = block["mask"][np.arange(count), block["action"]]
        if not is_legal.all():
            raise _replay_error(file, int(block["game"][is_legal.argmin()]))
        for first in range(0, count - size + 1, size):
            yield jax.tree.map(lambda x, i=first: x[i : i + size], block)
