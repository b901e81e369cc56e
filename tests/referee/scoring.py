"""What counts for VP: round tiles and other triggers, their counts, the final scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.referee.board import Cell

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player

# -- counts


def planet_types(player: Player) -> set[str]:
    """Types of planets with an own structure, without guest mines, with artifact types (GEN-09)."""
    planet, guests = player.board.planet, player.guests
    return {planet[c] for c in player.structures if c not in guests} | set(player.virtual_mines)


def sectors(player: Player, kind: str) -> set[int]:
    """Main or deep sectors with an own structure, guest mines and Lost Planet included (ADV-07)."""
    sector = player.board.geometry.sector
    return {s[1] for c in player.structures if (s := sector[c]) is not None and s[0] == kind}


def mines(player: Player) -> int:
    """Mines on the map, guests and Lost Planet included, and artifact mines (ADV-02)."""
    return player.count("MINE") + len(player.virtual_mines)


def gaia_structures(player: Player) -> int:
    """Structures on Gaia planets, without guest mines (ADV-04)."""
    planet, guests = player.board.planet, player.guests
    return sum(planet[c] == "Gaia" for c in player.structures if c not in guests)


def on_planets(player: Player, *types: str) -> int:
    """Structures on planets of these types, guests and artifact mines too (FIN-08, ADV-04)."""
    planet = player.board.planet
    built = sum(planet[c] in types for c in player.structures)
    return built + sum(kind in types for kind in player.virtual_mines)


def federation_tokens(player: Player) -> int:
    """Tokens obtained, green or grey, of any kind (ADV-05)."""
    return sum(player.tokens.values())


# -- triggers


class News(NamedTuple):
    """What is new about a mine, determined before it is built (GEN-15)."""

    planet: str
    guest: bool
    new_type: bool
    new_sector: bool
    new_main_sector: bool


def news_of_mine(game: Game, player: Player, cell: Cell, guest: bool = False) -> News:
    planet = game.board.planet[cell]
    sector = game.board.geometry.sector[cell]
    new_type = not guest and planet not in planet_types(player)
    new_sector = sector is not None and sector[1] not in sectors(player, sector[0])
    new_main = new_sector and sector is not None and sector[0] == "main"
    return News(planet, guest, new_type, new_sector, new_main)


def news_of_artifact_mine(player: Player, planet: str) -> News:
    """An artifact mine is in no sector (ART-03)."""
    return News(planet, False, planet not in planet_types(player), False, False)


def round_tile(game: Game, player: Player, kind: str, times: int = 1) -> None:
    """Score the round tile if it is of this kind: its id begins so."""
    tile = game.round_tile()
    if tile is not None and tile.startswith(kind):
        player.score("ROUND_TILE", times * game.rules.round_tiles[tile])


def mine_built(
    game: Game, player: Player, news: News, steps: int = 0, artifact: bool = False
) -> None:
    """Round tile, tiles and faction powers that look at a new mine (RMS-02 to RMS-06)."""
    on_gaia = news.planet == "Gaia" and not news.guest
    round_tile(game, player, "RM-MINE")
    if news.new_type:
        round_tile(game, player, "RM-DIV")
    if steps:
        round_tile(game, player, "RM-TF", steps)
    if on_gaia:
        round_tile(game, player, "RM-GAIA")
    if news.new_sector:
        round_tile(game, player, "RM-SECTOR")

    if on_gaia and player.uncovered("BT6_GAIA_3VP"):
        player.score("BASIC_TILE", 3)
    if "TF-2VP" in player.advanced:
        player.score("ADVANCED_TILE", 2 * steps)
    if "MINE-3VP-BUILD" in player.advanced:
        player.score("ADVANCED_TILE", 3)
    if news.planet == "Proto" and not news.guest and not artifact:
        player.score("PROTO", game.rules.proto_vp)

    if on_gaia and player.is_("GLEENS"):
        player.score("FACTION", 2)
    if news.new_type and player.has_pi("GEODENS"):
        player.gain({"knowledge": 3})
    if player.has_pi("DARKANIANS") and (
        news.new_sector if game.rules.switches.darkanians_deep_sectors else news.new_main_sector
    ):
        player.gain({"knowledge": 1, "credits": 2})
    if player.has_pi("LANTIDS"):  # PLA-13; a guest on a Blue planet is a guest, once
        if news.guest:
            player.gain(game.rules.lantids_pi["guest"])
        elif news.planet == player.printed["home"]:
            player.gain(game.rules.lantids_pi["home"])


def piece_placed(game: Game, player: Player, piece: str) -> None:
    """An upgrade, or the Firaks' downgrade (RMS-08, RMS-10, ADV-08)."""
    if piece == "TS":
        round_tile(game, player, "RM-TS")
        if "TRADE-3VP-UPG" in player.advanced:
            player.score("ADVANCED_TILE", 3)
    elif piece == "RL":
        round_tile(game, player, "RM-LAB")
    else:
        round_tile(game, player, "RM-PI-ACAD")


