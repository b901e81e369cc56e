"""Reports of `gaia explain`: differences between candidates, by source of VP."""

from pathlib import Path

import numpy as np

from training.analysis import attribution
from training.analysis.candidate_outcomes import Outcomes
from training.analysis.recorded_game import read_game

DECISION = 5


def test_reasons_are_differences_by_source():
    game = read_game(Path("docs/records/lost_fleet.json"), num_decisions=9)
    state, played = game.states[DECISION - 1], game.actions[DECISION - 1]
    other = next(int(a) for a in np.flatnonzero(state.legal_action_mask) if a != played)
    seat = int(state.current_player)
    vp = np.full((2, 3, 4), 80)
    sources = np.zeros((2, 3, 4, len(game.env.ruleset.ids["vp_source"])), int)
    vp[0, :, seat], vp[1, :, seat] = (90, 91, 92), (95, 97, 96)
    sources[0, :, seat, 1], sources[1, :, seat, 1] = 4, 12
    sources[0, :, seat, 2] = 2
    sources[:, :, seat, game.env.ruleset.ids["vp_source"].index("FINAL_1")] = 6
    outcomes = Outcomes(np.array([played, other]), np.array([0.7, 0.3]), vp, seat, sources)
    report = attribution.build_report(game, DECISION, outcomes)
    best, worse = report["candidates"]
    assert worse["played"] and not best["played"] and best["vp"] == 96
    assert worse["loss"][0] == 5 and sorted(worse["by_source"].values()) == [-8, 2]
    assert best["by_source"] == {}
    missions = [words for words in report["best_by_source"] if "mission" in words]
    assert missions == ["mission: most structures on asteroids and protoplanets"]
    text = attribution.report_text(report | {"playouts": 3, "agent": "me"})
    assert "(played): 5.0 VP less" in text and "-8.0" in text and "+2.0" in text
