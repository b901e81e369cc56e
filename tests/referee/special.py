"""Special actions of one's own, each once a round: tiles, academy, boosters, factions (ACT-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import federation, fleet, gaia, mine, research, upgrade
from tests.referee.board import Cell
from tests.referee.decision import Options, Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player

GAINS = {
    "BT1_ACT_CHARGE4": {"charge": 4},
    "SA-K-3": {"knowledge": 3},
    "SA-O-3": {"ore": 3},
    "SA-QIC-CRED": {"qic": 1, "credits": 5},
}


def options(game: Game, player: Player) -> Options:
    """The special actions not yet used this round, where they need a target with one (ACT-16)."""
    used = player.used
    for name, gain in GAINS.items():
        owned = player.uncovered(name) or name in player.advanced
        if name not in used and owned and player.may_take(gain):
            yield f"special {name}", (take, name, gain)
    academy = player.printed["academy_b_action"]
    owned = "AC_B" in player.structures.values()
    if "AC_B" not in used and owned and player.may_take(academy):
        yield "special AC_B", (take, "AC_B", academy)
    if player.booster not in used and booster_targets(game, player):
        yield f"special {player.booster}", (use_booster,)
    if "FACTION" not in used:
        effect = faction_action(game, player)
        if effect is not None:
            yield "special FACTION", effect


def take(game: Game, player: Player, name: str, gain: dict[str, int]) -> None:
    """A special action that just gives something; what has no room is lost (ACT-13, A27)."""
    player.used.add(name)
    player.gain(gain)


def booster_targets(game: Game, player: Player) -> dict[str, Any]:
    if player.booster == "RB6":
        return gaia.instant_targets(game, player)
    if player.booster == "RB11":
        return fleet.far_targets(game, player, "RB11")
    if player.booster == "RB13":
        return mine.picks(game, player, mine.TERMS["RB13"])
    return {}


def use_booster(game: Game, player: Player) -> Script:
    assert player.booster is not None
    effect = yield from ask(player.number, "TARGET", booster_targets(game, player))
    player.used.add(player.booster)
    yield from do(effect, game, player)


# -- factions


def faction_action(game: Game, player: Player) -> tuple[Any, ...] | None:
    """The faction's own special action, if it has one and something to aim at."""
    tinkering = player.tinkering
    if player.is_("TINKEROIDS") and tinkering is not None:
        printed = game.rules.tinkering[tinkering]
        if "free_steps" not in printed:
            gain = {kind: n for kind, n in printed.items() if kind != "rounds"}
            return (take, "FACTION", gain) if player.may_take(gain) else None
    if faction_targets(game, player):
        return (upgrade.downgrade,) if player.is_("FIRAKS") else (use_faction,)
    return None


def faction_targets(game: Game, player: Player) -> dict[str, Any]:
    """What the faction's special action may aim at; empty where it has none or may not use it."""
    if player.printed["range_special"]:
        return fleet.far_targets(game, player, "GLEENS")  # ACT-12
    if player.is_("SPACE_GIANTS"):
        return mine.picks(game, player, mine.TERMS["SPACE_GIANTS"])  # SPG-02
    if player.is_("TINKEROIDS") and player.tinkering in mine.TERMS:
        return mine.picks(game, player, mine.TERMS[player.tinkering])  # TIN-03
    if player.is_("BESCODS"):
        return lowest_tracks(game, player)
    if player.has_pi("HIVES"):
        return station_cells(game, player)
    if player.has_pi("AMBAS"):
        return {f"pick {game.board.text[c]}": (swap, c) for c in player.ordinary_mines()}
    if player.has_pi("FIRAKS"):
        return upgrade.downgrades(game, player)
    if player.has_pi("MOWEYDS") and len(player.rings) < game.rules.supply["ring"]:
        bare = [c for c in player.structures if c not in player.rings]
        return {f"pick {game.board.text[c]}": (place_ring, c) for c in bare}  # MOW-01
    return {}


def use_faction(game: Game, player: Player) -> Script:
    effect = yield from ask(player.number, "TARGET", faction_targets(game, player))
    player.used.add("FACTION")
    yield from do(effect, game, player)


def lowest_tracks(game: Game, player: Player) -> dict[str, Any]:
    """Bescods advance on a track that is lowest (ACT-15)."""
    lowest = min(player.tracks.values())
    menu: dict[str, Any] = {
        f"advance {track}": (research.advance, track)
        for track in research.open_tracks(game, player)
        if player.tracks[track] == lowest
    }
    if menu and game.rules.switches.free_step_optional:
        menu["skip"] = (decline_step,)
    return menu


def decline_step(game: Game, player: Player) -> None:
    """The action is used, no step is made."""


def station_cells(game: Game, player: Player) -> dict[str, Any]:
    """Hive: an empty hex in reach, satellites do not matter (HIV-01)."""
    if len(player.stations) >= game.rules.supply["station"]:
        return {}
    return {
        f"pick {game.board.text[cell]}": (place_station, cell)
        for cell, content in enumerate(game.board.planet)
        if content == "Empty"
        and cell not in player.stations
        and player.range_qic(cell) <= player.qic
    }


def place_station(game: Game, player: Player, cell: Cell) -> None:
    player.pay({"qic": player.range_qic(cell)})
    player.stations.add(cell)
    player.add_range_source(cell)
    federation.absorb(game, player)


def swap(game: Game, player: Player, mine_cell: Cell) -> None:
    """Ambas: the planetary institute and a mine change places (AMB-01, A16, FED-13)."""
    (pi_cell,) = (c for c, kind in player.structures.items() if kind == "PI")
    player.structures[pi_cell], player.structures[mine_cell] = "MINE", "PI"
    federation.absorb(game, player)


def place_ring(game: Game, player: Player, cell: Cell) -> None:
    player.rings.add(cell)
