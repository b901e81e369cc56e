"""What the Automa does: its selections, its six kinds of action (AUT-16 to AUT-27).

The Lost Fleet adds planets to its mines and ships to its action spaces (AUT-41 to AUT-43).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.referee import leech, research
from tests.referee.automa_cards import Card, facts
from tests.referee.board import Cell

if TYPE_CHECKING:
    from tests.referee.automa import Automa
    from tests.referee.game import Game

# -- selecting


def reading_order(game: Game) -> list[Cell]:
    """All hexes row by row from the top, each row from left to right (AUT-16).

    The map's second axis points up, so a row has one r, and the top row the greatest.
    """
    cells = game.board.geometry.cells
    return sorted(range(len(cells)), key=lambda cell: (-cells[cell][1], cells[cell][0]))


def first_in_direction(game: Game, cells: list[Cell], direction: str) -> Cell:
    """The first of some hexes in reading order, or in its reverse (AUT-16)."""
    order = reading_order(game)
    if direction == "reverse":
        order.reverse()
    return next(cell for cell in order if cell in cells)


def numbered(options: list[str], support: Card) -> str:
    """Count through the options, from left to right or back, and begin again (AUT-17)."""
    in_order = options if support["from"] == "leftmost" else options[::-1]
    return in_order[(support["number"] - 1) % len(in_order)]


def best(cells: list[Cell], value: Callable[[Cell], int]) -> list[Cell]:
    """The cells with the least value."""
    least = min(value(cell) for cell in cells)
    return [cell for cell in cells if value(cell) == least]


def distance_to_human(game: Game, cell: Cell) -> int:
    """To the nearest planet with a human structure, guests and Lost Planet too (AUT-18)."""
    (human,) = game.humans()
    return min(game.board.geometry.distance[cell][other] for other in human.structures)


# -- build a mine


def sites(game: Game, automa: Automa, reach: int) -> list[Cell]:
    """Empty planets in range of the Automa's, Transdim too (AUT-19); none with a gaiaformer."""
    board = game.board
    return [
        cell
        for cell in board.planets
        if board.owner[cell] is None
        and board.gaiaformer[cell] is None
        and any(board.geometry.distance[cell][own] <= reach for own in automa.structures)
    ]


def planet_type(game: Game, cell: Cell) -> str:
    """A Transdim planet counts as Gaia (AUT-20)."""
    planet = game.board.planet[cell]
    return "Gaia" if planet == "Transdim" else planet


def preferred(game: Game, cells: list[Cell], prefer: str | None) -> list[Cell]:
    """3a: what the faction card asks for, in a faction action alone (AUT-20, AUT-26)."""
    if prefer == "closest_to_human":
        return best(cells, lambda cell: distance_to_human(game, cell))
    if prefer == "transdim":
        return [cell for cell in cells if game.board.planet[cell] == "Transdim"] or cells
    return cells


def for_final_tile(game: Game, automa: Automa, cells: list[Cell], support: Card) -> list[Cell]:
    """3b: what serves the final tile that the support card shows (AUT-20, AUT-41)."""
    if support["final_tile"] is None:
        return cells
    mission = game.setup["final_missions"][support["final_tile"] == "lower"]
    if mission == "ASTEROID_BUILDINGS":
        return closest_to(game, cells, free_asteroids(game))
    if mission == "DEEP_SECTORS":
        return closest_to(game, cells, planets_in_new_sectors(game, automa, "deep"))
    if mission == "MAIN_SECTORS":
        new = planets_in_new_sectors(game, automa, "main")
        fitting = [cell for cell in cells if cell in new]
    elif mission == "PLANET_TYPES":
        types = {planet_type(game, cell) for cell in automa.structures}
        fitting = [cell for cell in cells if planet_type(game, cell) not in types]
    elif mission == "GAIA_BUILDINGS":
        fitting = [cell for cell in cells if planet_type(game, cell) == "Gaia"]
    else:
        return cells
    return fitting or cells


def free_asteroids(game: Game) -> list[Cell]:
    """Asteroids without a structure (AUT-41)."""
    board = game.board
    return [c for c in board.planets if board.planet[c] == "Asteroid" and board.owner[c] is None]


