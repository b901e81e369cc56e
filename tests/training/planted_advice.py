"""Games of advice whose effects are known."""

import numpy as np

import gaia_jax
from gaia_jax.setup.draw_tables import draw_tables
from training.analysis import advice
from training.games.stats import wins


def boards(fixed=(), env_id="lost_fleet", players=4):
    sides = np.asarray(draw_tables(gaia_jax.make(env_id, players=players).ruleset).board_factions)
    return advice.Boards(sides.astype(int), dict(fixed), players)


def planted_games(seed, games_per_faction=64, noise=15.0, hold=(), gap=8.0):
    """Games with known effects: of factions, of opponents, of seats; noise of a game and a seat."""
    truth, rng = np.random.default_rng(0), np.random.default_rng(seed)
    own, others = truth.normal(0, gap, 18), truth.normal(0, 2, 18)
    seats = np.array([-4.0, -1.0, 1.0, 4.0])
    all_ = boards(hold)
    faction = advice.design(all_, games_per_faction, seed)
    against = others[faction].sum(1, keepdims=True) - others[faction]
    vp = 120 + own[faction] + against + seats
    vp = vp + rng.normal(0, noise / 2, (len(vp), 1)) + rng.normal(0, noise, vp.shape)
    expected = {}
    for f in range(18):
        left = all_.free_boards[~(all_.free_boards == f).any(1)].ravel()
        met = [x for x in all_.fixed.values() if x != f]
        drawn = len(all_.free_seats) - (f in all_.free_boards)
        at = [s for s, own_faction in all_.fixed.items() if own_faction == f] or all_.free_seats
        expected[f] = (
            120 + own[f] + others[met].sum() + drawn * others[left].mean() + seats[at].mean()
        )
    none = np.full(faction.shape, -1)
    rounded = np.round(vp).astype(int)
    played = advice.PlayedGames(
        faction, rounded, wins(rounded), rounded[..., None], none,
        np.full((*faction.shape, advice.OPENING_LENGTH), -1), [],
    )  # fmt: skip
    return played, all_, expected
