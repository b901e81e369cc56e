"""The arrays that the rules read, made from the pieces and prices of a ruleset."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from gaia_jax import components as box
from gaia_jax import operations
from gaia_jax.components.common import Gain

if TYPE_CHECKING:
    from gaia_jax.ruleset.definition import Ruleset

GAIN_FIELDS = tuple(f.name for f in fields(Gain))
# A price that nobody can pay.
NO_PRICE = 127


def gain_vector(gain: Gain) -> list[int]:
    """The amounts of a gain in the order of GAIN_FIELDS."""
    return [getattr(gain, name) for name in GAIN_FIELDS]


def _cumulative(gains) -> list[list[int]]:
    rows = [[0] * len(GAIN_FIELDS)]
    for gain in gains:
        rows.append([a + b for a, b in zip(rows[-1], gain_vector(gain), strict=True)])
    return rows


def _triggers(things, events) -> np.ndarray:
    out = np.zeros((len(things), len(events)), np.int8)
    for i, thing in enumerate(things):
        if thing.trigger:
            out[i, events.index(thing.trigger[0])] = thing.trigger[1]
    return out


def _pass_vp(things, counts) -> np.ndarray:
    out = np.zeros((len(things), len(counts)), np.int8)
    for i, thing in enumerate(things):
        if thing.pass_per:
            out[i, counts.index(thing.pass_per.count)] = thing.pass_per.vp
    return out


def _action_operations(r: Ruleset) -> np.ndarray:
    """(A,) int16, the operation that an action stands for at TURN, AFTER and PIECE; 0 if none.

    Explorations, artifacts, academy B and faction specials depend on the game (`fleet`, `special`).
    """
    space, row = r.actions, r.operation_index
    out = np.zeros(space.num_actions, np.int16)
    cells = space.geometry.num_cells
    out[:cells] = row["mine"]
    out[cells : 2 * cells] = row["project"]
    for verb, ids in space.groups:
        for i, argument in enumerate(ids):
            name = "research" if verb == "advance" else f"{verb} {argument}"
            name = f"upgrade {argument}" if verb == "piece" else name
            name = "pass" if verb in ("booster", "pass") else name
            out[space.first[verb] + i] = row.get(name, 0)
    return out


def _gaia_qic(faction: box.factions.Faction) -> int:
    """QIC for a Gaia planet where it is not paid in ore (MIN-09, MIN-10)."""
    if faction.gaia_planet_cost.ore and not faction.gaia_planet_qic_instead:
        return NO_PRICE
    return max(faction.gaia_planet_cost.qic, int(faction.gaia_planet_qic_instead))


def _faction_columns(r: Ruleset) -> SimpleNamespace:
    """(F, ...) arrays by faction, under the names of `components.factions.Faction`."""
    f, row, ids = r.factions, r.operation_index, r.ids

    def column(read, dtype=np.int8) -> np.ndarray:
        return np.array([read(x) for x in f], dtype)

    plain = [
        "expansion",
        "brainstone",
        "drawn_colours",
        "gaia_mine_vp",
        "guest_mines",
        "pi_guest_knowledge",
        "pi_new_type_knowledge",
        "navigation_needs_pi",
        "pi_tech_tile",
        "federation_requirement",
        "federation_requirement_pi",
        "federation_grows",
        "satellite_qic",
        "pi_token",
        "black_planet_bonus_pi",
        "qic_becomes_ore_until_academy_b",
        "burn_to_gaia",
        "gaia_tokens_to_bowl",
        "ore_token_bowl",
        "pi_power_worth",
        "pi_leech_token",
        "pi_gaia_convert",
        "pi_gaia_tiles",
        "special_needs_pi",
        "tinkering",
        "shuttles",
    ]
    out = {name: column(lambda x, name=name: getattr(x, name)) for name in plain}
    names = box.common.STRUCTURES
    paths = np.zeros((len(f), len(names), len(names)), bool)
    free = np.zeros((len(f), len(r.free_actions)), bool)
    for i, x in enumerate(f):
        for old, new in x.upgrades:
            paths[i, names.index(old), names.index(new)] = True
        for k, action in enumerate(r.free_actions):
            free[i, k] = action.faction in (None, x.id)
    cycle = box.planets.TERRAFORM_CYCLE
    steps = np.zeros((len(f), len(box.planets.PLANETS)), np.int8)
    steps[:, box.planets.PLANETS.index("Proto")] = box.planets.PROTO_STEPS
    for i, x in enumerate(f):
        for j, colour in enumerate(cycle):
            apart = abs(cycle.index(x.home) - j) if x.home else 0
            n = min(apart, len(cycle) - apart) if x.home else (x.colour_steps or 0)
            steps[i, box.planets.PLANETS.index(colour)] = n
    start_pieces = [sum(n for _, n in x.start_structures) for x in f]
    # "free T3_to_2O" and the bundles that replace the power conversions (FRE-07).
    bundles = np.array([row.get(f"bundle {a.id}", 0) for a in r.free_actions], np.int16)
    columns = SimpleNamespace(
        **out,
        home=column(lambda x: ids["planet"].index(x.home) if x.home else -1),
        start_planet=column(lambda x: ids["planet"].index(x.start_planet)),
        start_piece=column(lambda x: names.index(x.start_structures[0][0])),
        start_pieces=np.array(start_pieces, np.int8),
        start=column(lambda x: gain_vector(x.start)),
        start_power=column(lambda x: x.start_power),
        start_tracks=column(lambda x: x.start_tracks),
        preplaced_ship=column(
            lambda x: r.ships.index(x.preplaced_ship) if x.preplaced_ship else -1
        ),
        mine_income=column(lambda x: np.cumsum((0, *x.mine_income_ore))),
        base_income=column(lambda x: gain_vector(x.base_income)),
        ts_income=column(lambda x: _cumulative(x.ts_income)),
        rl_income=column(lambda x: _cumulative(x.rl_income)),
        pi_income=column(lambda x: gain_vector(x.pi_income)),
        academy_a_income=column(lambda x: gain_vector(x.academy_a_income)),
        gaia_ore=column(lambda x: x.gaia_planet_cost.ore),
        gaia_qic=column(_gaia_qic),
        pi_new_main_sector=column(lambda x: gain_vector(x.pi_new_main_sector)),
        pi_new_sector=column(lambda x: gain_vector(x.pi_new_sector)),
        upgrades=paths,
        free_actions=free,
        free_needs_pi=np.array([a.needs_pi for a in r.free_actions]),
        bundles=bundles,
        # What the same words mean to the Terrans in the Gaia phase (GAI-08).
        conversions=np.array([row.get(x, 0) for x in _conversions(r)], np.int16),
        steps=steps,
        explore_op=column(lambda x: row.get(f"explore {x.id}", 0), np.int16),
        academy_b_op=column(lambda x: row[f"AC_B {x.id}"], np.int16),
        special_op=column(lambda x: row.get(x.special or "", 0), np.int16),
    )
    return _pack_columns(columns, len(f))


def _pack_columns(columns: SimpleNamespace, rows: int) -> SimpleNamespace:
    """The same with `packed`, (rows, K) int16, all columns of one row beside one another, and
    `where`, first place, shape and whether it is bool, by name.
    """
    where, parts, first = {}, [], 0
    for name, table in vars(columns).items():
        if table.shape[:1] != (rows,):
            continue
        flat = table.reshape(rows, -1).astype(np.int16)
        where[name] = (first, table.shape[1:], table.dtype == bool)
        parts.append(flat)
        first += flat.shape[1]
    columns.packed, columns.where = np.concatenate(parts, axis=1), where
    return columns


def _conversions(r: Ruleset) -> list[str]:
    kinds = {"P4_to_Q": "terrans Q", "P3_to_O": "terrans O", "P4_to_K": "terrans K"}
    return [kinds.get(a.id, "none") for a in r.free_actions]


def make_tables(r: Ruleset) -> SimpleNamespace:
    """Every table of a ruleset by name; shapes and meanings stand beside them."""
    space, row = r.actions, r.operation_index
    verbs = [*("mine", "project", "upgrade", "pick"), *(verb for verb, _ in space.groups)]
    verb = np.zeros(space.num_actions, np.int8)
    argument = np.zeros(space.num_actions, np.int8)
    cells = space.geometry.num_cells
    for i in range(4):
        verb[i * cells : (i + 1) * cells] = i
    for name, ids in space.groups:
        at = space.first[name]
        verb[at : at + len(ids)] = verbs.index(name)
        argument[at : at + len(ids)] = np.arange(len(ids))
    events, counts = box.common.EVENTS, box.common.COUNTS
    tiles = (*r.basic_tiles, *r.ship_tiles)
    tokens = (*r.base_tokens, r.gleens_token, *r.ship_tokens)
    rounds = np.zeros((len(r.round_tiles), len(events)), np.int8)
    for i, tile in enumerate(r.round_tiles):
        rounds[i, events.index(tile.event)] = tile.vp
    names = box.common.STRUCTURES

    def gains(things) -> np.ndarray:
        return np.array([gain_vector(x) for x in things], np.int8)

    ship_tile_of_ship = np.full(len(r.ships), -1, np.int8)
    for i, ship in enumerate(r.ship_tile_ships):
        ship_tile_of_ship[r.ships.index(ship)] = i
    first_upgrade = [row[f"upgrade {name}"] for name in names[2:]]
    power = [box.costs.POWER_VALUE[name] for name in names]
    return SimpleNamespace(
        verbs={name: i for i, name in enumerate(verbs)},
        # (A, 4) int16: verb, argument, cell (0 where there is none), operation at TURN.
        index=np.stack(
            [verb, argument, np.maximum(space.cell, 0), _action_operations(r)], axis=-1
        ).astype(np.int16),
        ops=operations.table(r.operations),
        faction=_faction_columns(r),
        # Operations by what they are made from.
        op=row,
        upgrade_op=np.array([0, 0, *first_upgrade], np.int16),  # by structure
        tile_op=np.array([row[f"tile {t.id}"] for t in tiles], np.int16),
        advanced_op=np.array([row[f"advanced {t.id}"] for t in r.advanced_tiles], np.int16),
        token_op=np.array([row[f"token {t.id}"] for t in tokens], np.int16),
        artifact_op=np.array([row[f"artifact {a.id}"] for a in r.artifacts] or [0], np.int16),
        tinkering_op=np.array(
            [row[f"tinkering {t.id}"] for t in r.tinkering_tiles] or [0], np.int16
        ),
        tinkering_round=np.array([t.rounds for t in r.tinkering_tiles] or [(0, 0, 0)], np.int8),
        # Scoring: VP by event or by counted thing.
        round_events=rounds,
        tile_events=_triggers(tiles, events),
        advanced_events=_triggers(r.advanced_tiles, events),
        booster_pass=_pass_vp(r.boosters, counts),
        advanced_pass=_pass_vp(r.advanced_tiles, counts),
        # Incomes, (n, 9) in the order of GAIN_FIELDS.
        booster_income=gains(b.income for b in r.boosters),
        tile_income=gains(t.income for t in tiles),
        artifact_income=gains([a.income for a in r.artifacts] or [Gain()]),
        economy_income=np.array([gains(side) for side in r.economy_income]),
        science_income=gains(box.research.SCIENCE_INCOME),
        level_bonus=np.array([gains(track) for track in box.research.LEVEL_BONUS]),
        # Tiles and tokens.
        range_bonus=np.array([t.range_bonus for t in tiles], np.int8),
        power_value=np.array([*power, 0], np.int8),  # by Board.piece
        tile_power=np.array([t.power_value_pi_ac or 0 for t in tiles], np.int8),
        green=np.array([t.green for t in tokens]),
        virtual_planet=np.array(
            [r.ids["planet"].index(a.virtual_mine) if a.virtual_mine else -1 for a in r.artifacts]
            or [-1],
            np.int8,
        ),
        ship_tile_of_ship=ship_tile_of_ship,
        # The research board.
        ore_per_step=np.array(box.research.ORE_PER_STEP, np.int8),
        navigation_range=np.array(box.research.NAVIGATION_RANGE, np.int8),
        project_cost=np.array(box.research.PROJECT_COST, np.int8),
        end_vp=np.array(box.research.END_VP, np.int8),
        # Supplies: by structure.
        pieces=np.array([0, *(box.costs.PIECES[name] for name in names[1:])], np.int8),
        shuttle_charge=np.array(box.ships.SHUTTLE_CHARGE, np.int8),
        prizes=np.array(box.missions.FINAL_PRIZES, np.int8),
    )
