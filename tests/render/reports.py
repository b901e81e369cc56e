"""Reviews and advice of made-up playouts, for tests of their pages."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import jax
import numpy as np

import gaia_jax
from gaia_jax import replay
from tests.render.records import RECORDS
from training.analysis import advice, advice_report, review
from training.analysis.judge import JudgedMove, judge_from_playouts, make_comparison
from training.analysis.playouts import Ends
from training.analysis.recorded_game import Game, compiled_step, read_game
from training.games.stats import wins

FIRST = 60  # decisions of the record that are reviewed


def _judged(game: Game, at: int, rng: np.random.Generator) -> JudgedMove:
    """A verdict with made-up playouts: the other move has more, later ones more still."""
    state = game.states[at]
    legal = np.asarray(state.legal_action_mask)
    decision = make_comparison(
        at + 1, int(state.current_player), game.actions[at], legal / legal.sum()
    )
    state, line = compiled_step(game.env)(state, int(decision.candidates[1])), []
    while len(line) < 4:
        line.append(int(np.argmax(state.legal_action_mask)))
        state = compiled_step(game.env)(state, line[-1])
    vp = rng.integers(90, 140, (1, 16, 4)) + np.array([[[0]], [[at]]])
    moves = np.broadcast_to(np.array([*line, -1, -1], np.int16), (2, 16, 6))
    sources = np.zeros((2, 16, 4, 0), np.int16)
    ends = Ends(vp, moves, np.ones((2, 16), bool), sources, moves)
    return judge_from_playouts(decision, decision.candidates[:2], ends)


def review_of_beginning(folder: Path) -> review.Review:
    """A review of the beginning of a recorded game, which is written to `begun.json`."""
    record = replay.read(RECORDS["lost_fleet"])
    path = folder / "begun.json"
    replay.write(path, dataclasses.replace(record, actions=record.actions[:FIRST], final_vp=()))
    game, rng = read_game(path), np.random.default_rng(0)
    judged = [_judged(game, at, rng) for at in review.judged_positions(game)]
    losses = [[x.loss for x in judged if x.comparison.seat == p] for p in range(4)]
    seats = review.review_seats(losses, judged[-1].vp, np.array([120.0, 110.0, 100.0, 90.0]))
    return review.Review(game, "zoo/strong", 0, 16, len(judged) + 1, judged, seats)


def advice_page(is_served: bool = False) -> str:
    """The page of advice on invented games, with all of its parts and its longest names."""
    env, rng = gaia_jax.make("lost_fleet"), np.random.default_rng(0)
    setup = env.draw_setup(jax.random.key(0))
    boards = advice.boards_of(env, setup)
    faction = advice.design(boards, 8)
    vp = rng.integers(60, 180, faction.shape)
    sources = rng.integers(0, 20, (*faction.shape, len(env.ruleset.ids["vp_source"])))
    kinds = ["mine", "project", "piece TS", "advance terraforming", "power PA_7C", "pass"]
    played = advice.PlayedGames(
        faction, vp, wins(vp), sources, rng.integers(0, 7, faction.shape),
        rng.integers(0, len(kinds), (*faction.shape, advice.OPENING_LENGTH)), kinds,
    )  # fmt: skip
    about = {"agent": "zoo/strong", "from": "seed 0", "wanted": len(faction)}
    report = advice_report.build_report(env, setup, played, boards, about)
    return advice_report.report_page(report, is_served=is_served)
