"""The vectorized engine as the referee sees it: a batch of games, and their states as rows of ints.

Everything that depends on the names of the engine's fields is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from gaia_jax.setup import setup_json
from gaia_jax.state import Players
from tests.referee.free import A_TURN
from tests.referee.game import Game
from tests.referee.research import TOP


class Field(NamedTuple):
    """One part of the state: where the engine stores it, and its value in the referee."""

    name: str
    engine: Callable[[Any], Any]  # environment state -> array
    referee: Callable[[Game, Any], Any]  # game, ids -> ints of the same shape


def _board(name: str, referee: Callable[[Game, Any], Any]) -> Field:
    return Field(f"board.{name}", lambda state: getattr(state.game.board, name), referee)


def _players(name: str, read: Callable[[Any, Any], Any]) -> Field:
    def referee(game: Game, ids: Any) -> list[Any]:
        return [read(player, ids) for player in game.players]

    return Field(f"players.{name}", lambda state: getattr(state.game.players, name), referee)


def _turn(name: str, referee: Callable[[Game, Any], Any]) -> Field:
    return Field(f"turn.{name}", lambda state: getattr(state.game.turn, name), referee)


def _bits(chosen: Any, ids: Sequence[str]) -> int:
    return sum(1 << ids.index(name) for name in chosen)


def _by_cell(values: dict[int, int], empty: int, cells: int) -> np.ndarray:
    row = np.full(cells, empty, np.int32)
    for cell, value in values.items():
        row[cell] = value
    return row


def _structures(game: Game, ids: Any) -> np.ndarray:
    kinds = ids["structure"]
    on_map = {
        cell: kinds.index(kind)
        for player in game.players
        for cell, kind in player.structures.items()
        if cell not in player.guests
    }
    return _by_cell(on_map, 0, len(game.board.planet))


def _marks(attribute: str) -> Callable[[Game, Any], np.ndarray]:
    """The owner of the piece on each hex, -1 without one."""

    def referee(game: Game, ids: Any) -> np.ndarray:
        row: list[int | None] = getattr(game.board, attribute)
        owners = {cell: owner for cell, owner in enumerate(row) if owner is not None}
        return _by_cell(owners, -1, len(row))

    return referee


def _anybody(attribute: str) -> Callable[[Game, Any], np.ndarray]:
    """Where some player has this."""

    def referee(game: Game, ids: Any) -> np.ndarray:
        cells = set().union(*(getattr(player, attribute) for player in game.players))
        return _by_cell(dict.fromkeys(cells, 1), 0, len(game.board.planet))

    return referee


def _by_player(attribute: str) -> Callable[[Game, Any], np.ndarray]:
    """Where each player has this."""

    def referee(game: Game, ids: Any) -> np.ndarray:
        rows = np.zeros((len(game.players), len(game.board.planet)), np.int32)
        for player in game.players:
            cells = list(getattr(player, attribute))
            rows[player.number, cells] = 1
        return rows

    return referee


def _sectors(player: Any, ids: Any) -> int:
    sector = player.board.geometry.sector
    names = {f"{s[0]} {s[1] + 1}" for c in player.structures if (s := sector[c]) is not None}
    return _bits(names, ids["sector"])


def _tokens(player: Any, ids: Any) -> list[int]:
    """By kind; the engine has room for those of the Lost Fleet under every ruleset."""
    own = [player.tokens[name] for name in ids["token"]]
    return own + [0] * (Players.fields["tokens"].columns - len(own))


def _passed(game: Game, ids: Any) -> list[int]:
    order = [player.number for player in game.pass_order]
    return [order.index(p) + 1 if p in order else 0 for p in range(len(game.players))]


def _spaces_used(kind: str) -> Callable[[Game, Any], int]:
    return lambda game, ids: _bits(game.used.intersection(ids[kind]), ids[kind])


def _artifacts_left(game: Game, ids: Any) -> int:
    return sum(1 << place for place, left in enumerate(game.artifacts) if left is not None)


def _track_token(game: Game, ids: Any) -> bool:
    """The Automa takes no tokens: on level 5 it leaves this one (AUT-15)."""
    return all(player.tracks["terraforming"] < TOP for player in game.humans())


def _index(name: str | None, ids: Sequence[str]) -> int:
    return -1 if name is None else ids.index(name)


# The fields of the board that have -1, not 0, on cells that a smaller map lacks.
NOBODY = ("board.owner", "board.guest", "board.gaiaformer")
FIELDS = (
    _board("planet", lambda g, ids: [ids["planet_index"][name] for name in g.board.planet]),
    _board("structure", _structures),
    _board("owner", _marks("owner")),
    _board("guest", _marks("guest")),
    _board("gaiaformer", _marks("gaiaformer")),
    _board("station", _anybody("stations")),
    _board("ring", _anybody("rings")),
    _board("satellite", _by_player("satellites")),
    _board("federated", _by_player("federated")),
    _players("vp", lambda p, ids: p.vp),
    _players("vp_source", lambda p, ids: [p.vp_source[name] for name in ids["vp_source"]]),
    _players("credits", lambda p, ids: p.credits),
    _players("ore", lambda p, ids: p.ore),
    _players("knowledge", lambda p, ids: p.knowledge),
    _players("qic", lambda p, ids: p.qic),
    _players("power", lambda p, ids: p.bowls),
    _players("gaia_power", lambda p, ids: p.gaia_tokens),
    _players("brainstone", lambda p, ids: p.brainstone),
    _players("tracks", lambda p, ids: list(p.tracks.values())),
    _players("tokens", _tokens),
    _players("green", lambda p, ids: p.green),
    _players("formed", lambda p, ids: p.federations_formed),
    _players("tiles", lambda p, ids: _bits(p.tiles, ids["tile"])),
    _players("covered", lambda p, ids: _bits((t for t in p.tiles if p.tiles[t]), ids["tile"])),
    _players("advanced", lambda p, ids: _bits(p.advanced, ids["advanced"])),
    _players("artifacts", lambda p, ids: _bits(p.artifacts, ids["artifact"])),
    _players("booster", lambda p, ids: _index(p.booster, ids["booster"])),
    _players("tinkering", lambda p, ids: _index(p.tinkering, ids["tinkering"])),
    _players("gaiaformers", lambda p, ids: p.gaiaformers),
    _players("gaiaformers_gaia", lambda p, ids: p.gaiaformers_in_gaia_area),
    _players("shuttles", lambda p, ids: _bits(p.shuttles, ids["ship"])),
    _players("satellites", lambda p, ids: len(p.satellites) + p.satellites_counted),
    _players("stations", lambda p, ids: len(p.stations)),
    _players("rings", lambda p, ids: len(p.rings)),
    _players("guests", lambda p, ids: len(p.guests)),
    _players("sectors", _sectors),
    _players("used", lambda p, ids: _bits(p.used, ids["special"])),
    _turn("round", lambda g, ids: g.round),
    _turn("node", lambda g, ids: g.node_number),
    Field("current_player", lambda s: s.current_player, lambda g, ids: g.current_player),
    _turn("order", lambda g, ids: g.turn_order),
    _turn("passed", _passed),
    _turn("power_used", _spaces_used("power_action")),
    _turn("ship_used", _spaces_used("shared_action")),
    _turn("advanced_left", lambda g, ids: _bits(g.advanced, ids["advanced_slot"])),
    _turn("artifacts_left", _artifacts_left),
    _turn("token_supply", lambda g, ids: list(g.token_supply.values())),
    _turn("ship_tokens", lambda g, ids: _bits(g.ship_tokens_left, ids["ship"])),
    _turn("track_token", _track_token),
    Field("terminated", lambda s: s.terminated, lambda g, ids: g.over),
)

# Compared only at these nodes: elsewhere the field means nothing.
IN_A_TURN = ("TURN", "TARGET", "PIECE", "FEDERATION", "TOKEN", "RETRIGGER", "LEECH", "AFTER")
ONLY_AT = {
    "turn.active": IN_A_TURN,
    "turn.free_actions": ("TURN", "AFTER"),
}
FIELDS += (
    _turn("active", lambda g, ids: -1 if g.active is None else g.active.number),
    _turn("brainstone_reversed", lambda g, ids: any(p.brainstone_turned for p in g.players)),
    _turn("free_actions", lambda g, ids: A_TURN - g.free_actions_left),
)


def _booster_row(game: Game, ids: Any) -> list[int]:
    """The boosters without an owner, from left to right; the human and the Automa have two of 5."""
    row = [ids["booster"].index(name) for name in game.open_boosters]
    return row + [-1] * (game.rules.boosters_in_play - len(row))


def _automa(name: str, referee: Callable[[Game, Any], Any]) -> Field:
    return Field(f"automa.{name}", lambda state: getattr(state.game.automa, name), referee)


SOLO_FIELDS = (
    _automa("turns", lambda g, ids: g.automa().turns),
    _automa("booster_row", _booster_row),
)


class View(NamedTuple):
    """What the host gets after a step: fields as one row a game, and the legal masks."""

    fields: np.ndarray  # (B, K) int32
    mask: np.ndarray  # (B, A) bool
    rewards: np.ndarray  # (B, P)


@cache
def compiled(ruleset: str, players: int = 4) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
    """The environment, and its `init_from` and `step` for batches, shared by who asks."""
    env = gaia_jax.make(ruleset) if players == 4 else gaia_jax.make(ruleset, players=players)
    return env, jax.jit(jax.vmap(env.init_from)), jax.jit(jax.vmap(env.step))


class Engine:
    """`batch` games of the vectorized engine, stepped together."""

    def __init__(self, ruleset: str, batch: int, players: int = 4) -> None:
        self.ruleset = ruleset
        self.env, self._init, self._step = compiled(ruleset, players)
        self.batch = batch
        self.fields = FIELDS + (SOLO_FIELDS if players == 1 else ())
        self.ids: dict[str, Any] = dict(self.env.ruleset.ids)
        self.ids["shared_action"] = (*self.ids["ship_action"], *self.ids["qic_action"])
        self.ids["planet_index"] = {name: i for i, name in enumerate(self.ids["planet"])}
        texts = [gaia_jax.actions.to_text(self.env.ruleset, a) for a in range(self.env.num_actions)]
        self.texts = texts
        self.index = {text: action for action, text in enumerate(texts)}
        self.cells = [tuple(int(x) for x in cell) for cell in self.env.ruleset.geometry.cells]
        assert self.cells == sorted(self.cells)
        self.slices: dict[str, slice] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._view = jax.jit(self._seen)
        self._draw = jax.jit(self.env.draw_setup)

    def _seen(self, state: Any) -> tuple[Any, Any, Any]:
        """What the host wants to see of a state: fields, masks, rewards."""
        rows, at = [], 0
        for field in self.fields:
            value = jnp.asarray(field.engine(state)).astype(jnp.int32)
            flat = value.reshape(self.batch, -1)
            self.slices[field.name] = slice(at, at + flat.shape[1])
            self.shapes[field.name] = value.shape[1:]
            at += flat.shape[1]
            rows.append(flat)
        return jnp.concatenate(rows, axis=1), state.legal_action_mask, state.rewards

    def draw_setup(self, seed: int) -> dict[str, Any]:
        """The set-up that the engine draws for this key."""
        drawn = jax.device_get(self._draw(jax.random.key(seed)))
        return setup_json.setup_to_dict(drawn, self.env.ruleset)

    def start(self, setups: list[dict[str, Any]]) -> View:
        """New games, one for each set-up."""
        rules = self.env.ruleset
        read = [setup_json.setup_from_json(setup, rules) for setup in setups]
        stacked = jax.tree.map(lambda *x: jnp.stack(x), *read)
        self.state = self._init(stacked)
        return View(*jax.device_get(self._view(self.state)))

    def step(self, actions: list[int]) -> View:
        """One action in every game."""
        self.state = self._step(self.state, jnp.asarray(actions, jnp.int32))
        return View(*jax.device_get(self._view(self.state)))

    # -- rows

    def row_of(self, game: Game) -> np.ndarray:
        """The fields as the referee sees them, in the order of the engine's row."""
        row = np.empty(self.slices[self.fields[-1].name].stop, np.int32)
        own_cells = game.board.geometry.cells
        for field in self.fields:
            value = np.asarray(field.referee(game, self.ids))
            if field.name.startswith("board.") and len(own_cells) < len(self.cells):
                absent = -1 if field.name in NOBODY else 0
                wide = np.full((*value.shape[:-1], len(self.cells)), absent, np.int32)
                wide[..., [self.cells.index(cell) for cell in own_cells]] = value
                value = wide
            row[self.slices[field.name]] = value.ravel()
        return row

    def differing(self, game: Game, row: np.ndarray) -> list[str]:
        """The fields that differ, each with what the two engines say."""
        own = self.row_of(game)
        own_cells = game.board.geometry.index
        if len(own_cells) < len(self.cells):  # cells outside the map are not compared
            planet = self.slices["board.planet"].start
            for place, cell in enumerate(self.cells):
                if cell not in own_cells:
                    own[planet + place] = row[planet + place]
        if np.array_equal(own, row):
            return []
        differences = []
        for field in self.fields:
            if game.node not in ONLY_AT.get(field.name, (game.node,)):
                continue
            columns = self.slices[field.name]
            shape = self.shapes[field.name]
            referee, engine = own[columns].reshape(shape), row[columns].reshape(shape)
            differences += [
                f"{field.name}{list(map(int, place))}: referee {referee[tuple(place)]}, "
                f"engine {engine[tuple(place)]}"
                for place in np.argwhere(referee != engine)
            ]
        return differences

    def satellites(self, row: np.ndarray, game: Game, player: int) -> set[int]:
        """Where the engine has satellites of a player, as cells of the referee's map."""
        bits = row[self.slices["board.satellite"]].reshape(self.shapes["board.satellite"])
        return {
            game.board.geometry.index[self.cells[cell]] for cell in np.flatnonzero(bits[player])
        }

    def legal_row(self, game: Game) -> np.ndarray:
        """The referee's legal actions as a mask; all of them when the game has ended (A7)."""
        mask = np.zeros(len(self.texts), bool)
        if game.over:
            mask[:] = True
        else:
            mask[[self.index[text] for text in game.decision.menu]] = True
        return mask