def planets_in_new_sectors(game: Game, automa: Automa, kind: str) -> list[Cell]:
    """Planets without a structure in main or deep sectors that the Automa is not in.

    Interspace belongs to no sector (AUT-41).
    """
    board, sector = game.board, game.board.geometry.sector
    own = {sector[cell] for cell in automa.structures}
    new = {place for place in sector if place is not None and place[0] == kind} - own
    return [c for c in board.planets if sector[c] in new and board.owner[c] is None]


def closest_to(game: Game, cells: list[Cell], targets: list[Cell]) -> list[Cell]:
    """The cells nearest to any target; all of them if there is none (AUT-41)."""
    if not targets:
        return cells
    rows = game.board.geometry.distance
    return best(cells, lambda cell: min(rows[cell][target] for target in targets))


def choose_site(
    game: Game, automa: Automa, support: Card, reach: int, prefer: str | None
) -> Cell | None:
    """The planet for a mine: five tie-breakers, one after the other (AUT-20)."""
    cells = sites(game, automa, reach)
    if not cells or not automa.supply("MINE"):
        return None
    cells = preferred(game, cells, prefer)
    cells = for_final_tile(game, automa, cells, support)
    cells = best(cells, lambda cell: automa.steps_to[game.board.planet[cell]])
    cells = best(cells, lambda cell: distance_to_human(game, cell))
    return first_in_direction(game, cells, support["direction"])


def build_mine(
    game: Game, automa: Automa, support: Card, reach: int, prefer: str | None = None
) -> None:
    """Place a mine; without a mine or a planet upgrade instead (AUT-19 to AUT-22)."""
    cell = choose_site(game, automa, support, reach, prefer)
    if cell is None:
        upgrade(game, automa, support)
        return
    board = game.board
    new_type = planet_type(game, cell) not in {planet_type(game, c) for c in automa.structures}
    if automa.structures.keys().isdisjoint(board.geometry.neighbours[cell]):
        automa.satellites_counted += 1  # AUT-21
    board.planet[cell] = planet_type(game, cell)
    board.owner[cell] = automa.number
    automa.structures[cell] = "MINE"
    automa.add_range_source(cell)
    leech.announce(game, cell)
    if new_type:
        automa.score("FACTION", automa.card.get("new_type_vp", 0))  # Geodens


# -- upgrade


def possible_upgrade(
    automa: Automa, first: tuple[str, str] | None = None
) -> tuple[str, str] | None:
    """The first line whose structure is on the map and whose piece is in supply (AUT-23)."""
    lines = [tuple(line) for line in facts()["upgrades"]]
    for old, new in [first, *lines] if first else lines:
        if old in automa.structures.values() and automa.supply(new):
            return old, new
    return None


def for_distance(
    game: Game, automa: Automa, line: tuple[str, str], cells: list[Cell]
) -> list[Cell]:
    """What serves the distance between PI and academies, if a final tile scores it (AUT-43)."""
    if "PI_AC_DISTANCE" not in game.setup["final_missions"]:
        return cells
    institute = [cell for cell, kind in automa.structures.items() if kind == "PI"]
    early = line == ("MINE", "TS") and not automa.count("AC_A", "AC_B")
    if not institute or (not early and line != ("TS", "RL")):
        return cells
    row = game.board.geometry.distance[institute[0]]
    return best(cells, lambda cell: -row[cell])


def upgrade(
    game: Game, automa: Automa, support: Card, first: tuple[str, str] | None = None
) -> bool:
    """Upgrade the structure closest to the human's planets; whether one was possible (AUT-23)."""
    line = possible_upgrade(automa, first)
    if line is None:
        return False
    old, new = line
    cells = [cell for cell, kind in automa.structures.items() if kind == old]
    cells = for_distance(game, automa, line, cells)
    cells = best(cells, lambda cell: distance_to_human(game, cell))
    cell = first_in_direction(game, cells, support["direction"])
    if new == "AC":
        automa.structures[cell] = "AC_A" if automa.supply("AC_A") else "AC_B"
    else:
        automa.structures[cell] = new
    leech.announce(game, cell)
    automa.score("FACTION", automa.card.get("upgrade_vp", {}).get(new, 0))  # Hadsch Hallas
    if new == automa.card.get("research_after"):
        research_random(game, automa, support)  # Firaks
    return True


