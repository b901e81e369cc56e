"""A table to set scenes on: a game that is arranged by hand, played by texts, and asked questions.

    table = Table(factions=("TERRANS", "XENOS", "ITARS", "GEODENS")).start()
    table.give(0, ore=5, power=(0, 0, 4)).place(0, (3, -2), "TS")
    table.turn(0).play("power PA_2O")
    assert table.player(0).ore == 7 and not table.can("power PA_2O")

Every table is a copy: methods return a new one. The engine is the one that replays use.
"""

from __future__ import annotations

import json
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from gaia_jax import replay
from gaia_jax.actions import from_text, to_text
from gaia_jax.components import costs
from gaia_jax.rules import federation
from gaia_jax.setup.setup_json import setup_from_json, setup_to_dict
from gaia_jax.state import AC_B, GAIAFORMER, Node, Phase
from gaia_jax.xla.packed import INT32, LOW_BITS


@cache
def _engine(name: str, players: int):
    env = gaia_jax.make(name, players=players)
    init_from, step = replay.compiled(env)

    @jax.jit
    def completed(state):
        return env.with_mask(state.replace(game=federation.resolve(env.ruleset, state.game)))

    # States from the host: arrays of stored programs and of others would be two compilations.
    def complete(state):
        """The state of a game that was put together by hand, with its mask."""
        return completed(jax.device_get(state))

    def step_on_host(state, action):
        return step(jax.device_get(state), action)

    return env, step_on_host, complete, init_from


@cache
def _drawn(name: str, players: int, seed: int) -> str:
    env = _engine(name, players)[0]
    setup = jax.jit(env.draw_setup)(jax.random.PRNGKey(seed))
    return json.dumps(setup_to_dict(setup, env.ruleset))


@cache
def _dealt(name: str, players: int, setup: str):
    env, *_, init = _engine(name, players)
    return init(setup_from_json(json.loads(setup), env.ruleset))


def _changed(record, values: dict):
    """A packed record with fields replaced, without a compilation a field."""
    kind, stores = type(record), {True: np.array(record.large), False: np.array(record.small)}
    layout = kind.layouts[record.small.shape[-1]]
    for name, new in values.items():
        field, value = layout[name], np.asarray(new)
        store = stores[field.is_large]
        if field.dtype == INT32:
            value = np.stack([value & ((1 << LOW_BITS) - 1), value >> LOW_BITS], axis=-1)
        columns = slice(field.first, field.first + field.columns)
        store[..., columns] = value.reshape((*store.shape[:-1], -1))
    return kind(jnp.asarray(stores[False]), jnp.asarray(stores[True]))


def _on_host(record):
    """The same packed record, read with numpy."""
    return type(record)(np.asarray(record.small), np.asarray(record.large))