def level_gained(game: Game, player: Player) -> None:
    """A research step (RMS-09)."""
    round_tile(game, player, "RM-RS")
    if "RS-2VP" in player.advanced:
        player.score("ADVANCED_TILE", 2)


# -- the end of the game


def final_count(player: Player, mission: str) -> int:
    """What a final mission counts (FIN-04 to FIN-10)."""
    if mission == "BUILDINGS":
        return len(player.structures) + len(player.virtual_mines)
    if mission == "DEEP_SECTORS":
        return len(sectors(player, "deep"))
    if mission == "PLANET_TYPES":
        return len(planet_types(player))
    if mission == "PI_AC_DISTANCE":
        rows = player.board.geometry.distance
        built = player.structures.items()
        institutes = [c for c, kind in built if kind == "PI"]
        academies = [c for c, kind in built if kind in ("AC_A", "AC_B")]
        return max((rows[a][b] for a in institutes for b in academies), default=0)
    if mission == "SATELLITES":
        stations = player.rules.switches.stations_are_satellites
        laid = len(player.satellites) + player.satellites_counted
        return laid + (len(player.stations) if stations else 0)
    if mission == "ASTEROID_PROTO_BUILDINGS":
        return on_planets(player, "Asteroid", "Proto")
    if mission == "ASTEROID_BUILDINGS":
        return on_planets(player, "Asteroid")
    if mission == "MAIN_SECTORS":
        return len(sectors(player, "main"))
    if mission == "GAIA_BUILDINGS":
        return gaia_structures(player)
    if mission == "FEDERATION_BUILDINGS" and player.is_automa:
        return len(player.structures) - 1  # AUT-33
    if mission == "FEDERATION_BUILDINGS":
        return sum(c in player.federated for c in player.structures)
    raise ValueError(f"no final mission {mission!r}")


def mission_vp(counts: list[int], prizes: list[int], zero_scores: bool) -> list[int]:
    """Prizes by rank; players who tie share the prizes of the ranks they fill (FIN-02, FIN-03)."""
    vp = []
    for count in counts:
        ahead = sum(other > count for other in counts)
        level = counts.count(count)
        share = sum(prizes[ahead : ahead + level]) // level
        vp.append(share if count or zero_scores else 0)
    return vp


def final_scoring(game: Game) -> None:
    """Final missions, research, resources (FIN-01, RES-10, FIN-11)."""
    rules = game.rules
    for source, mission in zip(("FINAL_1", "FINAL_2"), game.setup["final_missions"], strict=True):
        counts = [final_count(player, mission) for player in game.players]
        if rules.neutral_counts:  # one competitor more, who scores nothing himself
            counts.append(rules.neutral_counts[mission])
        shares = mission_vp(counts, rules.final_prizes, rules.switches.zero_scores)
        for player, vp in zip(game.players, shares[: len(game.players)], strict=True):
            player.score(source, vp)
    for player in game.players:
        high = sum(max(0, level - 2) for level in player.tracks.values())
        player.score("RESEARCH_END", rules.vp_per_high_level * high)
        player.score("RESOURCES", (player.credits + player.ore + player.knowledge) // 3)