# -- research


def is_valid_track(game: Game, automa: Automa, track: str) -> bool:
    """It can advance, or it is on 4 and its advanced tile is left (AUT-24, OPEN-03)."""
    level = automa.tracks[track]
    if level < research.TOP - 1:
        return True
    free = all(player.tracks[track] < research.TOP for player in game.players)
    return level == research.TOP - 1 and (track in game.advanced or free)


def advance(game: Game, automa: Automa, track: str) -> None:
    """On 4 the advanced tile leaves the game; else one level up, without its gains (AUT-24)."""
    if automa.tracks[track] == research.TOP - 1 and track in game.advanced:
        del game.advanced[track]
    else:
        automa.tracks[track] += 1


def valid_tracks(game: Game, automa: Automa) -> list[str]:
    """From left to right."""
    return [track for track in game.rules.tracks if is_valid_track(game, automa, track)]


def research_random(game: Game, automa: Automa, support: Card) -> None:
    tracks = valid_tracks(game, automa)
    if tracks:
        advance(game, automa, numbered(tracks, support))


def research_highest(game: Game, automa: Automa, support: Card) -> None:
    """Among the valid tracks those of the highest level."""
    tracks = valid_tracks(game, automa)
    if tracks:
        top = max(automa.tracks[track] for track in tracks)
        tracks = [track for track in tracks if automa.tracks[track] == top]
        advance(game, automa, numbered(tracks, support))


def research_track(game: Game, automa: Automa, track: str) -> None:
    """One track alone; nothing if it is blocked (AUT-26, OPEN-07)."""
    if is_valid_track(game, automa, track):
        advance(game, automa, track)


# -- power and Q.I.C. actions


def action_options(game: Game, automa: Automa) -> list[str]:
    """Uncovered spaces, and ships that are not explored, from left to right (AUT-25, AUT-42)."""
    printed = game.rules.power_actions.keys() | game.rules.qic_actions.keys()
    options = [space for space in facts()["action_spaces"] if space in printed]
    for ship, spaces in facts()["ship_tiles"].items():
        if ship in automa.shuttles:
            options += spaces
        elif ship in game.rules.ships:
            options.append(ship)
    return [option for option in options if option not in game.used]


def cover_action_space(game: Game, automa: Automa, support: Card) -> None:
    """Cover one space until the round ends, or explore a ship (AUT-25, AUT-42).

    It brings nothing. On a ship the space directly left of the chosen one is covered as well.
    """
    options = action_options(game, automa)
    if not options:
        return
    chosen = numbered(options, support)
    if chosen in facts()["ship_tiles"]:
        automa.shuttles.add(chosen)
        return
    game.used.add(chosen)
    for spaces in facts()["ship_tiles"].values():
        if chosen in spaces:
            place = spaces.index(chosen)
            game.used.update(spaces[max(0, place - 1) : place])


# -- cards


def card_action(game: Game, automa: Automa, action: str, support: Card) -> None:
    """The action of a decision card; the Xenos' power cards count twice (AUT-27)."""
    if action == "build_mine":
        build_mine(game, automa, support, support["range"])
    elif action == "upgrade":
        upgrade(game, automa, support)
    elif action == "research_highest":
        research_highest(game, automa, support)
    elif action == "research_random":
        research_random(game, automa, support)
    elif action == "power_qic":
        for _ in range(automa.card.get("power_card_times", 1)):
            cover_action_space(game, automa, support)
    else:
        raise ValueError(f"no action {action!r}")


def faction_action(game: Game, automa: Automa, support: Card) -> None:
    """The parts of the faction card in order; what cannot be done is skipped (AUT-26)."""
    for part in automa.card["action"]:
        if part["do"] == "build_mine":
            build_mine(game, automa, support, part["range"], part.get("prefer"))
        elif part["do"] == "research":
            research_track(game, automa, part["track"])
        elif part["do"] == "research_random":
            research_random(game, automa, support)
        elif part["do"] == "power_qic":
            cover_action_space(game, automa, support)
        else:
            first = part.get("first")
            done = upgrade(game, automa, support, tuple(first) if first else None)
            other = part.get("otherwise")
            if not done and other:
                build_mine(game, automa, support, other["range"])
