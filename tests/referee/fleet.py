"""The Lost Fleet: exploring ships, the twelve ship actions, artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.referee import federation, gaia, mine, power, research, scoring, tech, upgrade
from tests.referee.decision import Options, Script, ask, do

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


# -- exploring


def explorations(
    game: Game, player: Player, extra_range: int = 0, price: dict[str, int] | None = None
) -> Options:
    """Ships in range without an own shuttle, where the shuttle can be paid (EXP-01, EXP-03)."""
    price = price or {}
    if not player.shuttles_left or not player.can_pay(price) or not _can_pay_shuttle(player):
        return
    for ship, cell in game.board.ship.items():
        if ship not in player.shuttles and player.range_qic(cell, extra_range) <= player.qic:
            yield f"explore {ship}", (explore, ship, extra_range, price)


def _can_pay_shuttle(player: Player) -> bool:
    cost = player.printed["shuttle_cost"]
    if player.vp < cost["vp"] or power.tokens(player) < cost.get("discard_token", 0):
        return False
    return "brainstone_to_gaia" not in cost or player.brainstone in (0, 1, 2)


def explore(game: Game, player: Player, ship: str, extra_range: int, price: dict[str, int]) -> None:
    """Pay, then put the shuttle on the next free slot and charge its power (EXP-02)."""
    cost = player.printed["shuttle_cost"]
    player.pay(price)
    player.pay({"qic": player.range_qic(game.board.ship[ship], extra_range)})
    player.score("EXPLORE", -cost["vp"])
    power.discard(player, cost.get("discard_token", 0))
    if "brainstone_to_gaia" in cost:
        player.brainstone = power.GAIA_AREA
    slot = sum(ship in other.shuttles for other in game.players)
    player.shuttles.add(ship)
    player.shuttles_left -= 1
    power.charge(player, game.rules.shuttle_charge[slot])


# -- targets that an action with extra range offers


def far_targets(game: Game, player: Player, name: str) -> dict[str, Any]:
    """RB11 and Twilight: a mine, an exploration, and where allowed a Gaia project (MIN-18)."""
    terms = mine.terms_of(game, name)
    menu = mine.picks(game, player, terms)
    menu.update(explorations(game, player, terms.extra_range, terms.price))
    if name != "TWI_K" or game.rules.switches.twilight_range_for_projects:
        menu.update(gaia.projects(game, player, "pick", terms.extra_range, terms.price))
    return menu


# -- ship actions

REBELLION_GAIN = {"credits": 2, "qic": 1}  # REB_K


def options(game: Game, player: Player) -> Options:
    """Ship actions that are free this round, on ships with an own shuttle (ACT-02)."""
    for name, printed in game.rules.ship_actions.items():
        if printed["ship"] not in player.shuttles or name in game.used:
            continue
        if player.can_pay(printed["cost"]) and _has_effect(game, player, name):
            yield f"ship {name}", (board_action, name)


def _has_effect(game: Game, player: Player, name: str) -> bool:
    if name == "REB_K":
        return player.may_take(REBELLION_GAIN)
    if name in ("TFM_Q", "ECL_Q"):
        return True
    if name == "REB_Q":
        return bool(tech.choices(game, player))  # ACT-10
    return any(True for _ in targets(game, player, name).items())


def targets(game: Game, player: Player, name: str) -> dict[str, Any]:
    """What a ship action may aim at; each is the action's effect on that target."""
    if name == "TWI_Q":
        return federation.scorable_tokens(game, player)
    if name == "REB_P":
        return upgrade.free_upgrades(game, player, "MINE", "TS")
    if name == "TWI_P":
        return upgrade.free_upgrades(game, player, "TS", "RL")
    if name == "TWI_K":
        return far_targets(game, player, name)
    if name == "TFM_P":
        return gaia.instant_targets(game, player)
    if name in ("TFM_C", "ECL_C"):
        return mine.picks(game, player, mine.terms_of(game, name))
    if name == "ECL_P":
        tracks = research.open_tracks(game, player)
        return {f"advance {track}": (research.advance, track) for track in tracks}
    raise ValueError(f"the ship action {name!r} has no target")


# Effects that pay the price of their action themselves, together with their own costs.
PAYS_ITSELF = ("TWI_K", "TFM_C", "ECL_C")


def board_action(game: Game, player: Player, name: str) -> Script:
    """One ship action, with the VP that a tile gives for QIC actions (ADV-01)."""
    cost = game.rules.ship_actions[name]["cost"]
    bonus = "qic" in cost and "SA-QIC-4VP" in player.advanced
    effect = (_at_once, name)
    if name not in ("REB_Q", "REB_K", "TFM_Q", "ECL_Q"):
        effect = yield from ask(player.number, "TARGET", targets(game, player, name))
    game.used.add(name)
    if name not in PAYS_ITSELF:
        player.pay(cost)
    yield from do(effect, game, player)
    if bonus:
        player.score("ADVANCED_TILE", 4)


def _at_once(game: Game, player: Player, name: str) -> Script:
    if name == "REB_Q":
        yield from tech.choose(game, player)
    elif name == "REB_K":
        player.gain(REBELLION_GAIN)
    elif name == "TFM_Q":
        player.score("SHIP", 2 + len(player.tiles))  # TEC-15
    elif name == "ECL_Q":
        player.score("SHIP", 2 + len(scoring.planet_types(player)))


# -- artifacts


def artifact_options(game: Game, player: Player) -> Options:
    """No round limit; each artifact once a game (ACT-04)."""
    if "TWILIGHT" in player.shuttles and power.tokens(player) >= game.rules.artifact_tokens:
        for place, artifact in enumerate(game.artifacts, start=1):
            if artifact is not None:
                yield f"artifact {place}", (take_artifact, place)


def take_artifact(game: Game, player: Player, place: int) -> Script:
    artifact = game.artifacts[place - 1]
    game.artifacts[place - 1] = None
    power.discard(player, game.rules.artifact_tokens)
    player.artifacts.append(artifact)
    if artifact in ("ART-PP-MINE", "ART-AS-MINE"):
        planet = "Proto" if artifact == "ART-PP-MINE" else "Asteroid"
        news = scoring.news_of_artifact_mine(player, planet)
        player.virtual_mines.append(planet)
        player.score("ARTIFACT", 7)
        scoring.mine_built(game, player, news, artifact=True)
    elif artifact in game.rules.artifact_gain:
        player.gain(game.rules.artifact_gain[artifact])
    elif artifact == "ART-FED-BOOST":
        menu = federation.owned_tokens(game, player)
        if menu:
            effect = yield from ask(player.number, "RETRIGGER", menu)
            yield from do(effect, game, player)
    else:
        player.score("ARTIFACT", _artifact_vp(player, artifact))


def _artifact_vp(player: Player, artifact: str) -> int:
    if artifact == "ART-SCI-VP":
        return 3 * player.tracks["science"]
    if artifact == "ART-GAIA-VP":
        return 3 * player.tracks["gaia"]
    if artifact == "ART-TYPE-VP":
        return 3 + len(scoring.planet_types(player))
    if artifact == "ART-DEEP-VP":
        return 3 * len(scoring.sectors(player, "deep"))
    if artifact == "ART-RS3VP":
        return 3 * sum(level >= 3 for level in player.tracks.values())
    return 0  # ART-CREATE-POWER and ART-KNO1ORE1 give income
