"""Races stop as soon as they are decided, and spend their playouts on the nearest rivals."""

from types import SimpleNamespace

import numpy as np
import pytest

from training.analysis import races
from training.analysis.playout_journal import PlayoutJournal
from training.analysis.playouts import Ends, Jobs
from training.analysis.races import LADDER, Race, Rung, run_races

SPREAD = 8.0  # VP, standard deviation of a playout


class Player:
    """Playouts with normal VP around `means[position][action]`."""

    def __init__(self, means):
        self.means, self.counts, self.requests = means, np.zeros((2, 100), int), 0

    def play(self, states, candidates, seed):
        self.requests += 1
        return [self.ends(seed, *own) for own in candidates]

    def ends(self, seed, position, actions, samples, plans):
        (action,) = actions
        self.counts[position, action] += len(samples)
        luck = [
            np.random.default_rng([seed, position, action, sample]).normal() for sample in samples
        ]
        vp = self.means[position][action] + SPREAD * np.array(luck)
        return SimpleNamespace(vp=vp[None, :, None])


@pytest.fixture(autouse=True)
def _small_requests(monkeypatch):
    monkeypatch.setattr(races, "MAX_JOBS", 64)


def race(number, moves):
    return Race(number, None, 0, np.arange(moves), np.full(moves - 1, 3.0))


def test_a_clear_answer_wins_and_near_rivals_get_the_playouts():
    means = [[100, 90, *[60] * 30], [100, 99.5, *[60] * 30]]
    player = Player(means)
    contests = [race(0, 32), race(1, 32)]
    won = run_races(player, contests, LADDER, 1000, 7)
    assert [contest.number for contest in won] == [0]
    assert contests[0].leads[0] == pytest.approx(10, abs=3) and contests[0].nearest == 0
    assert player.counts[0, 1] > 16 and (player.counts[0, 2:32] == 4).all()
    assert contests[1].leads[0] < 3 and contests[1].counts[0] <= 256
    assert (contests[1].counts[1:] == 4).all(), "a lost race costs no more than its near rival"
    assert len(contests[0].vp[0]) == contests[0].counts.max()


def test_the_nearest_rival_has_the_least_lead():
    """Whatever its limit: that of the policy's move is larger."""
    vp = [np.full(4, float(mean)) for mean in (100, 94, 95)]
    contest = Race(0, None, 0, np.arange(3), np.array([5.0, 3.0]), vp)
    assert contest.nearest == 1


@pytest.mark.parametrize("mean", [0.0, 2.0, 4.5, 8.0])
def test_the_last_step_decides_by_the_mean(mean):
    contest = race(0, 2)
    won = run_races(Player([[mean, 0.0]]), [contest], (Rung(4, 9, 9), Rung(64, 0, 0)), 0, 3)
    assert bool(won) is bool(contest.leads[0] >= 3) and contest.counts[0] == 64


def test_a_move_without_rivals_wins():
    assert run_races(Player([[1.0]]), [race(0, 1)], LADDER, 0, 0)


def test_the_journal_returns_what_was_played(tmp_path):
    journal = PlayoutJournal(tmp_path / "puzzles.json.gz")
    pool, jobs = {"x": np.arange(4)}, Jobs(*(np.array([1, 2]) for _ in range(3)))
    path = journal.path("me", pool, jobs, 3)
    assert journal.read(path) is None
    ends = Ends(*(np.arange(6).reshape(2, 3) + n for n in range(len(Ends._fields))))
    journal.write(path, ends)
    for array, own in zip(journal.read(path), ends, strict=True):
        assert (array == own).all()
    others = (
        ("you", pool, jobs, 3), ("me", pool, jobs, 4), ("me", {"x": np.arange(4) + 1}, jobs, 3),
        ("me", pool, jobs._replace(sample=jobs.sample + 1), 3),
    )  # fmt: skip
    assert all(journal.read(journal.path(*other)) is None for other in others)
    same = {"x": np.array([9, 1, 2, 9])}
    assert journal.path("me", same, jobs, 3) == path, "positions that no job has do not matter"
    (tmp_path / "mine.playouts").mkdir()
    PlayoutJournal(tmp_path / "mine").clear()
    journal.clear()
    assert [x.name for x in tmp_path.iterdir()] == ["mine.playouts"]
