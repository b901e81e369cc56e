"""Rules of the printed Lost Fleet for one, two and three, misread in the referee.

As in `automa_misreadings`, the misread referee follows a game of the referee as it is.
"""

from __future__ import annotations

from typing import Any
from unittest import mock

from tests.referee import automa, automa_actions, fleet, scoring, solo, tech
from tests.referee import setup as drawing
from tests.referee.automa_cards import facts
from tests.referee.automa_misreadings import Misreading
from tests.referee.game import Game
from tests.referee.player import Player
from tests.referee.rules import Rules, ruleset

AC = automa_actions
SOLO = solo.rules_for_both(solo.FLEET)
TWO, THREE = ruleset(solo.FLEET, 2), ruleset(solo.FLEET, 3)


class TableMisreading(Misreading):
    """One rule of two or three players misread; `games` is what `setup.draw` is given."""

    @property
    def ruleset(self) -> str:
        return solo.FLEET

    def draw(self, seed: int) -> dict[str, Any]:
        return drawing.draw(seed, solo.FLEET, **self.games) | self.changes


sites, build_mine, choose_site = AC.sites, AC.build_mine, AC.choose_site
for_final_tile, for_distance, options = AC.for_final_tile, AC.for_distance, AC.action_options
cover, explore, artifact_options = AC.cover_action_space, fleet.explore, fleet.artifact_options
homeless_colours, final_count = drawing.homeless_colours, scoring.final_count


# -- functions of the referee, misread


def without_the_automa(rules: Rules, setup: dict[str, Any]) -> dict[str, set[str]]:
    """AUT-40, INI-09: all three colours are drawn, as if the human played alone."""
    alone = {"factions": setup["factions"][:1], "turn_order": [0]}
    return homeless_colours(rules, setup | alone)


def without(kind: str) -> Any:
    """AUT-41: one type of planet is never valid."""

    def fewer_sites(game: Game, player: automa.Automa, reach: int) -> list[int]:
        return [c for c in sites(game, player, reach) if game.board.planet[c] != kind]

    return fewer_sites


def vp_of_a_protoplanet(game: Game, player: automa.Automa, *rest: Any) -> None:
    """OPEN-14: 6 VP for a mine on a protoplanet."""
    before = set(player.structures)
    build_mine(game, player, *rest)
    if any(game.board.planet[c] == "Proto" for c in player.structures.keys() - before):
        player.score("FACTION", game.rules.proto_vp)


def targets_alone(game: Game, cells: list[int], targets: list[int]) -> list[int]:
    """AUT-41: a tile wants its planets alone, not what is close to them."""
    return [cell for cell in cells if cell in targets] or cells


def any_new_sector(game: Game, player: automa.Automa, kind: str) -> list[int]:
    """AUT-41: deep sectors and interspace are sectors too."""
    board, sector = game.board, game.board.geometry.sector
    own = {sector[cell] for cell in player.structures}
    return [c for c in board.planets if sector[c] not in own and board.owner[c] is None]


def nothing_on_the_left(game: Game, player: automa.Automa, support: Any) -> None:
    """AUT-42: the chosen space alone is covered."""
    before, free = set(game.used), options(game, player)
    cover(game, player, support)
    if free:
        game.used.intersection_update({*before, AC.numbered(free, support)})


def all_on_the_left(game: Game, player: automa.Automa, support: Any) -> None:
    """AUT-42: every space left of the chosen one is covered."""
    before = set(game.used)
    cover(game, player, support)
    for spaces in facts()["ship_tiles"].values():
        if spaces[2] in game.used - before:
            game.used.add(spaces[0])


def tiles_of_both(game: Game, player: automa.Automa) -> list[str]:
    """AUT-42: a ship that the human explored shows its action side too."""
    with mock.patch.object(player, "shuttles", player.shuttles | game.players[0].shuttles):
        return options(game, player)


def explores_and_covers(game: Game, player: automa.Automa, support: Any) -> None:
    """AUT-42: a ship that was explored has its QIC space covered."""
    before = set(player.shuttles)
    cover(game, player, support)
    game.used.update(facts()["ship_tiles"][ship][0] for ship in player.shuttles - before)


def shuttle_on_the_first_space(game: Game, player: Player, ship: str, *rest: Any) -> None:
    """AUT-42: the Automa's shuttle takes no space."""
    (opponent,) = (other for other in game.players if other.is_automa)
    with mock.patch.object(opponent, "shuttles", set()):
        explore(game, player, ship, *rest)


