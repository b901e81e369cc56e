"""Income: what structures, tracks, tiles, booster and artifacts bring each round (INC)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.rules import power
from gaia_jax.rules.player import bit_vector, book, receive, uncovered
from gaia_jax.rules.seat import Seat
from gaia_jax.ruleset import CHARGE_ATOMS, GAIN_FIELDS, FactionRow, Ruleset
from gaia_jax.ruleset.faction_table import CHARGE, ORE, TOKENS, TOKENS_III, VP
from gaia_jax.state import (
    AC_A,
    MINE,
    PI,
    RL,
    TS,
    GameState,
    Node,
    Players,
)


def parts(
    ruleset: Ruleset, faction: FactionRow, me: Players, economy_side: Array
) -> dict[str, Array]:
    """Income by where it comes from, each (9,) int32 in the order of GAIN_FIELDS (INC-01)."""
    t = ruleset.tables
    built = me.built

    def of(table: np.ndarray) -> Array:
        return jnp.asarray(table).astype(jnp.int32)

    economy = of(t.economy_income)[economy_side.astype(jnp.int32)]
    track = ruleset.ids["track"].index
    mines = faction.mine_income[built[MINE]]
    kinds = uncovered(ruleset, me)[:, None] * of(t.tile_income)
    artifacts = bit_vector(me.artifacts, len(t.artifact_income))[:, None] * of(t.artifact_income)
    return {
        "board": faction.base_income,
        "mines": jnp.zeros(len(GAIN_FIELDS), jnp.int32).at[ORE].set(mines),
        "ts": faction.ts_income[built[TS]],
        "labs": faction.rl_income[built[RL]],
        "pi": faction.pi_income * (built[PI] > 0),
        "academy": faction.academy_a_income * (built[AC_A] > 0),
        "economy": economy[me.tracks[track("economy")]],
        "science": of(t.science_income)[me.tracks[track("science")]],
        "booster": of(t.booster_income)[me.booster],
        "tiles": kinds.sum(0),
        "artifacts": artifacts.sum(0),
    }


def atoms(income: dict[str, Array]) -> Array:
    """(8,) int32, the amount of each atom of ids["income"]: charges first, then tokens (INC-02)."""
    charges = ("pi", "economy", "booster", "tiles", "labs")
    tokens = ("board", "pi", "booster")
    return jnp.stack([income[x][CHARGE] for x in charges] + [income[x][TOKENS] for x in tokens])


def is_open(income: Array) -> Array:
    """bool, a charge and a token gain are both pending, so the player chooses (INC-02)."""
    charges = (1 << CHARGE_ATOMS) - 1
    return (income & charges != 0) & (income & ~charges != 0)


def _collect(
    ruleset: Ruleset, faction: FactionRow, me: Players, side: Array, starts: Array, atom: Array
) -> Players:
    income = parts(ruleset, faction, me, side)
    total = jnp.where(starts, sum(income.values()), 0)
    me = book(receive(faction, me, total), {"ECONOMY": total[VP]})
    me = power.add_tokens(me, 0 * total[TOKENS], total[TOKENS_III])
    amounts = atoms(income)
    number = jnp.arange(len(amounts))
    bits = ((amounts > 0) << number).sum()
    pending = jnp.where(starts, bits, me.income)
    chosen = (number == atom) * amounts
    me = power.charge(me, chosen[:CHARGE_ATOMS].sum())
    first = chosen[CHARGE_ATOMS:].sum()
    pending = pending & ~jnp.where(atom >= 0, 1 << jnp.maximum(atom, 0), 0)
    # What is left when one kind only is pending comes by itself.
    rest = jnp.where(is_open(pending), 0, bit_vector(pending, len(amounts)) * amounts)
    me = power.add_tokens(me, first, 0 * first)
    me = power.charge(me, rest[:CHARGE_ATOMS].sum())
    last = rest[CHARGE_ATOMS:].sum()
    me = power.add_tokens(me, last, 0 * last)
    return me.replace(income=jnp.where(is_open(pending), pending, 0))


def collect(
    ruleset: Ruleset, game: GameState, starts: Array, chooser: Array, atom: Array
) -> Players:
    """Income of all players, or one atom of the one who chooses (INC-02, GEN-06).

    Everything comes at once but for the order of charges and tokens where a player has a choice;
    those atoms stay pending in `Players.income`.

    Args:
        starts: () bool, the income phase begins.
        chooser: () int32 player; atom: () int32, index in ids["income"], -1 if none chooses.
    """

    def collect_player(me: Players, faction: Array, player: Array) -> Players:
        chosen = jnp.where(player == chooser, atom, -1)
        columns = FactionRow.of(ruleset, faction)
        # The Automa has no income (AUT-15).
        receives = starts & (player < ruleset.seats) if ruleset.automa else starts
        return _collect(ruleset, columns, me, game.setup.economy_side, receives, chosen)

    faction = game.setup.faction.astype(jnp.int32)
    return jax.vmap(collect_player)(
        game.players.edit(), faction, jnp.arange(game.num_players)
    ).pack()


def options(seat: Seat) -> Array:
    """(8,) bool, the pending atoms of ids["income"]."""
    pending = bit_vector(seat.me.income, len(seat.ruleset.ids["income"])) == 1
    return seat.at(Node.INCOME) & pending
