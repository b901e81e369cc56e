"""The columns of `games.parquet`, and games as rows of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from gaia_jax.setup.setup_json import setup_to_dict
from training.games.match import places, wins

SCHEMA = 1  # raised when a column changes its meaning
NAME = "gaia_jax games"
# Keys of a set-up that are columns of their own elsewhere.
APART = ("factions", "turn_order", "players")


class Games(NamedTuple):
    """Finished games on the host. G games, P players, K sources of VP."""

    deal: np.ndarray  # (G,) number of the set-up among those of the seed
    rotation: np.ndarray  # (G,) how many seats further the agents sit
    setups: Any  # Setup, leading axis G
    sits: np.ndarray  # (G, P) which agent of the part sits there
    actions: list[np.ndarray]  # of each game, uint16
    vp: np.ndarray  # (G, P)
    sources: np.ndarray  # (G, P, K)
    illegal: np.ndarray  # (G, P) illegal moves, replaced by the first legal one


def setup_columns(setup: Mapping[str, Any]) -> dict[str, Any]:
    """A set-up as flat values: a text, a list of texts or a list of numbers for each key.

    What a set-up names by slot, ship or cell becomes a list in that order (`slots`); tiles that are
    turned become two lists.
    """
    out: dict[str, Any] = {}
    for key, value in setup.items():
        if key in APART:
            continue
        if key in ("sectors", "deep"):
            out[f"{key}_tile"] = [laid["tile"] for laid in value]
            out[f"{key}_rotation"] = [laid["rotation"] for laid in value]
        elif key == "interface":  # other cells in each game
            out["interface_cell"], out["interface"] = list(value), list(value.values())
        else:
            out[key] = list(value.values()) if isinstance(value, Mapping) else value
    return out


def slots(setup: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the places of the list columns are called, for those that a set-up names."""
    return {
        key: list(value)
        for key, value in setup.items()
        if isinstance(value, Mapping) and key != "interface"
    }


def schema(setup: Mapping[str, Any], ids: Any, players: int) -> pa.Schema:
    """The schema of `games.parquet`.

    Args:
        setup: any set-up of the ruleset, as `setup_to_dict` gives it.
        ids: of the ruleset, for its sources of VP.
        players: P.
    """
    text, small = pa.string(), pa.int16()
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
    for key, value in setup_columns(setup).items():
        one = value[0] if isinstance(value, list) else value
        kind = text if isinstance(one, str) else pa.int8()
        fields.append((f"setup_{key}", pa.list_(kind) if isinstance(value, list) else kind))
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


def setup_text(setup: Mapping[str, Any]) -> str:
    """A set-up as one line of JSON, which `gaia_jax.setup_from_json` reads."""
    return json.dumps(setup, separators=(",", ":"))


def setup_at(setups: Any, game: int) -> Any:
    """One set-up of a batch."""
    import jax

    return jax.tree.map(lambda x: x[game], setups)


def to_table(games: Games, part: Mapping[str, Any], ruleset: Any) -> pa.Table:
    """Games as rows.

    Args:
        part: the `part` of `dataset.json` that they belong to.
        ruleset: of the environment.
    """
    count, players = games.vp.shape
    dicts = [setup_to_dict(setup_at(games.setups, game), ruleset) for game in range(count)]
    agents = part["agents"]
    columns: dict[str, Any] = {
        "env": [part["env"]] * count,
        "version": [part["version"]] * count,
        "seed": [part["seed"]] * count,
        "deal": games.deal,
        "rotation": games.rotation,
    }
    for seat in range(players):
        names = [agents[agent] for agent in games.sits[:, seat]]
        columns[f"agent_{seat}"] = [agent["name"] for agent in names]
        columns[f"agent_sha256_{seat}"] = [agent["sha256"] for agent in names]
        columns[f"faction_{seat}"] = [setup["factions"][seat] for setup in dicts]
        columns[f"order_{seat}"] = [setup["turn_order"].index(seat) + 1 for setup in dicts]
    flat = [setup_columns(setup) for setup in dicts]
    for key in flat[0] if flat else ():
        columns[f"setup_{key}"] = [values[key] for values in flat]
    place, win = places(games.vp, games.illegal), wins(games.vp, games.illegal)
    columns |= {
        "setup": [setup_text(setup) for setup in dicts],
        "actions": games.actions,
        "decisions": [len(actions) for actions in games.actions],
        "vp": list(games.vp),
        "place": list(place.astype(np.float32)),
        "win": list(win.astype(np.float32)),
        "illegal": list(games.illegal),
    }
    for source, name in enumerate(ruleset.ids["vp_source"]):
        columns[f"vp_{name}"] = list(games.sources[:, :, source])
    wanted = schema(dicts[0], ruleset.ids, players)
    return pa.table([pa.array(columns[f.name], f.type) for f in wanted], schema=wanted)


def key_of(row: Mapping[str, Any]) -> str:
    """What messages call a game."""
    return f"seed {row['seed']}, deal {row['deal']}, rotation {row['rotation']}"


def seats(columns: Sequence[str]) -> int:
    """P, by the names of columns."""
    return sum(name.startswith("faction_") for name in columns)
