"""The study decides the same and prints the same under every kernel of OpenBLAS."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason='needs pyarrow: pip install ".[data]"')

ROOT = Path(__file__).resolve().parents[2]
# OpenBLAS picks one of them by the processor: current servers, laptops of ten years, older ones.
KERNELS = ("SkylakeX", "Haswell", "Nehalem")
STUDY = """
import json, math
import numpy as np
from gaia_jax import ruleset
from training.study import game_table, questions

games = game_table.load("docs/sample")
answers = questions.answer_for_games(games, ruleset.RULESETS["lost_fleet"])
for question, by_faction in questions.answer_for_factions(games, games, None).items():
    answers |= {f"{faction}: {question}": effects for faction, effects in by_faction.items()}
print(json.dumps({
    question: [[e.name, *(f"{x:.6f}" for x in e[1:4]), e.size, e.significant] for e in effects]
    for question, effects in answers.items()
}))
"""


def run_study(kernel):
    """The effects under one kernel; None where the processor or the library lacks it."""
    variables = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_VERBOSE": "2", "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", STUDY], cwd=ROOT, env=os.environ | variables, capture_output=True,
        text=True,
    )  # fmt: skip
    if process.returncode == -signal.SIGILL:
        return None
    assert process.returncode == 0, process.stderr
    if f"Core: {kernel}" not in process.stderr:
        return None
    return json.loads(process.stdout)


@pytest.mark.slow
def test_the_study_is_the_same_under_every_kernel():
    """The rank of the design decides which effects exist: three processes, 25 s."""
    results = {kernel: run_study(kernel) for kernel in KERNELS}
    ran = [kernel for kernel, effects in results.items() if effects is not None]
    if len(ran) < 2:
        pytest.skip("needs OpenBLAS with kernels of two generations that this processor can run")
    first = results[ran[0]]
    assert [row[0] for row in first["board"]][0] == "planets within three cells of home"
    for kernel in ran[1:]:
        assert results[kernel] == first, f"{kernel} differs from {ran[0]}"