def closest_to_the_institute(game: Game, player: automa.Automa, line: Any, cells: Any) -> Any:
    """AUT-43: the structure nearest to the PI."""
    farthest = for_distance(game, player, line, cells)
    return [cell for cell in cells if cell not in farthest] or cells


def institute_alone(game: Game, player: automa.Automa, line: Any, cells: Any) -> Any:
    """AUT-43: an academy does not matter for a mine."""
    with mock.patch.object(player, "count", return_value=0):
        return for_distance(game, player, line, cells)


def nearest_academy(player: Player, mission: str) -> int:
    """AUT-44: the distance to the academy that is nearest."""
    if mission != "PI_AC_DISTANCE" or not player.is_automa:
        return final_count(player, mission)
    built, rows = player.structures.items(), player.board.geometry.distance
    institutes = [c for c, kind in built if kind == "PI"]
    academies = [c for c, kind in built if kind.startswith("AC")]
    return min((rows[a][b] for a in institutes for b in academies), default=0)


def three_ships(game: Game, player: Player) -> bool:
    """PLA-09: condition B of the extra tile."""
    return len(player.shuttles) >= game.rules.extra_condition_ships


def one_artifact(game: Game, player: Player) -> Any:
    """PLA-11: the Twilight has one artifact."""
    return [option for option in artifact_options(game, player) if option[0] == "artifact 1"]


# -- the list

FLEET = {"name": solo.FLEET}


def _final(*missions: str) -> dict[str, Any]:
    return {"final_missions": list(missions)}


def _human(faction: str) -> dict[str, Any]:
    return FLEET | {"human": faction}