class Table:
    """A game in progress. `state` is the environment's; player ids are those of the game."""

    def __init__(
        self,
        *,
        factions=None,
        seed=0,
        ruleset="lost_fleet",
        players=4,
        state=None,
        stale=False,
        **setup,
    ):
        """A new game: the drawn set-up of `seed`, with `factions` and any keys of it replaced.

        Args:
            factions: faction ids by player; turn order is 0, 1, ...
            players: how many, of a new game.
            setup: keys of the set-up file (see gaia_jax.setup.setup_json) with other values.
            stale: the mask of `state` is not that of its game, and is renewed when it is asked for.
        """
        self.ruleset = ruleset
        if state is not None:
            players = state.game.num_players
        self.env, self._step, self._mask, _ = _engine(ruleset, players)
        if state is None:
            drawn = json.loads(_drawn(ruleset, players, seed))
            drawn |= {"turn_order": list(range(players))} | setup
            if factions:
                drawn["factions"] = list(factions)
            state = _dealt(ruleset, players, json.dumps(drawn))
        self._state, self._stale = state, stale

    def _arranged(self, **parts) -> Table:
        """With other parts of the game; what is known of federations is forgotten."""
        game = self.game.replace(**parts)
        forgotten = {
            "min_satellites_feasible": np.full(game.num_players, 100),
            "max_satellites_infeasible": np.full(game.num_players, -1),
        }
        game = game.replace(players=_changed(game.players, forgotten))
        state = self._state.replace(game=game)
        return Table(ruleset=self.ruleset, state=state, stale=True)

    @property
    def state(self):
        """The state of the environment, with the mask of its game."""
        if self._stale:
            self._state, self._stale = self._mask(self._state), False
        return self._state

    @property
    def game(self):
        """The game state of the rules."""
        return self._state.game

    # Arranging.

    def start(self, round: int = 1) -> Table:
        """An empty board in the action phase of a round: player 0 to move, without structures."""
        return self.set_turn(
            round=round, phase=Phase.ACTIONS, node=Node.TURN, player=0, active=0, setup_done=13
        )

    def set_turn(self, **fields) -> Table:
        """Fields of `Turn` set by hand."""
        turn = _changed(self.game.turn, fields)
        table = self._arranged(turn=turn)
        player = jnp.int32(int(_on_host(turn).player))
        table._state = table._state.replace(current_player=player)
        return table

    def turn(self, player: int) -> Table:
        """It is that player's turn, before the main action."""
        return self.set_turn(node=Node.TURN, player=player, active=player, main_action_done=False)

    def give(self, player: int, **fields) -> Table:
        """Fields of `Players` set for one player: numbers, or tuples for bowls, tracks, tokens.

        `vp` is booked under START. What is known of federations is forgotten.
        """
        players, changes = _on_host(self.game.players), {}
        for name, value in fields.items():
            alias = players.aliases.get(name)
            field_name, index = (alias.field, alias.index) if alias else (name, ())
            column = changes.setdefault(field_name, np.array(getattr(players, field_name)))
            column[(player, *np.atleast_1d(index).astype(int))] = value
        if "vp" in fields:
            source = np.array(players.vp_source)
            source[player] = 0
            source[player, 0] = fields["vp"]
            changes["vp_source"] = source
        return self._arranged(players=_changed(self.game.players, changes))

    def planet(self, cell, name: str) -> Table:
        """What the cell holds, one of ids["planet"]."""
        planet = np.array(self.game.board.planet)
        planet[self.cell(cell)] = self.env.ruleset.ids["planet"].index(name)
        return self._arranged(board=self.game.board.replace(planet=jnp.asarray(planet)))

    def place(self, player: int, cell, structure: str = "MINE") -> Table:
        """A structure of the player on a cell, or on each of a list, or {cell: structure}.

        `structure` is one of ids["structure"], or "GUEST", "GAIAFORMER", "STATION", "SATELLITE",
        "FEDERATED" (marks the structure there), "RING". No triggers, no price.
        """
        if isinstance(cell, dict):
            table = self
            for name, structure in cell.items():
                table = table.place(player, name, structure)
            return table
        if isinstance(cell, list):
            return self.place(player, dict.fromkeys(cell, structure))
        ids, c = self.env.ruleset.ids, self.cell(cell)
        geometry, players = self.env.ruleset.geometry, _on_host(self.game.players)
        names = ("planet", "piece", "piece_owner", "flags", "federation_bits", "distance_to_own")
        board = {name: np.array(getattr(self.game.board, name)) for name in names}
        changes = {}

        def bump(name, *index):
            column = changes.setdefault(name, np.array(getattr(players, name)))
            column[(player, *index)] += 1

        if structure in ("SATELLITE", "FEDERATED"):
            board["federation_bits"][c] |= (1 if structure == "SATELLITE" else 16) << player
        elif structure in ("STATION", "RING", "GUEST"):
            board["flags"][c] |= {"STATION": 16, "RING": 32, "GUEST": 64}[structure]
        counted = {
            "SATELLITE": "satellites",
            "STATION": "stations",
            "RING": "rings",
            "GUEST": "guests",
            "GAIAFORMER": "gaiaformers_out",
        }
        if structure in counted:
            bump(counted[structure])
        if structure == "GAIAFORMER":
            board["piece"][c], board["piece_owner"][c] = GAIAFORMER, player
        new = structure in ids["structure"] or structure == "GUEST"
        planet = int(board["planet"][c])
        if new:
            code = 1 if structure == "GUEST" else ids["structure"].index(structure)
            assert 1 <= code <= AC_B
            if ids["planet"][planet] != "Lost":
                bump("built", code)
            if structure == "GUEST":
                kinds = {"Proto": "guest_protos", "Asteroid": "guest_asteroids"}
                if ids["planet"][planet] in kinds:
                    bump(kinds[ids["planet"][planet]])
            else:
                bump("colonized", planet)
                board["piece"][c], board["piece_owner"][c] = code, player
            if geometry.sector[c] >= 0:
                sectors = changes.setdefault("sectors", np.array(players.sectors))
                sectors[player] |= 1 << int(geometry.sector[c])
            near = geometry.distance[c] <= costs.NEIGHBOUR_DISTANCE
            board["flags"] |= np.where(near, 1 << player, 0).astype(np.uint8)
        if new or structure == "STATION":
            board["distance_to_own"][player] = np.minimum(
                board["distance_to_own"][player], geometry.distance[c]
            )
        board = {name: jnp.asarray(value) for name, value in board.items()}
        return self._arranged(
            board=self.game.board.replace(**board), players=_changed(self.game.players, changes)
        )

    # Playing.

    def play(self, *texts: str) -> Table:
        """The actions one after the other; each must be legal."""
        table = self
        for text in texts:
            assert table.can(text), f"{text!r} is not legal; legal are {sorted(table.options())}"
            action = jnp.int32(from_text(self.env.ruleset, text))
            table = Table(ruleset=self.ruleset, state=self._step(table.state, action))
        return table

    # Asking.

    def can(self, text: str) -> bool:
        """Whether the action is legal now."""
        return bool(self.state.legal_action_mask[from_text(self.env.ruleset, text)])

    def options(self, verb: str = "") -> set[str]:
        """The legal texts, of one verb if it is named."""
        legal = np.flatnonzero(np.asarray(self.state.legal_action_mask))
        texts = {to_text(self.env.ruleset, int(a)) for a in legal}
        return {t for t in texts if not verb or t.split()[0] == verb}

    @property
    def node(self) -> int:
        """The open node, a number of `gaia_jax.state.Node`."""
        return int(self.game.turn.node)

    @property
    def decider(self) -> int:
        """Who decides."""
        return int(self.state.current_player)

    def player(self, player: int):
        """The row of a player: attributes of `gaia_jax.state.Players`, as numpy numbers."""
        return _Row(self.game.players, player)

    def vp(self, player: int, source: str) -> int:
        """VP of a player from one source, an id of ids["vp_source"]."""
        at = self.env.ruleset.ids["vp_source"].index(source)
        return int(self.game.players.vp_source[player, at])

    def cell(self, cell) -> int:
        """The index of a cell named (q, r) or "q,r"."""
        if isinstance(cell, str):
            cell = tuple(int(x) for x in cell.split(","))
        return self.env.ruleset.geometry.cell_index[tuple(cell)]

    def cells(self, planet: str) -> list[str]:
        """The cells "q,r" that hold that planet, ascending."""
        code = self.env.ruleset.ids["planet"].index(planet)
        indices = np.flatnonzero(np.asarray(self.game.board.planet) == code)
        return [f"{q},{r}" for q, r in self.env.ruleset.geometry.cells[indices].tolist()]

    def near(self, cell, min_distance: int = 1, max_distance: int = 1) -> list[str]:
        """The cells "q,r" at a distance of `min_distance` to `max_distance` from a cell."""
        row = self.env.ruleset.geometry.distance[self.cell(cell)]
        indices = np.flatnonzero((row >= min_distance) & (row <= max_distance))
        return [f"{q},{r}" for q, r in self.env.ruleset.geometry.cells[indices].tolist()]


class _Row:
    def __init__(self, players, player: int):
        self._players, self._player = _on_host(players), player

    def __getattr__(self, name: str):
        value = np.asarray(getattr(self._players, name))[self._player]
        return value.item() if value.ndim == 0 else tuple(value.tolist())
