"""What can be chosen where: the pairs of decision and option that the tables of a ruleset allow.

A *place* is a decision node; at TARGET and FREE_MINE, the node with the operation that waits for
its target. An *option* is an action; a cell counts by its plane alone, a tile, token, artifact or
special by its kind, wherever it lies and whosever it is. `possible` computes the pairs from the
components and the operations; everything else is impossible.
`docs/reference/actions.md` says the same in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.actions import BARE, PLANES
from gaia_jax.env import State
from gaia_jax.ruleset import INCOME_ATOMS, Ruleset, operations
from gaia_jax.ruleset.operations import Operation
from gaia_jax.state import NODES, PI, Node

Pair = tuple[str, str]
# Targets that are a cell whatever the operation builds.
_CELLS = (operations.OWN, operations.SPACE, operations.UNRINGED)


def place(node: str, operation: str = "") -> str:
    """The name of a node, or of a node with the operation that waits there."""
    return f"{node}: {operation}" if operation else node


def names(rules: Ruleset) -> tuple[str, ...]:
    """Every option, planes first."""
    ids = rules.ids
    out = [*PLANES, *BARE]
    out += [f"free {x}" for x in ids["free_action"]]
    out += [op.id for op in rules.operations if op.id.split()[0] in ("bundle", "terrans")]
    for verb, kind in (
        ("advance", "track"),
        ("power", "power_action"),
        ("ship", "ship_action"),
        ("explore", "ship"),
        ("artifact", "artifact"),
        ("booster", "booster"),
        ("tile", "tile"),
        ("advanced", "advanced"),
        ("token", "token"),
    ):
        out += [f"{verb} {x}" for x in ids[kind]]
    out += [f"special {x}" for x in ids["special"] if x not in ("AC_B", "FACTION")]
    out += [f"special AC_B {x}" for x in ids["faction"]]
    out += [f"special {x}" for x in _faction_specials(rules)]
    for verb in ("leech", "income", "piece", "tinkering"):
        out += [f"{verb} {x}" for x in rules.actions.ids[verb]]
    return tuple(out)


def places(rules: Ruleset) -> tuple[str, ...]:
    """Every place where a decision is made."""
    out = [x for x in NODES if x not in ("TARGET", "FREE_MINE", "ENDED")]
    out += [place("TARGET", op.id) for op in _modes(rules)]
    return (*out, *(place("FREE_MINE", op.id) for op in _free_mines(rules)))


def possible(rules: Ruleset) -> frozenset[Pair]:
    """The pairs of place and option that some position offers."""
    ids, factions = rules.ids, rules.factions

    def all_of(verb: str, kind: str = "") -> list[str]:
        return [f"{verb} {x}" for x in (ids[kind] if kind else rules.actions.ids[verb])]

    out: set[Pair] = set()

    def add(where: str, *options: Iterable[str]) -> None:
        out.update((where, option) for group in options for option in group)

    tiles = [*all_of("tile", "tile"), *all_of("advanced", "advanced")]
    free = _free(rules)
    add("START", ["pick"])
    add("BOOSTER", all_of("booster", "booster"))
    if any(x.tinkering for x in factions):
        add("TINKERING", all_of("tinkering"))
    add("INCOME", [f"income {x}" for x in _atoms(rules)])
    if any(x.pi_gaia_convert for x in factions):
        row = np.array(rules.tables.conversions)
        add("TERRANS", [rules.operations[i].id for i in row[row > 0]], ["skip"])
    if any(x.pi_gaia_tiles for x in factions):
        add("ITARS", tiles, ["skip"])
    specials = [x for x in ids["special"] if x not in ("AC_B", "FACTION")]
    academies = [x.id for x in factions if any(new == "AC_B" for _, new in x.upgrades)]
    add(
        "TURN",
        ["mine", "project", "upgrade", "form_federation", "pass"],
        free,
        all_of("advance", "track"),
        all_of("power", "power_action"),
        all_of("ship", "ship_action"),
        [f"special {x}" for x in specials],
        [f"special AC_B {x}" for x in academies],
        [f"special {x}" for x in _faction_specials(rules)],
        all_of("explore", "ship"),
        all_of("artifact", "artifact"),
        all_of("booster", "booster"),
    )
    for op in _modes(rules):
        add(place("TARGET", op.id), _targets(rules, op))
    add("PIECE", [f"piece {x}" for x in _pieces(rules)])
    add("FEDERATION", ["pick"], ["commit"] if rules.surplus_federations else [])
    chosen = [f"token {x.id}" for x in (*rules.base_tokens, *rules.ship_tokens)]
    add("TOKEN", chosen)
    if any(op.retrigger for op in rules.operations):
        add("RETRIGGER", all_of("token", "token"))
    add("TILE", tiles)
    add("COVER", all_of("tile", "tile"))
    for op in _free_mines(rules):
        add(place("FREE_MINE", op.id), ["pick", "skip"])
    add("STEP", all_of("advance", "track"), ["skip"])
    add("LOST_PLANET", ["pick"])
    add("LEECH", ["leech CHARGE", "leech DECLINE"])
    if any(x.pi_leech_token for x in factions):
        add("LEECH", ["leech TOKEN_FIRST"])
    add("AFTER", free, ["end_turn"])
    return frozenset(out)


def _faction_specials(rules: Ruleset) -> list[str]:
    """The operations behind `special FACTION`: each faction's own, and the tinkering tiles."""
    own = [x.special for x in rules.factions if x.special in rules.operation_index]
    if any(x.tinkering for x in rules.factions):
        own += [f"tinkering {x.id}" for x in rules.tinkering_tiles]
    return own