LANTIDS = {"mine": 20.0, "upgrade": 10.0, "piece PI": 1000.0, "pass": 0.1, "booster": 0.1}
MISREADINGS = [
    Misreading("shuttles", "AUT-40", "gives the human three shuttles",
               (SOLO.factions["TERRANS"], "shuttles"), 3, _human("TERRANS"),
               taste={"explore": 1000.0}, seed=2),
    Misreading("lantids", "AUT-40", "brings the Lantids nothing on Blue",
               (SOLO.lantids_pi, "home"), {}, _human("LANTIDS"), taste=LANTIDS, seed=2),
    Misreading("colours", "AUT-40", "leaves the Automa's colour out",
               (drawing, "homeless_colours"), without_the_automa, _human("TINKEROIDS")),
    Misreading("asteroids", "AUT-41", "builds on no asteroid", (AC, "sites"),
               without("Asteroid"), FLEET),
    Misreading("protoplanets", "AUT-41", "builds on no protoplanet", (AC, "sites"),
               without("Proto"), FLEET, seed=5),
    Misreading("asteroid_steps", "AUT-41", "counts one step to an asteroid",
               (facts()["steps_to"], "Asteroid"), 1, FLEET),
    Misreading("proto_steps", "AUT-41", "counts two steps to a protoplanet",
               (facts()["steps_to"], "Proto"), 2, FLEET, seed=2),
    Misreading("proto_vp", "AUT-41", "scores a protoplanet", (AC, "build_mine"),
               vp_of_a_protoplanet, FLEET, seed=5),
    Misreading("asteroid_tile", "AUT-41", "looks at asteroids alone", (AC, "closest_to"),
               targets_alone, FLEET | {"faction": "TERRANS"}),
    Misreading("deep_tile", "AUT-41", "looks at planets of new deep sectors alone",
               (AC, "closest_to"), targets_alone, FLEET,
               changes=_final("DEEP_SECTORS", "BUILDINGS")),
    Misreading("sector_tile", "AUT-41", "takes all hexes for sectors",
               (AC, "planets_in_new_sectors"), any_new_sector, FLEET,
               changes=_final("MAIN_SECTORS", "BUILDINGS")),
    Misreading("left_space", "AUT-42", "covers the chosen space alone",
               (AC, "cover_action_space"), nothing_on_the_left, FLEET),
    Misreading("left_spaces", "AUT-42", "covers all on the left", (AC, "cover_action_space"),
               all_on_the_left, FLEET),
    Misreading("ship_order", "AUT-42", "orders the ships otherwise", (facts(), "ship_tiles"),
               dict(reversed(facts()["ship_tiles"].items())), FLEET),
    Misreading("tiles_of_both", "AUT-42", "turns a tile for the human", (AC, "action_options"),
               tiles_of_both, FLEET, taste={"explore": 1000.0}),
    Misreading("explored_space", "AUT-42", "covers a space when it explores",
               (AC, "cover_action_space"), explores_and_covers, FLEET),
    Misreading("shuttle_space", "AUT-42", "leaves the first space to the human",
               (fleet, "explore"), shuttle_on_the_first_space, FLEET, taste={"explore": 1000.0}),
    Misreading("no_distance", "AUT-43", "ignores the distance of the PI", (AC, "for_distance"),
               lambda game, player, line, cells: cells, FLEET,
               changes=_final("PI_AC_DISTANCE", "BUILDINGS")),
    Misreading("near_institute", "AUT-43", "upgrades near the PI", (AC, "for_distance"),
               closest_to_the_institute, FLEET, changes=_final("BUILDINGS", "PI_AC_DISTANCE")),
    Misreading("academy", "AUT-43", "looks past an academy", (AC, "for_distance"),
               institute_alone, FLEET | {"level": "ultoma", "faction": "HADSCH_HALLAS"},
               changes=_final("PI_AC_DISTANCE", "BUILDINGS")),
    Misreading("types", "AUT-44", "counts 5 types for the neutral player",
               (SOLO.neutral_counts, "PLANET_TYPES"), 5, FLEET,
               changes=_final("PLANET_TYPES", "BUILDINGS")),
    Misreading("lab_tile", "AUT-44", "gives 6 VP for labs",
               (facts()["round_tile_vp"], "RM-LAB-4VP"), [4, 6], FLEET, seed=5),
    Misreading("near_academy", "AUT-44", "measures to the nearest academy",
               (scoring, "final_count"), nearest_academy, FLEET | {"level": "ultoma"},
               changes=_final("PI_AC_DISTANCE", "BUILDINGS"), seed=5),
    Misreading("start_vp", "AUT-45", "starts with 10 VP",
               (facts()["levels"]["ultoma"], "start_vp_fleet"), 10, FLEET | {"level": "ultoma"}),
    TableMisreading("sides_of_four", "PLA-08", "plays on the other side of sector 5",
                    (THREE.map["sector_tiles"], "M05B"),
                    ruleset(solo.FLEET).map["sector_tiles"]["M05"], {"players": 3}),
    TableMisreading("deep_tiles", "PLA-10", "lays all deep tiles alike",
                    (TWO.map, "deep_orientation"), ["A"] * 6, {"players": 2}),
    TableMisreading("extra_tile", "PLA-09", "asks for three ships", (tech, "extra_condition"),
                    three_ships, {"players": 2}, seed=8),
    TableMisreading("one_artifact", "PLA-11", "has one artifact for two",
                    (fleet, "artifact_options"), one_artifact, {"players": 2}),
    TableMisreading("three_shuttles", "PLA-12", "gives two players three shuttles",
                    (TWO.factions["TERRANS"], "shuttles"), 3,
                    {"players": 2, "factions": ["TERRANS", "ITARS"]}, taste={"explore": 1000.0}),
    TableMisreading("moweyds", "PLA-12", "does not count the Moweyds' first shuttle",
                    (TWO.factions["MOWEYDS"], "shuttles"), 2,
                    {"players": 2, "factions": ["MOWEYDS", "ITARS"]}, taste={"explore": 1000.0}),
    TableMisreading("home_on_blue", "PLA-13", "brings the Lantids nothing on Blue",
                    (TWO.lantids_pi, "home"), {},
                    {"players": 2, "factions": ["LANTIDS", "ITARS"]}, taste=LANTIDS),
    TableMisreading("guest_of_three", "PLA-13", "charges nothing for a guest mine of three",
                    (THREE.lantids_pi, "guest"), {"knowledge": 2},
                    {"players": 3, "factions": ["LANTIDS", "ITARS", "XENOS"]}, taste=LANTIDS),
    TableMisreading("no_neutral", "PLA-14", "has no neutral player", (TWO, "neutral_counts"), {},
                    {"players": 2}),
    TableMisreading("neutral_types", "PLA-14", "counts 5 types for the neutral player",
                    (TWO.neutral_counts, "PLANET_TYPES"), 5, {"players": 2},
                    changes=_final("PLANET_TYPES", "BUILDINGS"), taste={"mine": 5.0}),
]  # fmt: skip
