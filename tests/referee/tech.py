"""Tech tiles: what may be taken, what it does, the research step that comes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import mine, research, scoring
from tests.referee.decision import Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def choices(game: Game, player: Player) -> dict[str, tuple[Any, ...]]:
    """Every tile that the player may take (TEC-02)."""
    menu: dict[str, tuple[Any, ...]] = {}
    for slot, tile in game.setup["basic_tiles"].items():
        if tile not in player.tiles:
            track = slot if slot in player.tracks else None
            menu[f"tile {tile}"] = (take, tile, track)
    for ship, tile in game.setup.get("ship_tiles", {}).items():
        if ship in player.shuttles and tile not in player.tiles:
            menu[f"tile {tile}"] = (take, tile, None)
    if player.green and any(not covered for covered in player.tiles.values()):
        for slot, tile in game.advanced.items():
            if extra_condition(game, player) if slot == "extra" else player.tracks[slot] >= 4:
                menu[f"advanced {slot}"] = (take_advanced, slot, tile)
    return menu


def extra_condition(game: Game, player: Player) -> bool:
    """The condition of the seventh advanced tile, at the moment of choosing (TEC-14)."""
    if game.setup["extra_condition"] == "A":
        return player.vp >= game.rules.extra_condition_vp
    return len(player.shuttles) >= game.rules.extra_condition_ships


def choose(game: Game, player: Player) -> Script:
    """A tile must be taken if one can be (TEC-04)."""
    menu = choices(game, player)
    if menu:
        effect = yield from ask(player.number, "TILE", menu)
        yield from do(effect, game, player)


def take(game: Game, player: Player, tile: str, track: str | None) -> Script:
    """A basic or ship tile: own it, its instant effect, then the step (TEC-08, TEC-10)."""
    player.tiles[tile] = False
    player.gain(game.rules.tile_gain.get(tile, {}), "BASIC_TILE")
    if tile == "BT7_TYPES_K":
        player.gain({"knowledge": len(scoring.planet_types(player))})
    elif tile == "LF-TF2-FREE-MINE":
        yield from mine.free_mine(game, player, mine.TERMS[tile])
    if track is None:
        yield from step_anywhere(game, player, game.rules.switches.free_step_optional)
    elif research.can_advance(game, player, track):
        optional = game.rules.switches.free_step_optional
        if optional or research.enters_top(player, track):
            yield from step(game, player, [track], optional)
        else:
            yield from research.advance(game, player, track)


def step_anywhere(game: Game, player: Player, optional: bool = False) -> Script:
    """A research step on a track of one's choice; skipped if none can advance (TEC-09)."""
    tracks = research.open_tracks(game, player)
    if tracks:
        yield from step(game, player, tracks, optional)


def step(game: Game, player: Player, tracks: list[str], optional: bool) -> Script:
    """The step must be made, unless every possible one enters level 5, or it is optional (TEC-09).

    That of a tile is optional in the base game (A11).
    """
    menu: dict[str, str | None] = {f"advance {track}": track for track in tracks}
    if optional or all(research.enters_top(player, track) for track in tracks):
        menu["skip"] = None
    track = yield from ask(player.number, "STEP", menu)
    if track is not None:
        yield from research.advance(game, player, track)


def take_advanced(game: Game, player: Player, slot: str, tile: str) -> Script:
    """An advanced tile covers a tile and costs a green token; then the step (TEC-05, TEC-06)."""
    bare = [own for own, covered in player.tiles.items() if not covered]
    covered = yield from ask(player.number, "COVER", {f"tile {own}": own for own in bare})
    player.tiles[covered] = True
    player.green -= 1
    player.advanced.add(tile)
    del game.advanced[slot]
    at_once(game, player, tile)
    yield from step_anywhere(game, player, game.rules.switches.free_step_optional)


def at_once(game: Game, player: Player, tile: str) -> None:
    """The advanced tiles that score when they are taken (ADV-02 to ADV-07)."""
    if tile == "MS-ORE":
        player.gain({"ore": len(scoring.sectors(player, "main"))})
        return
    vp = 0
    if tile == "PI-AC-6VP":
        vp = 6 * player.count("PI", "AC_A", "AC_B")
    elif tile == "DG-4VP":
        vp = 4 * len(scoring.sectors(player, "deep"))
    elif tile == "FED-5VP":
        vp = 5 * scoring.federation_tokens(player)
    elif tile == "GAIA-2VP":
        vp = 2 * scoring.gaia_structures(player)
    elif tile == "MINE-2VP":
        vp = 2 * scoring.mines(player)
    elif tile == "TS-4VP":
        vp = 4 * player.count("TS")
    elif tile == "MS-2VP":
        vp = 2 * len(scoring.sectors(player, "main"))
    player.score("ADVANCED_TILE", vp)
