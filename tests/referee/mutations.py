"""Does the duel notice a wrong rule? Errors planted in the vectorized engine, one to a game.

    python -m tests.referee.mutations [--only NAME ...] [--games 6] [--markdown]

Compiling the engine again for each error would take most of the time. So it is compiled once with
all errors in it, each with a switch (`planted.Planted`), and every game turns on one of them.
Games that turn on none must agree to the end. The rulings of the printed rulesets are misread in
the referee instead (`misreadings`), against the engine as it is. Exit status 1 if an error or a
misreading went unnoticed, or if an unchanged game differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gaia_jax.components import costs
from gaia_jax.rules import (
    between_turns,
    federation,
    free,
    gaia,
    gain,
    income,
    leech,
    mine,
    place,
    player,
    power,
    research,
    scoring,
    tech,
    turn,
)
from gaia_jax.ruleset import GAIN_FIELDS
from gaia_jax.state import AC_A, GAIA_AREA, GAIAFORMER, TS
from tests.referee import setup as drawing
from tests.referee.duel import Match, play
from tests.referee.engine import Engine
from tests.referee.misreadings import MISREADINGS, Misreading
from tests.referee.misreadings import setup_for as setup_misread
from tests.referee.planted import UNPLANTED, Error, Planted
from tests.referee.policies import POLICIES, Rare
from tests.referee.random_games import table_of


def to(place_: Any, value: Any) -> Any:
    """A change of a table: entries at `place_` become `value`."""

    def change(table: np.ndarray) -> np.ndarray:
        table[place_] = value
        return table

    return change


# -- functions of the rules that go wrong; `flag`: whether they do in this game


def third_step_free(flag, seat, at, op):
    return seat, at.replace(steps=jnp.where(flag, jnp.minimum(at.steps, 2), at.steps)), op


def no_gaiaformer_for_rocks(flag, out, *_):
    return out.replace(gaiaformer=jnp.where(flag, 0, out.gaiaformer))


def guest_counts_as_type(flag, out, seat, terms):
    types = jnp.arange(out.colonized.shape[-1])
    extra = flag & (types == seat.game.board.planet[terms.cell]) & terms.is_new & terms.guest
    return out.replace(colonized=out.colonized + extra)


def gaiaformed_at_once(flag, out, rules, game, number, cell=slice(None)):
    board = game.board
    own = (board.piece[cell] == GAIAFORMER) & (board.piece_owner[cell] == number)
    own &= board.planet[cell] == player.GAIA
    return out.replace(open=out.open | flag & own, own_gaia=out.own_gaia | flag & own)


def every_sector_new(flag, out, rules, me, cell):
    sector = jnp.asarray(rules.geometry.sector).astype(jnp.int32)[cell]
    new, main, bit = out
    return new | flag & (sector >= 0), main, bit


def level_5_without_token(flag, out, seat):
    below, enter = out
    free = (seat.game.players.tracks < research.MAX_LEVEL).all(0)
    return below, enter | flag & free & (seat.me.tracks == research.MAX_LEVEL - 1)


def level_5_for_two(flag, out, seat):
    below, enter, me = *out, seat.me
    return below, enter | flag & (me.green > 0) & (me.tracks == research.MAX_LEVEL - 1)


def any_track_is_lowest(flag, out, me):
    return out | flag


def covered_tiles_count(flag, out, rules, me):
    return jnp.where(flag, player.bit_vector(me.tiles, len(rules.ids["tile"])), out)


def leech_costs_one_more(flag, out, me, offered, take, first, last):
    extra = flag & take & (leech.amount(me, offered) > 1)
    return out.replace(vp=out.vp - jnp.where(extra, 1, 0))


def taklons_swap_the_order(flag, me, offered, take, first, last):
    return me, offered, take, jnp.where(flag, last, first), jnp.where(flag, first, last)


def charges_first(flag, out, *_):
    return out & ~flag


def bowl_ii_first(flag, out, me, amount):
    bowl_i, bowl_ii, bowl_iii = (me.power[..., i] for i in range(3))
    second = jnp.minimum(amount, bowl_ii)
    first = jnp.minimum(amount - second, bowl_i)
    moved = jnp.stack([bowl_i - first, bowl_ii - second + first, bowl_iii + second], axis=-1)
    return out.replace(power=jnp.where(flag, moved, out.power))


def beside_own_federation(flag, out, *_):
    return out._replace(barred=out.barred & ~flag)


def nothing_joins(flag, out, rules, game, number):
    return jnp.where(flag, game.board.federation_bits, out)


def prizes_not_shared(flag, out, rules, values, mission):
    better = (values[None] > values[:, None]).sum(-1)
    return jnp.where(flag, jnp.asarray(rules.tables.prizes).astype(jnp.int32)[better], out)


def satellites_are_federated(flag, out, rules, game):
    row = rules.final_missions.index("FEDERATION_BUILDINGS")
    return out.at[row].add(jnp.where(flag, game.players.satellites, 0))


def stations_count(flag, out, rules, game):
    row = rules.final_missions.index("SATELLITES")
    return out.at[row].add(jnp.where(flag, game.players.stations, 0))


def nobody_burns(flag, out, *_):
    return out & ~flag


def small_costs_spare_it(flag, me, cost, worth, reverse):
    return me, cost, worth, reverse & ~(flag & (cost < power.BRAINSTONE_POWER))


def great_costs_take_it(flag, me, cost, worth, reverse):
    return me, cost, worth, reverse & ~(flag & (cost >= power.BRAINSTONE_POWER))


def one_credit_for_it(flag, out, me, cost, worth, reverse):
    return out[0], out[1] & ~(flag & reverse)


def projects_take_it(flag, me, count, reverse):
    return me, count, reverse & ~flag


def burns_move_it(flag, me, happens, to_gaia, reverse):
    return me, happens, to_gaia, reverse & ~flag


def mark_stays(flag, out, rules, game, *_, **__):
    players, turn, over = out
    mark = turn.brainstone_reversed | flag & game.turn.brainstone_reversed
    return players, turn.replace(brainstone_reversed=mark), over


def turned_again(flag, out, seat):
    own = np.array([action.reverses_brainstone for action in seat.ruleset.free_actions])
    return out | flag & own & seat.game.turn.brainstone_reversed


def turned_anywhere(flag, out, seat):
    own = np.array([action.reverses_brainstone for action in seat.ruleset.free_actions])
    return out | flag & own & (seat.me.brainstone == GAIA_AREA)


def turned_keeps_open(flag, out, rules, free):
    return out | flag & free.any()


def order_stays(flag, out, game, starts):
    turn = out.turn
    return out.replace(turn=turn.replace(order=jnp.where(flag, game.turn.order, turn.order)))


def specials_stay_used(flag, out, game, starts):
    used = jnp.where(flag, game.players.used, out.players.used)
    return out.replace(players=out.players.replace(used=used))


def one_less_each(table: np.ndarray) -> np.ndarray:
    table[table > 0] -= 1
    return table


def _bonus(track: str, level: int, field: str, value: int) -> Any:
    tracks = ("terraforming", "navigation", "ai", "gaia", "economy", "science")
    return to((tracks.index(track), level, GAIN_FIELDS.index(field)), value)


def _round_tile(name: str) -> dict[str, Any]:
    return {"round_tiles": name}


TURNED = {"free brainstone": 30.0, "free P1_to_C": 100.0, "free burn": 100.0}
# Power is gathered in bowl III and spent in great costs.
KEPT = {
    "free brainstone": 1e7,
    "free P3": 100.0,
    "free P1": 0.0,
    "power": 300.0,
    "piece PI": 100.0,
    "upgrade": 4.0,
    "leech CHARGE": 30.0,
    "leech TOKEN": 60.0,
    "advance economy": 5.0,
}
EARLY_PROJECT = {
    "free brainstone": 1e7,
    "advance gaia": 300.0,
    "project": 3000.0,
    "free burn": 0.0,
    "free P": 0.0,
}
INSTITUTE = {"piece PI": 100.0, "upgrade": 4.0}  # players who build it early

ERRORS = [
    # Mines and projects.
    Error("range", "MIN-05", "a QIC stretches the range by 3", "constant",
          (costs, "RANGE_PER_QIC"), 3),
    Error("navigation_2", "MIN-04", "range 1 at navigation 2", "table", "navigation_range",
          to(2, 1)),
    Error("ore_per_step", "MIN-02", "3 ore a step at terraforming 2", "table", "ore_per_step",
          to(2, 3), taste={"advance terraforming": 50}),
    Error("third_step", "MIN-08", "the third step is free", "before", mine.price, third_step_free),
    Error("gleens_gaia", "MIN-10", "Gleens pay QIC for Gaia planets", "column",
          ("GLEENS", "gaia_ore"), 0, ("GLEENS",)),
    Error("asteroid", "MIN-12", "an asteroid takes no gaiaformer", "after", mine.price,
          no_gaiaformer_for_rocks, ("TERRANS", "BAL_TAKS", "MOWEYDS")),
    Error("guest_type", "LAN-01", "guest mines count for planet types", "after", place.of_player,
          guest_counts_as_type, ("LANTIDS",)),
    Error("gaiaformed_at_once", "MIN-20", "a planet gaiaformed at once may be built on this round",
          "after", mine.site, gaiaformed_at_once, ("TERRANS", "BAL_TAKS", "MOWEYDS")),
    Error("new_sector", "RMS-06", "every sector is new", "after", mine.new_sector,
          every_sector_new, setup=_round_tile("RM-SECTOR-3VP")),
    Error("project_cost", "GPJ-01", "5 tokens at gaia 1", "table", "project_cost", to(1, 5),
          ("TERRANS", "BAL_TAKS", "MOWEYDS")),
    Error("tile_price_of_itars", "GAI-09", "the Itars may buy a tile with 3 tokens", "constant",
          (gaia, "ITARS_TOKENS_PER_TILE"), 3, ("ITARS",),
          taste=INSTITUTE | {"free burn": 100}),
    Error("terrans_bowl", "GAI-07", "the Terrans' tokens return to bowl I", "column",
          ("TERRANS", "gaia_tokens_to_bowl"), 1, ("TERRANS",)),
    # Upgrades.
    Error("discount", "UPG-03", "neighbours within 3 cells cheapen a trading station", "constant",
          (costs, "NEIGHBOUR_DISTANCE"), 3),
    Error("academy_of_station", "UPG-01", "a trading station may become an academy", "column",
          (None, "upgrades"), to((slice(None), TS, AC_A), 1)),
    # Research.
    Error("level_5_free", "RES-02", "level 5 needs no green token", "after",
          research.advance_options, level_5_without_token),
    Error("level_5_taken", "RES-02", "level 5 for more than one", "after",
          research.advance_options, level_5_for_two,
          taste={"advance economy": 300, "form_federation": 10, "token FT_12VP": 0.01}),
    Error("charge_at_3", "RES-03", "charge 2 on reaching level 3", "constant",
          (gain, "CHARGE_AT_3"), 2),
    Error("ai_2", "board", "2 QIC at AI 2", "table", "level_bonus", _bonus("ai", 2, "qic", 2)),
    Error("bal_taks", "BAL-01", "Bal T'aks advance on navigation without PI", "column",
          ("BAL_TAKS", "navigation_needs_pi"), 0, ("BAL_TAKS",)),
    Error("bescods", "ACT-15", "the Bescods' step on any track", "after", research.lowest,
          any_track_is_lowest, ("BESCODS",)),
    # Tech tiles.
    Error("advanced_level", "TEC-02", "an advanced tile at level 3", "constant",
          (tech, "ADVANCED_TILE_LEVEL"), 3),
    Error("covered", "TEC-05", "covered tiles work", "after", player.uncovered,
          covered_tiles_count,
          taste={"advance economy": 100, "advance science": 30, "token FT_12VP": 0.01}),
    Error("big_structures", "TEC-12", "the tile that makes PI and academies worth 4 does nothing",
          "table", "tile_power", lambda t: t.fill(0)),
    Error("space_giants", "SPG-01", "no tile for the Space Giants' PI", "column",
          ("SPACE_GIANTS", "pi_tech_tile"), 0, ("SPACE_GIANTS",)),
    # Leech.
    Error("leech_distance", "LEE-02", "leech from 3 cells away", "constant",
          (costs, "LEECH_DISTANCE"), 3),
    Error("leech_cost", "LEE-02", "leech of 2 or more costs one VP too much", "after",
          leech.accept, leech_costs_one_more),
    Error("taklons_leech", "LEE-07", "the Taklons' token last when asked for first", "before",
          leech.accept, taklons_swap_the_order, ("TAKLONS",), seed=9719),
    Error("free_leech", "A20", "the Itars with the PI are not asked for free leech", "inside",
          (leech.resolve_offers, gaia.decides_on_tiles), nobody_burns, ("ITARS",), taste=INSTITUTE),
    # The brainstone the other way round.
    Error("stone_small", "A21", "a small cost is paid with ordinary tokens as before", "before",
          power.spend, small_costs_spare_it, ("TAKLONS",), taste=TURNED),
    Error("stone_great", "A21", "a great cost is paid with the brainstone as before", "before",
          power.spend, great_costs_take_it, ("TAKLONS",), taste=KEPT, seed=7000),
    Error("stone_credits", "A21", "the brainstone gives 1 credit next to ordinary tokens", "after",
          power.spend, one_credit_for_it, ("TAKLONS",), taste=TURNED),
    Error("stone_project", "A21", "a project takes it as before", "before", power.to_gaia_area,
          projects_take_it, ("TAKLONS",), taste=EARLY_PROJECT),
    Error("stone_burn", "A21", "a burn moves it as before", "before", power.burn, burns_move_it,
          ("TAKLONS",), taste=TURNED),
    Error("stone_mark", "A21", "the mark outlasts the turn", "after", turn._end_of_turn,
          mark_stays, ("TAKLONS",), taste=TURNED),
    Error("stone_twice", "A21", "twice a turn", "after", free.conversions, turned_again,
          ("TAKLONS",), taste=TURNED),
    Error("stone_away", "A21", "also where it is in the Gaia area", "after", free.conversions,
          turned_anywhere, ("TAKLONS",), taste=TURNED | {"explore": 30.0}),
    Error("stone_open", "A21", "it keeps a turn open", "after", free.keeps_turn_open,
          turned_keeps_open, ("TAKLONS",), taste={"free": 300.0, "free brainstone": 0.0}),
    # Income and power.
    Error("third_mine", "INC-01", "the third mine gives one ore more", "column",
          (None, "mine_income"), lambda t: t + (np.arange(9) == 3)),
    Error("income_order", "INC-02", "charges before tokens, without a choice", "after",
          income.is_open, charges_first),
    Error("charge_order", "LEE-01", "bowl II is charged before bowl I", "after", power.charge,
          bowl_ii_first),
    Error("brainstone", "ACT-06", "the brainstone is worth 2", "constant",
          (power, "BRAINSTONE_POWER"), 2, ("TAKLONS",)),
    Error("nevlas", "ACT-07", "Nevlas' tokens worth 1 with the PI", "column",
          ("NEVLAS", "pi_power_worth"), 1, ("NEVLAS",)),
    Error("itars_burn", "FRE-05", "the Itars' burned token is gone", "column",
          ("ITARS", "burn_to_gaia"), 0, ("ITARS",), "uniform"),
    Error("xenos_token", "XEN-01", "the Xenos' ore becomes a token in bowl I", "column",
          ("XENOS", "ore_token_bowl"), 1, ("XENOS",), "uniform"),
    Error("hadsch_hallas", "FRE-08", "credits buy without the Hadsch Hallas' PI", "column",
          (None, "free_needs_pi"), False, ("HADSCH_HALLAS",)),
    Error("gleens_qic", "GLE-01", "the Gleens keep QIC", "column",
          ("GLEENS", "qic_becomes_ore_until_academy_b"), 0, ("GLEENS",)),
    Error("credits_cap", "GEN-07", "at most 25 credits", "constant", (player, "LIMITS"),
          np.array([25, 15, 15, 127])),
    Error("power_price", "board", "7 credits for 3 power", "operation",
          ("power PA_7C", "cost_power"), 3),
    # Federations.
    Error("xenos_federation", "FED-10", "Xenos with PI need 7", "column",
          ("XENOS", "federation_requirement_pi"), 7, ("XENOS",), taste=INSTITUTE),
    Error("touching", "FED-05", "satellites may touch an own federation", "after",
          federation.position, beside_own_federation,
          taste={"mine": 5, "upgrade TS": 5, "advance": 0.2, "ship": 0.3, "explore": 0.1},
          seed=11028),
    Error("hive_satellites", "FED-15", "the Hive pays tokens for satellites", "column",
          ("HIVES", "satellite_qic"), 0, ("HIVES",)),
    Error("stations", "FED-15", "a station adds no power", "constant", (costs, "STATION_POWER"), 0,
          ("HIVES",)),
    Error("black_planets", "BES-01", "black planets add nothing with the Bescods' PI", "column",
          ("BESCODS", "black_planet_bonus_pi"), 0, ("BESCODS",), taste=INSTITUTE),
    Error("rings", "MOW-01", "a ring adds 1", "constant", (costs, "RING_POWER"), 1, ("MOWEYDS",)),
    Error("absorption", "FED-07", "nothing joins a federation that it touches", "after",
          federation._absorb, nothing_joins),
    Error("grey_token", "TEC-07", "the token of 12 VP is green", "table", "green", to(0, True)),
    # Ships and artifacts.
    Error("shuttle_charge", "EXP-02", "the second shuttle charges 3", "table", "shuttle_charge",
          to(1, 3)),
    Error("exploring", "EXP-01", "exploring costs 4 VP", "operation", ("explore ", "cost_vp"), 4),
    Error("asteroid_action", "MIN-13", "the mine on an asteroid for 5 credits", "operation",
          ("ship ECL_C", "cost_credits"), 5),
    Error("far_mine", "MIN-18", "Twilight's range is 2", "operation",
          ("ship TWI_K", "extra_range"), 2),
    # Rounds and factions.
    Error("turn_order", "ROU-02", "the turn order stays", "after", between_turns._new_round,
          order_stays),
    Error("specials", "ROU-07", "used specials stay used", "after", between_turns._new_round,
          specials_stay_used),
    Error("tinkering", "TIN-01", "the first tile belongs to rounds 4 to 6", "table",
          "tinkering_round", to(0, (4, 5, 6)), ("TINKEROIDS",)),
    Error("firaks", "FIR-01", "no step for the Firaks' downgrade", "operation",
          ("FIRAKS_DOWNGRADE", "step"), 0, ("FIRAKS",)),
    Error("geodens", "GEO-01", "2 knowledge for a new type", "column",
          ("GEODENS", "pi_new_type_knowledge"), 2, ("GEODENS",)),
    Error("lantids", "LAN-02", "1 knowledge for a guest mine", "column",
          ("LANTIDS", "pi_guest_knowledge"), 1, ("LANTIDS",)),
    Error("darkanians", "DAR-01", "nothing for a new sector", "column",
          ("DARKANIANS", "pi_new_main_sector"), 0, ("DARKANIANS",), taste=INSTITUTE),
    # Scoring.
    Error("round_tile", "RMS-05", "3 VP for a mine", "table", "round_events",
          lambda t: t.__setitem__((4, 3), 3), setup=_round_tile("RM-MINE-2VP")),
    Error("booster_vp", "PAS-01", "boosters give one VP less for each thing", "table",
          "booster_pass", one_less_each),
    Error("ties", "FIN-02", "who ties takes the better rank's VP", "after", scoring.prizes,
          prizes_not_shared),
    Error("end_vp", "RES-10", "3 VP for level 3", "table", "end_vp", to(3, 3)),
    Error("federation_mission", "FIN-09", "satellites count as buildings of federations", "after",
          scoring.final_values, satellites_are_federated,
          setup={"final_missions": ["FEDERATION_BUILDINGS", "PLANET_TYPES"]}),
    Error("satellite_mission", "A22", "stations count as satellites", "after",
          scoring.final_values, stations_count, ("HIVES",),
          setup={"final_missions": ["SATELLITES", "PLANET_TYPES"]}),
]  # fmt: skip


class PlantedEngine(Engine):
    """The engine with all errors in it; `numbers`: the error of each game."""

    def __init__(self, errors: list[Error], numbers: list[int]) -> None:
        super().__init__("lost_fleet", len(numbers))
        planted = Planted(self.env.ruleset, errors)
        error_numbers = jnp.asarray(numbers, jnp.int32)

        def start(number: Any, setup: Any) -> Any:
            with planted.on(number):
                return self.env.init_from(setup)

        def step(number: Any, state: Any, action: Any) -> Any:
            with planted.on(number):
                return self.env.step(state, action)

        starts, steps = jax.jit(jax.vmap(start)), jax.jit(jax.vmap(step))
        self._init = lambda setups: starts(error_numbers, setups)
        self._step = lambda state, actions: steps(error_numbers, state, actions)


def setup_for(error: Error | None, seed: int) -> dict[str, Any]:
    """A set-up in which the error can show: its factions, its tiles."""
    setup = drawing.draw(seed)
    if error is None:
        return setup
    setup["factions"] = table_of("lost_fleet", *error.factions, *setup["factions"])
    for key, value in error.setup.items():
        if key == "round_tiles":  # in the first round
            rest = [tile for tile in setup["round_tiles"] if tile != value]
            value = [value, *rest][:6]
        setup[key] = value
    return setup


def matches_of(error: Error | None, games: int, seed: int) -> list[Match]:
    """The games of one error."""
    out = []
    for game in range(games):
        policy = error.policy if error else list(POLICIES)[game % len(POLICIES)]
        setup = setup_for(error, seed + game)
        choose = Rare(error.taste) if error and error.taste else POLICIES[policy]()
        out.append(Match("lost_fleet", seed + game, policy, setup, choose))
    return out


Found = dict[str, Any]


def run(errors: list[Error], games: int = 6, seed: int = 7000) -> tuple[Found, list[Match]]:
    """Play. What showed each error first (None if nothing did), and the games without an error."""
    numbers, matches = [], []
    for number, error in [*enumerate(errors), (UNPLANTED, None)]:
        place_ = ERRORS.index(error) + 1 if error else 0
        first = error.seed if error and error.seed else seed + 100 * place_
        own_matches = matches_of(error, games, first)
        matches += own_matches
        numbers += [number] * len(own_matches)
    play(PlantedEngine(errors, numbers), matches)
    results: Found = {}
    for number, error in enumerate(errors):
        own = [m for m, n in zip(matches, numbers, strict=True) if n == number]
        results[error.name] = first_noticed(own)
    return results, [m for m, n in zip(matches, numbers, strict=True) if n == UNPLANTED]


class MisreadMatch(Match):
    """A game of the engine as it is against the referee with a misreading."""

    def __init__(self, misreading: Misreading, seed: int) -> None:
        self.misreading = misreading
        setup, choose = setup_misread(misreading, seed), misreading.policy(misreading.taste)
        with misreading.applied():
            super().__init__(misreading.ruleset, seed, misreading.name, setup, choose)

    def follow(self, engine: Engine, row: np.ndarray, mask: np.ndarray, rewards: Any) -> None:
        with self.misreading.applied():
            super().follow(engine, row, mask, rewards)


def run_misread(misreadings: list[Misreading], games: int = 6) -> Found:
    """What showed each misreading first, in the form of `run`."""
    results: Found = {}
    for name in sorted({misreading.ruleset for misreading in misreadings}):
        own = [misreading for misreading in misreadings if misreading.ruleset == name]
        matches = {m.name: [MisreadMatch(m, m.seed + i) for i in range(games)] for m in own}
        play(Engine(name, games * len(own)), [m for group in matches.values() for m in group])
        results.update((key, first_noticed(group)) for key, group in matches.items())
    return results


def first_noticed(matches: list[Match] | list[MisreadMatch]) -> tuple[int, Match, str] | None:
    """How many games differed, and the earliest difference; None where none did."""
    noticed = [match for match in matches if match.differences]
    if not noticed:
        return None
    first = min(noticed, key=lambda match: len(match.actions))
    return len(noticed), first, last_line(first)


def last_line(match: Match) -> str:
    """The first difference; of an exception its last line."""
    return match.differences[0].strip().splitlines()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", choices=[e.name for e in (*ERRORS, *MISREADINGS)]
    )
    parser.add_argument("--games", type=int, default=6, help="of each error")
    parser.add_argument("--seed", type=int, default=7000)
    parser.add_argument("--markdown", action="store_true", help="print a table of all errors")
    args = parser.parse_args()
    start = time.time()
    errors = [e for e in ERRORS if not args.only or e.name in args.only]
    misreadings = [m for m in MISREADINGS if not args.only or m.name in args.only]
    results, unplanted = run(errors, args.games, args.seed) if errors else ({}, [])
    results |= run_misread(misreadings, args.games)
    planted: list[Error | Misreading] = [*errors, *misreadings]
    for error in planted:
        if results[error.name]:
            games, match, line = results[error.name]
            outcome = (
                f"{games} of {args.games} games, first after {len(match.actions)} decisions "
                f"(seed {match.seed}): {line}"
            )
        else:
            outcome = "NOT NOTICED"
        if args.markdown:
            seen = f"{games} | {len(match.actions)} | `{line}`" if results[error.name] else "0 | |"
            print(f"| {error.name} | {error.ruling} | {error.wrong} | {seen} |")
        else:
            print(f"{error.name} ({error.ruling}, {error.wrong}): {outcome}")
    wrong = [m for m in unplanted if m.differences]
    missed = [name for name, first in results.items() if not first]
    print(f"{len(results) - len(missed)} of {len(results)} errors noticed, "
          f"{len(wrong)} of {len(unplanted)} games without error differ, "
          f"{time.time() - start:.0f} s")  # fmt: skip
    for match in wrong:
        print(match.seed, match.policy, match.differences[:5])
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