def _modes(rules: Ruleset) -> list[Operation]:
    return [op for op in rules.operations if op.target != operations.NO_TARGET]


def _free_mines(rules: Ruleset) -> list[Operation]:
    opened = sorted({op.free_mine for op in rules.operations if op.free_mine})
    return [rules.operations[i] for i in opened]


def _targets(rules: Ruleset, op: Operation) -> list[str]:
    """What the target of a mode can be."""
    ids, out = rules.ids, []
    if op.mine or op.project != operations.NO_PROJECT or op.target in _CELLS:
        out.append("pick")
    if op.explore:
        # The action is taken by a shuttle that stands on its ship already.
        out += [f"explore {x}" for i, x in enumerate(ids["ship"]) if i != op.ship]
    if op.target == operations.TRACK:
        out += [f"advance {x}" for x in ids["track"]]
    if op.target == operations.TOKEN:
        out += [f"token {x}" for x in ids["token"]]
    return out


def _free(rules: Ruleset) -> list[str]:
    """Free actions with the price that they have for somebody (FRE-07, FRE-08)."""
    bundles, own = rules.tables.bundles, rules.tables.faction.free_actions
    out = []
    for i, action in enumerate(rules.free_actions):
        users = [x for x, can in zip(rules.factions, own[:, i], strict=True) if can]
        if any(x.pi_power_worth == 1 or not (action.needs_pi and bundles[i]) for x in users):
            out.append(f"free {action.id}")
        if bundles[i] and any(x.pi_power_worth > 1 for x in users):
            out.append(f"bundle {action.id}")
    return out


def _atoms(rules: Ruleset) -> list[str]:
    """Atoms of income that exist (INC-02)."""
    pi = [x.pi_income for x in rules.factions]
    boosters = [x.income for x in rules.boosters]
    gains = {
        "CH_PI": [x.charge for x in pi],
        "CH_ECO": [x.charge for side in rules.economy_income for x in side],
        "CH_BOOSTER": [x.charge for x in boosters],
        "CH_TILE": [x.income.charge for x in (*rules.basic_tiles, *rules.ship_tiles)],
        "CH_LABS": [gain.charge for x in rules.factions for gain in x.rl_income],
        "TK_FACTION": [x.base_income.tokens for x in rules.factions],
        "TK_PI": [x.tokens for x in pi],
        "TK_BOOSTER": [x.tokens for x in boosters],
    }
    return [x for x in INCOME_ATOMS if any(gains[x])]


def _pieces(rules: Ruleset) -> list[str]:
    """Pieces of which a structure becomes one or another (UPG-01)."""
    out = set()
    for faction in rules.factions:
        for old, _ in faction.upgrades:
            new = [x for before, x in faction.upgrades if before == old]
            out |= set(new) if len(new) > 1 else set()
    return [x for x in rules.actions.ids["piece"] if x in out]


