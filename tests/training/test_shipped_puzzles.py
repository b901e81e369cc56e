"""The puzzles that come with the project are what they say, and hold."""

import re

from training.analysis import puzzle_held, puzzles


def test_the_shipped_puzzles_hold():
    """Each with what came of it where a search played on."""
    found = puzzles.read(puzzles.SHIPPED)
    assert len(found["puzzles"]) >= 100
    for one in found["puzzles"]:
        assert one["held"]["by"] == found["chosen"]["held_by"][-1]
        assert one["held"]["playouts"] == puzzle_held.PLAYOUTS and puzzles.holds(one)
        assert all("held" in candidate for candidate in one["candidates"])


def test_the_shipped_puzzles_are_what_they_say():
    """Each answer has 5 VP more than the choice it beats, and 3.5 more than each other move.

    That choice is the policy's first one, or that of the weaker agent that is named.
    """
    found = puzzles.read(puzzles.SHIPPED)
    assert found["playouts"] == 64 and found["agent"] == "zoo/strong"
    assert re.fullmatch("[0-9a-f]{64}", found["sha256"])
    for one in found["puzzles"]:
        assert not one["answer"]["text"].startswith(puzzles.NO_ANSWERS)
        best, second, *_ = one["candidates"]
        assert best["action"] == one["answer"]["action"] != one["policy"]["action"]
        assert one["loss"]["mean"] >= puzzles.LEAST and one["loss"]["low"] > 0
        assert best["vp"] - second["vp"] > puzzles.CLEAR - 0.1  # both are rounded
        assert len({c["action"] for c in one["candidates"]}) == len(one["candidates"]) > 1
        first = max(one["candidates"], key=lambda c: c["policy"])
        own = first["action"] == one["policy"]["action"]
        assert own if "beats" not in one else one["beats"] == "zoo/quick"
        for c in one["candidates"]:
            assert c["line"][0] == c["text"] and c["line"][-1] == "pass", "it is a whole game"
            assert bool(c["held"]["why"]) is (c["action"] != best["action"])
        assert one["theme"] == puzzles.theme(one["answer"]["text"])
    assert {"building", "research", "ship"} <= {one["theme"] for one in found["puzzles"]}


def test_a_shipped_puzzle_stands_where_its_game_leads():
    """The last one: a version of the game that plays otherwise would lead elsewhere."""
    found = puzzles.read(puzzles.SHIPPED)
    last = len(found["games"]) - 1
    mine = [one for one in found["puzzles"] if one["game"] == last]
    game = found["games"][last]
    some = found | {"games": [game], "puzzles": [one | {"game": 0} for one in mine]}
    for one, state in puzzles.positions(some):
        assert int(state.current_player) == one["player"]
        assert all(state.legal_action_mask[c["action"]] for c in one["candidates"])
