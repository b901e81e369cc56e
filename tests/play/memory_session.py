"""A session at the table in a process of its own: `python -m tests.play.memory_session FOLDER`.

A game with agents and a hint, a check, a review, advice on a set-up, a puzzle, and a base game for
two. Prints a line for each step with the largest memory so far.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from training.play import compile_process
from training.play.agent_pool import AgentPool
from training.play.background import Job
from training.play.compile_process import resident_mb
from training.play.game_server import GameServer
from training.system.cli import prepare, start_jax

ENOUGH = 64  # playouts of a review or of advice, which needs no more memory for the others


def report(step: str) -> None:
    """Print the largest resident memory of this process so far, and the present one."""
    peak, now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000, resident_mb()
    print(f"peak of {peak:.0f} MB after {step}, now {now:.0f}", flush=True)


def until(is_done: Callable[[], object]) -> None:
    """Wait for a background thread."""
    while not is_done():
        time.sleep(0.2)


def begin(job: Job | None) -> None:
    """Let a job play some games, then cancel it."""
    assert job
    until(lambda: job.done >= ENOUGH or job.status != "running")
    job.call_off()
    job.wait()
    assert job.status != "failed", job.message


def main(folder: str) -> None:
    """Play the session; records are saved in a folder."""
    prepare()
    start_jax()
    compile_process.is_server = True
    server = GameServer(AgentPool(), Path(folder))
    browser = "one"
    report("start")
    seats = ["you", "zoo/strong", "zoo/quick", "greedy"]
    game = server.open({"ruleset": "lost_fleet", "seats": seats, "seed": 1}, browser)
    until(lambda: game.rules.prices_ready and not game.agent_to_move())
    report("rules, prices and agents")
    table = server.get(game.id)
    server.start_analysis(table, browser, "hint", game.now, [])
    until(lambda: server.analyses.hint(game, game.now)["status"] != "running")
    assert server.analyses.hint(game, game.now)["candidates"]
    move = game.rules.legal(game.nodes[game.now].state)[0]
    server.start_analysis(table, browser, "check", game.now, [move])
    until(lambda: server.analyses.check(game, [move], game.now)["checked"])
    report("hint and check")
    server.change(table, browser, "seat", {"player": 0, "who": "zoo/strong"})
    until(lambda: game.over() or game.message)
    assert game.over(), game.message
    server.start_analysis(table, browser, "review", game.now, [])
    begin(server.analyses.review_job(game))
    report("review")
    advice = server.advise({"ruleset": "lost_fleet", "seats": ["you"] * 4, "seed": 5})
    begin(server.setup_advice.get(advice["id"]))
    report("advice")
    question = server.puzzles.question(0)
    server.puzzles.explanation(0, {"action": question["choices"][0]["action"]})
    report("puzzle")
    two = server.open({"ruleset": "base", "seats": ["you", "greedy"], "seed": 1}, browser)
    until(lambda: two.rules.prices_ready and not two.agent_to_move())
    report("base game for two")
    os._exit(0)  # agents may still be compiled


if __name__ == "__main__":
    main(sys.argv[1])