class Pairs:
    """Which pair a decision is, as indices into `places` and `names`; `of` is traced."""

    def __init__(self, rules: Ruleset) -> None:
        """Tables for one ruleset."""
        self.rules = rules
        self.places, self.names = places(rules), names(rules)
        row = {name: i for i, name in enumerate(self.names)}
        at = {name: i for i, name in enumerate(self.places)}
        number = len(rules.operations)
        # By node and waiting operation; by action; -1 where there is none.
        self._place = np.full((len(NODES), number), -1)
        for i, node in enumerate(NODES):
            self._place[i] = at.get(node, -1)
            for j, op in enumerate(rules.operations):
                self._place[i, j] = at.get(place(node, op.id), self._place[i, j])
        self._plain = np.array(
            [row.get(x.split()[0] if "," in x else x, -1) for x in rules.actions.texts]
        )
        self._operation = np.array(
            [row.get(f"special {x.id}", row.get(x.id, -1)) for x in rules.operations]
        )
        self._academy = np.array([row[f"special AC_B {x}"] for x in rules.ids["faction"]])
        self._kind = {
            verb: np.array([row[f"{verb} {x}"] for x in rules.ids[verb]])
            for verb in ("artifact", "advanced", "token")
        }

    def of(self, state: State, action: Array) -> tuple[Array, Array]:
        """Place and option of one decision, () int32 each; -1 for what has no name."""
        rules, game = self.rules, state.game
        t, space, turn = rules.tables, rules.actions, game.turn
        node, player = turn.node.astype(jnp.int32), state.current_player
        waiting = jnp.where(node == Node.FREE_MINE, turn.free_mine, turn.pending_op)
        where = jnp.asarray(self._place)[node, jnp.maximum(waiting, 0).astype(jnp.int32)]
        faction = game.setup.faction[player].astype(jnp.int32)
        option = jnp.asarray(self._plain)[action]

        def nth(verb: str) -> tuple[Array, Array]:
            i = action - space.first[verb]
            size = len(space.ids[verb])
            return (i >= 0) & (i < size), jnp.clip(i, 0, size - 1)

        def table(values: Any) -> Array:
            return jnp.asarray(np.asarray(values).astype(np.int32))

        # Prices of their own: the Nevlas beside their PI, the Terrans in the Gaia phase.
        is_free, i = nth("free")
        has_pi = game.players.built[player, PI] > 0
        whole = has_pi & (table(t.faction.pi_power_worth)[faction] > 1)
        other = jnp.where(
            node == Node.TERRANS,
            table(t.conversions)[i],
            jnp.where(whole, table(t.bundles)[i], 0),
        )
        option = jnp.where(is_free & (other > 0), table(self._operation)[other], option)
        # What lies in a place, or belongs to the faction.
        is_artifact, i = nth("artifact")
        kind = game.setup.artifacts.astype(jnp.int32)[i]
        option = jnp.where(is_artifact, table(self._kind["artifact"])[kind], option)
        is_advanced, i = nth("advanced")
        kind = game.setup.advanced.astype(jnp.int32)[i]
        option = jnp.where(is_advanced, table(self._kind["advanced"])[kind], option)
        is_token, i = nth("token")
        base = len(rules.base_tokens) + 1
        kind = game.setup.ship_token.astype(jnp.int32)[jnp.clip(i - base, 0, len(rules.ships) - 1)]
        kind = jnp.where(i < base, i, base + kind)
        option = jnp.where(is_token, table(self._kind["token"])[kind], option)
        academy, own = (space.index("special", x) for x in ("AC_B", "FACTION"))
        option = jnp.where(action == academy, table(self._academy)[faction], option)
        tile = game.players.tinkering[player].astype(jnp.int32)
        special = jnp.where(
            tile >= 0,
            table(t.tinkering_op)[jnp.maximum(tile, 0)],
            table(t.faction.special_op)[faction],
        )
        option = jnp.where(action == own, table(self._operation)[special], option)
        return where, option
