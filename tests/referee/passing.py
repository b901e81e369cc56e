"""Passing, and the boosters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.referee import scoring
from tests.referee.decision import Options

if TYPE_CHECKING:
    from tests.referee.game import Game
    from tests.referee.player import Player


def options(game: Game, player: Player) -> Options:
    """Rounds 1 to 5: take one of the three open boosters. Round 6: just pass (PAS-01, PAS-02)."""
    if game.round == game.last_round:
        yield "pass", (pass_, None)
    else:
        for booster in game.open_boosters:
            yield f"booster {booster}", (pass_, booster)


def pass_(game: Game, player: Player, booster: str | None) -> None:
    """Score, exchange the booster, and be out of the round (PAS-01, PAS-03)."""
    player.score("BOOSTER", booster_vp(player))
    player.score("ADVANCED_TILE", advanced_vp(player))
    if booster is not None:
        assert player.booster is not None
        game.open_boosters.remove(booster)
        game.open_boosters.append(player.booster)
        player.booster = booster
    player.passed = True
    game.pass_order.append(player)


def booster_vp(player: Player) -> int:
    """What the booster scores on passing (PAS-04)."""
    counts = {
        "RB2": lambda: 4 * player.count("PI", "AC_A", "AC_B"),
        "RB3": lambda: 2 * len(scoring.sectors(player, "deep")),
        "RB4": lambda: 3 * player.gaiaformers_owned(),
        "RB5": lambda: scoring.gaia_structures(player),
        "RB7": lambda: scoring.mines(player),
        "RB8": lambda: len(scoring.planet_types(player)),
        "RB12": lambda: 3 * player.count("RL"),
        "RB14": lambda: 2 * player.count("TS"),
    }
    assert player.booster is not None
    return counts[player.booster]() if player.booster in counts else 0


def advanced_vp(player: Player) -> int:
    """What the advanced tiles score on passing (PAS-04)."""
    counts = {
        "AST-2VP-PASS": lambda: 2 * scoring.on_planets(player, "Asteroid"),
        "DG-2VP-PASS": lambda: 2 * len(scoring.sectors(player, "deep")),
        "FED-3VP-PASS": lambda: 3 * scoring.federation_tokens(player),
        "RS-3VP-PASS": lambda: 3 * player.count("RL"),
        "TYPE-1VP-PASS": lambda: len(scoring.planet_types(player)),
    }
    return sum(count() for tile, count in counts.items() if tile in player.advanced)
