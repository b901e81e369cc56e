"""The plan of a session with an accelerator: order, limits, resuming."""

from pathlib import Path

import pytest

from benchmarks import accelerator, accelerator_plan, agreement, measure
from benchmarks.accelerator_plan import Step

WRITES = "open('{out}/STEP.partial.json', 'w').write('1')"


def step(name: str, code: str, limit_s: int = 60, flags: str = "") -> Step:
    return Step(name, ("timeit", "-n", "1", "-r", "1", code.replace("STEP", name)), limit_s, flags)


def test_steps_run_in_order_and_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = "import os; assert os.environ['XLA_FLAGS'].endswith('--some_flag'); "
    steps = (
        step("agreement", WRITES),
        step("slow", f"{WRITES}; import time; time.sleep(60)", 1),
        step("wrong", f"{WRITES}; raise SystemExit('wrong')"),
        step("flagged", flags + WRITES, flags="--some_flag"),
    )
    monkeypatch.setattr(accelerator_plan, "STEPS", steps)
    assert accelerator_plan.main(["--out", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["agreement: done", "slow: stopped after 1 s"]
    assert lines[2].startswith("wrong: failed with exit code") and lines[3] == "flagged: done"
    assert (tmp_path / "wrong.failed.json").exists()
    assert not any((tmp_path / f"{name}.json").exists() for name in ("slow", "wrong"))

    monkeypatch.setattr(accelerator_plan, "STEPS", (steps[0], step("slow", WRITES), steps[3]))
    assert accelerator_plan.main(["--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "slow: done\n"
    assert (tmp_path / "slow.json").read_text() == "1"
    assert accelerator_plan.main(["--out", str(tmp_path), "--minutes", "0", "--tiny"]) == 0


@pytest.mark.parametrize("name", ["agreement", "while", "conditional"])
def test_a_step_without_networks_writes_its_report(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"batch": 16384, "observation": False, "compile_s": 1.0}
    row["decisions_per_second"] = measure.spread([1.0])
    monkeypatch.setattr(accelerator, "play", lambda *_: row)
    monkeypatch.setattr(agreement, "check", lambda: None)
    command = next(step.command for step in accelerator_plan.STEPS if step.name == name)
    assert accelerator.main([word.format(out=tmp_path) for word in command[1:]]) == 0
    assert (tmp_path / f"{name}.partial.json").exists()


def test_a_device_that_plays_another_game_ends_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = (step("agreement", "raise SystemExit(1)"), step("play", WRITES))
    monkeypatch.setattr(accelerator_plan, "STEPS", steps)
    assert accelerator_plan.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("agreement: failed with exit code 1")
    assert not (tmp_path / "play.json").exists()


def test_an_unknown_step_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        accelerator_plan.main(["--out", "x", "--steps", "gone"])
    assert "unknown step 'gone'; allowed: agreement,throughput" in capsys.readouterr().err
