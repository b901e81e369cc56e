"""Every operation of a ruleset, made from its components: actions, tiles, tokens, rewards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gaia_jax.components import common, costs
from gaia_jax.components.artifacts import ARTIFACT_COST
from gaia_jax.components.boosters import RB13_FREE_STEPS
from gaia_jax.components.common import Cost
from gaia_jax.components.federation_tokens import TF3_MINE_FREE_STEPS
from gaia_jax.components.free_actions import NEVLAS_PI_BUNDLES, TERRANS_CONVERSIONS
from gaia_jax.components.research import RESEARCH_COST
from gaia_jax.components.ships import ARTIFACT_SHIP
from gaia_jax.ruleset.operations import (
    ASTEROIDS_ONLY,
    INSTANT,
    NO_ASTEROIDS,
    NO_PROJECT,
    OWN,
    POWER_SLOT,
    PROJECT,
    SHIP_SLOT,
    SITE,
    SPACE,
    SPECIAL_SLOT,
    TOKEN,
    TRACK,
    UNRINGED,
    WITH_GAIAFORMER,
    Operation,
)
from gaia_jax.ruleset.pieces import Pieces
from gaia_jax.state import MINE, RL, TS


def _free(pieces: Pieces) -> list[Operation]:
    ops = []
    for f in pieces.free_actions:
        ops.append(
            Operation(
                f"free {f.id}",
                f.cost,
                f.gain,
                burn=f.burn,
                gaiaformer=f.gaiaformer,
                to_gaia=f.tokens_to_gaia,
                reverses_brainstone=f.reverses_brainstone,
            )
        )
    # Whole tokens instead of power (FRE-07): priced in power so that half of it, rounded up, is
    # the number of tokens.
    for b in NEVLAS_PI_BUNDLES:
        ops.append(Operation(f"bundle {b.id}", Cost(power=2 * b.tokens), b.gain))
    # The Gaia phase's points are kept in `turn.terrans_points` (GAI-08).
    for b in TERRANS_CONVERSIONS:
        ops.append(Operation(f"terrans {b.id}", gain=b.gain))
    return ops


def _building(pieces: Pieces) -> list[Operation]:
    mine: dict[str, Any] = {"mine": True, "source": "FACTION", "main": True}
    ops = [
        Operation("mine", asteroid_rule=WITH_GAIAFORMER, guests=True, **mine),
        Operation("project", project=PROJECT, main=True),
    ]
    names = common.STRUCTURES
    for name in names[2:]:
        cost = costs.UPGRADE_COST[name]
        tile = name in ("RL", "AC_A", "AC_B")
        ops.append(
            Operation(f"upgrade {name}", cost, main=True, piece=names.index(name), tile=tile)
        )
    ops.append(Operation("upgrade TS near", costs.TS_NEIGHBOUR_COST, main=True, piece=TS))
    ops.append(Operation("research", RESEARCH_COST, main=True, research=True))
    for p, a in enumerate(pieces.power_actions):
        as_mine: dict[str, Any] = (
            {"target": SITE, "mine": True, "free_steps": a.free_steps, "needs_step": True}
            if a.free_steps
            else {}
        )
        ops.append(
            Operation(
                f"power {a.id}", a.cost, a.gain, main=True, slot_kind=POWER_SLOT, slot=p, **as_mine
            )
        )
    return ops


def _effects(pieces: Pieces) -> dict[str | None, dict[str, Any]]:
    """The columns of the effect of a ship action."""
    return {
        None: {},
        "TECH": {"tile": True},
        "UPGRADE_TS": {"target": OWN, "own": MINE, "piece": TS},
        "UPGRADE_RL": {"target": OWN, "own": TS, "piece": RL, "tile": True},
        "RETRIGGER": {"target": TOKEN},
        "RANGE": {
            "target": SITE,
            "mine": True,
            "asteroid_rule": WITH_GAIAFORMER,
            "guests": True,
            "explore": True,
            "extra_range": costs.RANGE_BONUS,
            "project": PROJECT if pieces.twilight_range_projects else NO_PROJECT,
        },
        "INSTANT_GAIA": {"target": SITE, "project": INSTANT},
        "MINE_TF1": {"target": SITE, "mine": True, "needs_step": True},
        "RESEARCH": {"target": TRACK, "research": True},
        "ASTEROID_MINE": {
            "target": SITE,
            "mine": True,
            "mine_is_free": True,
            "asteroid_rule": ASTEROIDS_ONLY,
        },
    }


def _ships(pieces: Pieces) -> list[Operation]:
    effects = _effects(pieces)
    ops = []
    for i, (verb, a) in enumerate(pieces.shared_actions):
        ops.append(
            Operation(
                f"{verb} {a.id}",
                a.cost,
                a.gain,
                a.per,
                source="SHIP",
                main=True,
                slot_kind=SHIP_SLOT,
                slot=i,
                ship=pieces.ships.index(a.ship) if a.ship else -1,
                free_steps=a.free_steps,
                qic_action=a.cost.qic > 0,
                **effects[a.effect],
            )
        )
    for f in pieces.factions if pieces.ships else ():
        ops.append(
            Operation(
                f"explore {f.id}",
                f.shuttle_cost,
                source="EXPLORE",
                main=True,
                explore=True,
                brainstone=f.shuttle_brainstone,
            )
        )
    artifact_ship = pieces.ships.index(ARTIFACT_SHIP) if pieces.artifacts else -1
    for artifact in pieces.artifacts:
        ops.append(
            Operation(
                f"artifact {artifact.id}",
                ARTIFACT_COST,
                artifact.gain,
                artifact.per,
                source="ARTIFACT",
                main=True,
                ship=artifact_ship,
                retrigger=artifact.retrigger,
            )
        )
    return ops


def _specials(pieces: Pieces) -> list[Operation]:
    special: dict[str, Any] = {"main": True, "slot_kind": SPECIAL_SLOT}
    slot = pieces.ids["special"].index
    ops = []
    for t in (*pieces.basic_tiles, *pieces.advanced_tiles):
        if t.special:
            ops.append(Operation(f"special {t.id}", gain=t.special, slot=slot(t.id), **special))
    for f in pieces.factions:
        ops.append(Operation(f"AC_B {f.id}", gain=f.academy_b_action, slot=slot("AC_B"), **special))
    site: dict[str, Any] = {"target": SITE, **special}
    boosters: dict[str, dict[str, Any]] = {
        "RB6": {"project": INSTANT},
        "RB11": {
            "mine": True,
            "asteroid_rule": WITH_GAIAFORMER,
            "guests": True,
            "project": PROJECT,
            "explore": bool(pieces.ships),
            "extra_range": costs.RANGE_BONUS,
        },
        "RB13": {"mine": True, "free_steps": RB13_FREE_STEPS, "needs_step": True},
    }
    for b in pieces.boosters:
        if b.special:
            ops.append(Operation(f"special {b.id}", slot=slot(b.id), **site, **boosters[b.special]))
    own: dict[str, Any] = {"slot": slot("FACTION"), **special}
    steps = max(f.special_free_steps for f in pieces.factions)
    ops += [
        Operation("HIVE_STATION", target=SPACE, **own),
        Operation("AMBAS_SWAP", target=OWN, own=MINE, **own),
        Operation("FIRAKS_DOWNGRADE", target=OWN, own=RL, piece=TS, step=True, **own),
        Operation("BESCODS_LOWEST", target=TRACK, research=True, lowest=True, **own),
        Operation(
            "SPACE_GIANTS_TF2", target=SITE, mine=True, free_steps=steps, needs_step=True, **own
        ),
        Operation("MOWEYDS_RING", target=UNRINGED, **own),
    ]
    if any(f.special == "GLEENS_RANGE" for f in pieces.factions):
        bonus = max(f.special_range_bonus for f in pieces.factions)
        far = boosters["RB11"] | {"extra_range": bonus}
        ops.append(Operation("GLEENS_RANGE", target=SITE, **far, **own))
    for tile in pieces.tinkering_tiles:
        as_mine = site | {"mine": True, "needs_step": True} if tile.free_steps else {}
        effect = as_mine | own | {"free_steps": tile.free_steps}
        ops.append(Operation(f"tinkering {tile.id}", gain=tile.gain, **effect))
    return ops


def _rewards(pieces: Pieces) -> list[Operation]:
    ops = [Operation("pass", main=True)]
    free: dict[str, Any] = {"mine": True, "mine_is_free": True}
    plain = pieces.ship_token_mines_are_plain
    mines = [
        Operation(
            "free mine RANGE",
            unlimited_range=True,
            asteroid_rule=WITH_GAIAFORMER,
            guests=plain,
            **free,
        ),
        Operation(
            "free mine TF3",
            free_steps=TF3_MINE_FREE_STEPS,
            asteroid_rule=WITH_GAIAFORMER if plain else NO_ASTEROIDS,
            **free,
        ),
    ]
    for t in pieces.ship_tiles:
        if t.free_mine_steps is not None:
            steps = t.free_mine_steps
            mines.append(Operation(f"free mine {t.id}", free_steps=steps, needs_step=True, **free))
    ops += mines
    for t in (*pieces.basic_tiles, *pieces.ship_tiles):
        ops.append(Operation(f"tile {t.id}", gain=t.gain, per=t.per, source="BASIC_TILE"))
    for t in pieces.advanced_tiles:
        ops.append(Operation(f"advanced {t.id}", gain=t.gain, per=t.per, source="ADVANCED_TILE"))
    for token in (*pieces.base_tokens, pieces.gleens_token, *pieces.ship_tokens):
        tile = token.effect == "TECH"
        ops.append(Operation(f"token {token.id}", gain=token.gain, source="FEDERATION", tile=tile))
    return ops


def build(pieces: Pieces) -> tuple[Operation, ...]:
    """All operations of a ruleset, "none" first; `Ruleset.operation_index` finds one by its id."""
    ops = [
        Operation("none"),
        *_free(pieces),
        *_building(pieces),
        *_ships(pieces),
        *_specials(pieces),
        *_rewards(pieces),
    ]
    names = [op.id for op in ops]
    opens = {
        f"tile {t.id}": f"free mine {t.id}"
        for t in pieces.ship_tiles
        if t.free_mine_steps is not None
    }
    effects = {"RANGE_MINE": "free mine RANGE", "TF3_MINE": "free mine TF3"}
    opens |= {f"token {t.id}": effects[t.effect] for t in pieces.ship_tokens if t.effect in effects}
    return tuple(
        replace(op, free_mine=names.index(opens[op.id])) if op.id in opens else op for op in ops
    )
