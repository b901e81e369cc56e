"""A table to set scenes on: a game that is arranged by hand, played by texts, and asked questions.

    table = Table(factions=("TERRANS", "XENOS", "ITARS", "GEODENS")).start()
    table.give(0, ore=5, power=(0, 0, 4)).stand(0, (3, -2), "TS")
    table.turn(0).play("power PA_2O")
    assert table.player(0).ore == 7 and not table.can("power PA_2O")

Every table is a copy: methods return a new one. The engine is compiled once for the session.
"""

from __future__ import annotations

import json
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

import gaia_jax
from gaia_jax.actions import from_text, to_text
from gaia_jax.components import costs
from gaia_jax.setup_json import setup_from_json, setup_to_dict
from gaia_jax.state import AC_B, GAIAFORMER, Node, Phase


@cache
def _engine(name: str):
    env = gaia_jax.make(name, reward="vp")
    return env, jax.jit(env.step), jax.jit(env.with_mask), jax.jit(env.init_from)


@cache
def _drawn(name: str, seed: int) -> str:
    env = _engine(name)[0]
    return json.dumps(setup_to_dict(jax.jit(env.draw_setup)(jax.random.PRNGKey(seed))))


class Table:
    """A game in progress. `state` is the environment's; player ids are those of the game."""

    def __init__(self, *, factions=None, seed=0, ruleset="lost_fleet", state=None, **setup):
        """A new game: the drawn set-up of `seed`, with `factions` and any keys of it replaced.

        Args:
            factions: four faction ids by player; turn order is 0, 1, 2, 3.
            setup: keys of the set-up file (see gaia_jax.setup_json) with other values.
        """
        self.ruleset = ruleset
        self.env, self._step, self._mask, start = _engine(ruleset)
        if state is None:
            drawn = json.loads(_drawn(ruleset, seed))
            drawn |= {"turn_order": [0, 1, 2, 3]} | setup
            if factions:
                drawn["factions"] = list(factions)
            state = start(setup_from_json(drawn))
        self.state = state

    def _with(self, state) -> Table:
        return Table(ruleset=self.ruleset, state=state)

    @property
    def game(self):
        """The game state of the rules."""
        return self.state.game

    # Arranging.

    def start(self, round: int = 1) -> Table:
        """An empty board in the action phase of a round: player 0 to move, nobody has placed."""
        return self.set_turn(
            round=round, phase=Phase.ACTIONS, node=Node.TURN, player=0, active=0, placed=13
        )

    def set_turn(self, **fields) -> Table:
        """Fields of `Turn` set by hand."""
        turn = self.game.turn.replace(**{k: jnp.asarray(v) for k, v in fields.items()})
        state = self.state.replace(game=self.game.replace(turn=turn))
        player = state.game.turn.player.astype(jnp.int32)
        return self._with(self._mask(state.replace(current_player=player)))

    def turn(self, player: int) -> Table:
        """It is that player's turn, before the main action."""
        return self.set_turn(node=Node.TURN, player=player, active=player, acted=False)

    def give(self, player: int, **fields) -> Table:
        """Fields of `Players` set for one player: numbers, or tuples for bowls, tracks, tokens.

        `vp` is booked under START. What is known of federations is forgotten.
        """
        players, changes = self.game.players, {}
        if "vp" in fields:
            source = np.array(players.vp_source)
            source[player] = 0
            source[player, 0] = fields["vp"]
            changes["vp_source"] = jnp.asarray(source)
        for name, value in ({"enough": 100, "short": -1} | fields).items():
            column = np.array(getattr(players, name))
            column[player] = value
            changes[name] = jnp.asarray(column)
        game = self.game.replace(players=players.replace(**changes))
        return self._with(self._mask(self.state.replace(game=game)))

    def planet(self, cell, name: str) -> Table:
        """What the cell holds, one of ids["planet"]."""
        board, c = self.game.board, self.cell(cell)
        code = self.env.ruleset.ids["planet"].index(name)
        planet = board.planet.at[c].set(code)
        game = self.game.replace(board=board.replace(planet=planet))
        return self._with(self._mask(self.state.replace(game=game)))

    def stand(self, player: int, cell, structure: str = "MINE") -> Table:
        """A structure of the player on a cell, with all that follows from its standing there.

        `structure` is one of ids["structure"], or "GUEST", "GAIAFORMER", "STATION", "SATELLITE",
        "FEDERATED" (marks the structure there), "RING". No triggers, no price.
        """
        ids, c = self.env.ruleset.ids, self.cell(cell)
        geometry = self.env.ruleset.geometry
        board, players = self.game.board, self.game.players
        distance = jnp.asarray(geometry.distance[c])
        flags, links = board.flags, board.links
        changes = {}

        def bump(name, by=1, index=None):
            column = np.array(changes.get(name, getattr(players, name)))
            column[(player,) if index is None else (player, index)] += by
            changes[name] = jnp.asarray(column)

        if structure in ("SATELLITE", "FEDERATED"):
            links = links.at[c].set(links[c] | (1 if structure == "SATELLITE" else 16) << player)
            if structure == "SATELLITE":
                bump("satellites")
        elif structure in ("STATION", "RING", "GUEST"):
            flags = flags.at[c].set(flags[c] | {"STATION": 16, "RING": 32, "GUEST": 64}[structure])
            if structure != "GUEST":
                bump({"STATION": "stations", "RING": "rings"}[structure])
        if structure == "GAIAFORMER":
            board = board.replace(
                piece=board.piece.at[c].set(GAIAFORMER), holder=board.holder.at[c].set(player)
            )
            bump("gaiaformers_out")
        new = structure in ids["structure"] or structure == "GUEST"
        if new:
            code = 1 if structure == "GUEST" else ids["structure"].index(structure)
            assert 1 <= code <= AC_B
            planet = int(board.planet[c])
            bump("built", index=code) if ids["planet"][planet] != "Lost" else None
            if structure == "GUEST":
                bump("guests")
            else:
                bump("colonized", index=planet)
                board = board.replace(
                    piece=board.piece.at[c].set(code), holder=board.holder.at[c].set(player)
                )
            sector = int(geometry.sector[c])
            if sector >= 0:
                column = np.array(players.sectors)
                column[player] |= 1 << sector
                changes["sectors"] = jnp.asarray(column)
            near = jnp.where(distance <= costs.NEIGHBOUR_DISTANCE, 1 << player, 0)
            flags = flags | near.astype(flags.dtype)
        if new or structure == "STATION":
            board = board.replace(
                reach=board.reach.at[player].set(jnp.minimum(board.reach[player], distance))
            )
        board = board.replace(flags=flags.astype(jnp.uint8), links=links.astype(jnp.uint8))
        changes |= {k: jnp.full(4, v, jnp.int8) for k, v in (("enough", 100), ("short", -1))}
        game = self.game.replace(board=board, players=players.replace(**changes))
        return self._with(self._mask(self.state.replace(game=game)))

    # Playing.

    def play(self, *texts: str) -> Table:
        """The actions one after the other; each must be legal."""
        table = self
        for text in texts:
            assert table.can(text), f"{text!r} is not legal; legal are {sorted(table.options())}"
            action = jnp.int32(from_text(self.env.ruleset, text))
            table = self._with(table._step(table.state, action))
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
        found = np.flatnonzero(np.asarray(self.game.board.planet) == code)
        return [f"{q},{r}" for q, r in self.env.ruleset.geometry.cells[found].tolist()]

    def near(self, cell, least: int = 1, most: int = 1) -> list[str]:
        """The cells "q,r" at a distance of `least` to `most` from a cell."""
        row = self.env.ruleset.geometry.distance[self.cell(cell)]
        found = np.flatnonzero((row >= least) & (row <= most))
        return [f"{q},{r}" for q, r in self.env.ruleset.geometry.cells[found].tolist()]


class _Row:
    def __init__(self, players, player: int):
        self._players, self._player = players, player

    def __getattr__(self, name: str):
        value = np.asarray(getattr(self._players, name))[self._player]
        return value.item() if value.ndim == 0 else tuple(value.tolist())
