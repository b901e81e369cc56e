"""Income: what structures, tracks, tiles, booster and artifacts bring each round (INC-01 to INC-08)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from gaia_jax.rules import power
from gaia_jax.rules.player import Columns, bit_vector, receive, score, uncovered
from gaia_jax.ruleset import CHARGE_ATOMS, GAIN_FIELDS, Ruleset
from gaia_jax.state import AC_A, MINE, PI, RL, TS, Players

TOKENS, TOKENS_III, CHARGE = (GAIN_FIELDS.index(x) for x in ("tokens", "tokens_iii", "charge"))


def parts(rules: Ruleset, faction: Columns, me: Players, economy_side: Array) -> dict[str, Array]:
    """Income by where it comes from, each (9,) int32 in the order of GAIN_FIELDS (INC-01, INC-04)."""
    t = rules.tables
    built = me.built

    def of(table) -> Array:
        return jnp.asarray(table).astype(jnp.int32)

    economy = of(t.economy_income)[economy_side.astype(jnp.int32)]
    track = rules.ids["track"].index
    mines = faction.mine_income[built[MINE]]
    kinds = uncovered(rules, me)[:, None] * of(t.tile_income)
    artifacts = bit_vector(me.artifacts, len(t.artifact_income))[:, None] * of(t.artifact_income)
    return {
        "board": faction.base_income,
        "mines": jnp.zeros(9, jnp.int32).at[GAIN_FIELDS.index("ore")].set(mines),
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


def apply_atom(me: Players, amounts: Array, atom: Array) -> Players:
    """One atom whole: a charge, or new tokens in bowl I; the atom is no longer pending."""
    amount = amounts[atom]
    charges = atom < CHARGE_ATOMS
    me = power.charge(me, jnp.where(charges, amount, 0))
    me = power.add_tokens(me, jnp.where(charges, 0, amount), 0 * amount)
    return me.replace(income=me.income & ~(1 << atom))


def is_open(income: Array) -> Array:
    """bool, a charge and a token gain are both pending, so the player chooses (INC-02)."""
    charges = (1 << CHARGE_ATOMS) - 1
    return (income & charges != 0) & (income & ~charges != 0)


def finish(me: Players, amounts: Array) -> Players:
    """What is left when one kind only is pending comes by itself (INC-02)."""
    pending = bit_vector(me.income, len(amounts)) * amounts
    pending = jnp.where(is_open(me.income), 0, pending)
    me = power.charge(me, pending[:CHARGE_ATOMS].sum())
    tokens = pending[CHARGE_ATOMS:].sum()
    me = power.add_tokens(me, tokens, 0 * tokens)
    return me.replace(income=jnp.where(is_open(me.income), me.income, 0))


def collect(rules: Ruleset, faction: Columns, me: Players, economy_side: Array) -> Players:
    """A player's whole income but for the order of charges and tokens where he has a choice."""
    income = parts(rules, faction, me, economy_side)
    total = sum(income.values())
    me = receive(faction, me, total)
    me = score(me, "ECONOMY", total[0])
    me = power.add_tokens(me, 0 * total[TOKENS], total[TOKENS_III])
    amounts = atoms(income)
    bits = ((amounts > 0) << jnp.arange(len(amounts))).sum()
    return finish(me.replace(income=bits), amounts)


def collect_all(rules: Ruleset, players: Players, factions: Array, side: Array) -> Players:
    """Income of all players at once; nobody's depends on another's (GEN-06).

    Args:
        players: rows in int32; factions: (P,) int32.
    """

    def one(me: Players, faction: Array) -> Players:
        return collect(rules, Columns(rules.tables.faction, faction), me, side)

    return jax.vmap(one)(players, factions)
