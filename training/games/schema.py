"""The columns of `games.parquet`, and games as rows of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import pyarrow as pa

from gaia_jax.ruleset import Ruleset
from gaia_jax.setup.setup_json import setup_to_dict

from ..types import Ids
from .stats import places, wins
from .table import Games

SCHEMA = 1  # raised when a column changes its meaning
NAME = "gaia_jax games"
# Keys of a set-up that have their own columns.
SEPARATE = ("factions", "turn_order", "players", "automa")
About = dict[str, Any]  # the contents of `dataset.json`
GAMES, DECISIONS = "games.parquet", "decisions.parquet"  # files of a dataset


def setup_columns(setup: Mapping[str, Any]) -> dict[str, Any]:
    """A set-up as flat values: a text, a list of texts or a list of numbers for each key.

    Values by slot, ship or cell become a list in that order (`slots`); rotated tiles become two
    lists.
    """
    out: dict[str, Any] = {}
    for key, value in setup.items():
        if key in SEPARATE:
            continue
        if key in ("sectors", "deep"):
            out[f"{key}_tile"] = [laid["tile"] for laid in value]
            out[f"{key}_rotation"] = [laid["rotation"] for laid in value]
        elif key == "interface":  # other cells in each game
            out["interface_cell"], out["interface"] = list(value), list(value.values())
        else:
            out[key] = list(value.values()) if isinstance(value, Mapping) else value
    return out | {f"automa_{key}": value for key, value in setup.get("automa", {}).items()}


def seat_columns(setup: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of each seat of a set-up: `faction_0`, ..., `order_0`, ...

    The Automa of a solo game has the last seat; the human begins (AUT-01).
    """
    automa = [setup["automa"]["faction"]] if "automa" in setup else []
    factions = [*setup["factions"], *automa]
    order = setup.get("turn_order", range(len(factions)))
    columns = {f"faction_{seat}": faction for seat, faction in enumerate(factions)}
    return columns | {f"order_{seat}": order.index(seat) + 1 for seat in range(len(factions))}


def setup_and_seats(setup: Mapping[str, Any]) -> dict[str, Any]:
    """All columns that derive from a set-up."""
    return seat_columns(setup) | {f"setup_{k}": v for k, v in setup_columns(setup).items()}


def slots(setup: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the positions in list columns, for keys that a set-up names."""
    return {
        key: list(value)
        for key, value in setup.items()
        if isinstance(value, Mapping) and key not in (*SEPARATE, "interface")
    }


def _kind(value: Any) -> pa.DataType:
    """The type of a column of the set-up with such values."""
    if isinstance(value, list):
        return pa.list_(_kind(value[0]))
    return pa.string() if isinstance(value, str) else pa.int8()


def schema(setup: Mapping[str, Any], ids: Ids) -> pa.Schema:
    """The schema of `games.parquet`; `setup` is any set-up of the ruleset by `setup_to_dict`."""
    text, small, players = pa.string(), pa.int16(), len(seat_columns(setup)) // 2
    fields: list[tuple[str, pa.DataType]] = [
        ("env", text),
        ("version", text),
        ("seed", pa.int64()),
        ("deal", pa.int64()),
        ("rotation", pa.int8()),
    ]
    for kind, of in (("agent", text), ("agent_sha256", text), ("faction", text)):
        fields += [(f"{kind}_{seat}", of) for seat in range(players)]
    fields += [(f"order_{seat}", pa.int8()) for seat in range(players)]
    fields += [(f"setup_{key}", _kind(value)) for key, value in setup_columns(setup).items()]
    fields += [
        ("setup", text),
        ("actions", pa.list_(pa.uint16())),
        ("decisions", small),
        ("vp", pa.list_(small)),
        ("place", pa.list_(pa.float32())),
        ("win", pa.list_(pa.float32())),
        ("illegal", pa.list_(small)),
    ]
    fields += [(f"vp_{source}", pa.list_(small)) for source in ids["vp_source"]]
    about = {"format": f"{NAME} {SCHEMA}"}
    return pa.schema([pa.field(n, t, nullable=False) for n, t in fields], metadata=about)


def to_table(games: Games, first: int, part: Mapping[str, Any], ruleset: Ruleset) -> pa.Table:
    """Games with set-ups and actions as rows of a part of `dataset.json`, from deal `first`."""
    assert games.actions is not None
    deals, rotations, players = games.vp.shape
    at = [(deal, rotation) for deal in range(deals) for rotation in range(rotations)]
    dicts = [setup_to_dict(jax.tree.map(lambda x, g=g: x[g], games.setups), ruleset) for g in at]
    agents = part["agents"]
    columns: dict[str, Any] = {
        **{name: [part[name]] * len(at) for name in ("env", "version", "seed")},
        "deal": [first + deal for deal, _ in at],
        "rotation": [rotation for _, rotation in at],
    }
    for seat in range(players):
        sits = [agents[games.entry[(*g, seat)]] for g in at]
        columns[f"agent_{seat}"] = [agent["name"] for agent in sits]
        columns[f"agent_sha256_{seat}"] = [agent["sha256"] for agent in sits]
    flat = [setup_and_seats(setup) for setup in dicts]
    for name in flat[0] if flat else ():
        columns[name] = [values[name] for values in flat]
    place, win = places(games.vp, games.illegal), wins(games.vp, games.illegal)
    columns |= {
        "setup": [json.dumps(setup, separators=(",", ":")) for setup in dicts],
        "actions": [games.actions[g][: games.decisions[g]].astype(np.uint16) for g in at],
        "decisions": [games.decisions[g] for g in at],
        "vp": [games.vp[g] for g in at],
        "place": [place[g].astype(np.float32) for g in at],
        "win": [win[g].astype(np.float32) for g in at],
        "illegal": [games.illegal[g].astype(np.int16) for g in at],
    }
    for source, name in enumerate(ruleset.ids["vp_source"]):
        columns[f"vp_{name}"] = [games.sources[(*g, slice(None), source)] for g in at]
    table_schema = schema(dicts[0], ruleset.ids)
    return pa.table([pa.array(columns[f.name], f.type) for f in table_schema], schema=table_schema)


def seats(columns: Sequence[str]) -> int:
    """P, by the names of columns."""
    return sum(name.startswith("faction_") for name in columns)
