"""`decisions.parquet`: the position before each decision of a dataset, derived from its games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pyarrow as pa
from jax import Array

from gaia_jax.actions import to_text
from gaia_jax.rules import leech
from gaia_jax.setup.setup_json import setup_from_json
from gaia_jax.state import NODES, GameState, Node, Players

from ..agents import Agent
from ..types import EnvState
from .replay import Extras, Replayer, Row

STOCKS = ("credits", "ore", "knowledge", "qic", "gaia_power", "vp")
ROW_GROUP = 262_144  # decisions of a row group


def schema() -> pa.Schema:
    """The schema of `decisions.parquet`."""
    small, tiny, text = pa.int16(), pa.int8(), pa.string()
    fields = [
        ("game", pa.int64()),
        ("number", small),
        ("round", tiny),
        ("node", text),
        ("seat", tiny),
        ("action", pa.uint16()),
        ("text", text),
        ("legal", small),
        *((name, small) for name in STOCKS[:4]),
        *((f"power_{bowl}", small) for bowl in (1, 2, 3)),
        ("gaia_power", small),
        ("tracks", pa.list_(tiny)),
        ("vp", small),
        ("leech", tiny),
        ("vp_end", small),
        ("place_end", pa.float32()),
    ]
    agent = [pa.field(name, pa.float32()) for name in ("policy", "value")]
    needed = [pa.field(name, kind, nullable=False) for name, kind in fields]
    return pa.schema([*needed, *agent], metadata={"format": "gaia_jax decisions 1"})


def stocks(state: EnvState, action: Array) -> dict[str, Array]:
    """Notes of `Replayer` before each decision: the decider and its resources."""
    game, rows = state.game, jnp.arange(len(action))
    player = state.current_player.astype(jnp.int32)
    players = game.players
    seen = {name: getattr(players, name)[rows, player] for name in STOCKS}
    seen |= {"power": players.power[rows, player], "tracks": players.tracks[rows, player]}
    seen |= {"seat": player, "round": game.turn.round, "node": game.turn.node}
    return seen | {"leech": jnp.where(game.turn.node == Node.LEECH, _on_offer(state, player), 0)}


def _on_offer(state: EnvState, seat: Array) -> Array:
    """(B,) int32, power that the pending offer gives (LEE-02); it costs 1 VP less."""

    def of_one(game: GameState, player: Array) -> Array:
        me: Players = jax.tree.map(lambda x: x[player], game.players.edit())
        return leech.amount(me, leech.current_offer(game, player))

    return jax.vmap(of_one)(state.game, seat)


def make_extras(agents: Mapping[str, Agent]) -> Extras:
    """`stocks`, and the policy and value of each agent (all with a policy) for every position."""
    if not agents:
        return stocks

    def extras(state: EnvState, action: Array) -> dict[str, Array]:
        seen, rows = stocks(state, action), jnp.arange(len(action))
        for name, agent in agents.items():
            assert agent.policy is not None
            logits, values = agent.policy.evaluate(agent.params, state)
            logits = jnp.where(state.legal_action_mask, logits, -jnp.inf)
            chosen = jax.nn.log_softmax(logits, axis=-1)[rows, action]
            seen[f"policy {name}"] = jnp.exp(chosen)
            seen[f"value {name}"] = values[rows, seen["seat"]] / agent.policy.vp
        return seen

    return extras


def of_games(
    replayer: Replayer, rows: Sequence[Row], first: int, agents: Mapping[str, Agent]
) -> Iterator[pa.Table]:
    """The decisions of games from row `first` on, a batch at a time, in the order of the games.

    Args:
        replayer: with the `make_extras` of these agents.
    Raises:
        ValueError: a row does not replay.
    """
    ruleset = replayer.env.ruleset
    texts = np.array([to_text(ruleset, a) for a in range(replayer.env.num_actions)])
    for start in range(0, len(rows), replayer.batch):
        batch = rows[start : start + replayer.batch]
        setups = [setup_from_json(row["setup"], ruleset) for row in batch]
        actions = [np.asarray(row["actions"], np.uint16) for row in batch]
        parts = [seen for at, seen in replayer.play(setups, actions) if at >= 0]
        legal = np.concatenate([part.legal for part in parts])
        count = np.concatenate([part.choices for part in parts])
        names = parts[0].extras
        extras = {name: np.concatenate([part.extras[name] for part in parts]) for name in names}
        tables = []
        for lane, row in enumerate(batch):
            length = len(actions[lane])
            if not legal[:length, lane].all():
                raise ValueError(
                    f"row {first + start + lane} does not replay: --verify reports why"
                )
            seen = {name: x[:length, lane] for name, x in extras.items()}
            seen |= {"legal": count[:length, lane], "action": actions[lane]}
            tables.append(_table(seen, first + start + lane, row, texts, agents))
        yield pa.concat_tables(tables).combine_chunks()


def _table(
    seen: dict[str, np.ndarray], game: int, row: Row, texts: np.ndarray, agents: Mapping[str, Agent]
) -> pa.Table:
    """The decisions of one game."""
    length, seat = len(seen["action"]), seen["seat"].astype(int)
    out: dict[str, Any] = dict(seen)
    out |= {f"power_{bowl + 1}": seen["power"][:, bowl] for bowl in range(3)}
    out |= {
        "game": np.full(length, game),
        "number": np.arange(length),
        "node": np.array(NODES)[seen["node"]],
        "text": texts[seen["action"]],
        "tracks": list(seen["tracks"]),
        "vp_end": np.asarray(row["vp"])[seat],
        "place_end": np.asarray(row["place"], np.float32)[seat],
    }
    sits = [row[f"agent_{s}"] for s in range(len(row["vp"]))]
    for kind in ("policy", "value"):
        value = np.full(length, np.nan, np.float32)
        for s, name in enumerate(sits):
            if name in agents:
                value = np.where(seat == s, seen[f"{kind} {name}"], value)
        out[kind] = value.astype(np.float32)  # nan becomes null
    table_schema = schema()
    columns = [pa.array(out[f.name], f.type, from_pandas=f.nullable) for f in table_schema]
    return pa.table(columns, schema=table_schema)
