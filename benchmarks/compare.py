"""The environment at two git revisions, measured side by side.

    python -m benchmarks.compare main my-branch
    python -m benchmarks.compare HEAD .          # "." is the working tree

Each revision runs in a process of its own, on an export of its files, with the benchmark code of
this checkout. The processes take turns, round by round: one plays while the other waits.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import measure, peers

ROOT = Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A revision cannot be measured; the message is for the user."""


class Worker:
    """One revision in its own process: it plays a round at each "go" on its standard input."""

    def __init__(self, name: str, revision: str, settings: dict[str, Any], scratch: Path):
        self.revision = revision
        tree = ROOT if revision == "." else _export(revision, scratch / name)
        harness = scratch / "harness"  # this checkout's benchmarks without its gaia_jax
        if not harness.exists():
            shutil.copytree(ROOT / "benchmarks", harness / "benchmarks")
        # -P keeps the working directory off the path: gaia_jax comes from `tree` alone.
        command = [sys.executable, "-P", "-m", "benchmarks.compare", "--worker"]
        path = os.pathsep.join(
            [str(harness), str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        self._process = subprocess.Popen(
            [*command, json.dumps(settings | {"tree": str(tree)})],
            cwd=scratch,
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def request_report(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send one request, wait for its answer."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; its last line has the reason
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "its process ended without an answer"}
        if "error" in answer:
            raise Failed(f"{self.revision}: {answer['error']}")
        return answer

    def speed(self, calls: int) -> float:
        """Decisions a second of a round."""
        return self.request_report({"calls": calls})["decisions_per_second"]


def _export(revision: str, folder: Path) -> Path:
    """The files of `revision` in `folder`; the repository itself stays untouched."""
    archive = ["git", "archive", "--format=tar", revision]
    done = subprocess.run(archive, cwd=ROOT, capture_output=True)
    if done.returncode:
        raise Failed(f"{revision}: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def _work(settings: dict[str, Any]) -> None:
    """The worker's side: set up at the first request, then a round at each."""
    answers = os.fdopen(os.dup(1), "w")  # what else is printed must not mix with the answers
    os.dup2(2, 1)

    def answer(**values: Any) -> None:
        print(json.dumps(values), file=answers, flush=True)

    runner: measure.Runner | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if runner is None:
                runner, cost = _set_up(settings)
                answer(**cost)
            else:
                answer(decisions_per_second=runner.round(request["calls"]))
        except peers.Unavailable as error:
            answer(error=str(error))
            return


def _set_up(settings: dict[str, Any]) -> tuple[measure.Runner, dict[str, Any]]:
    measure.compile_afresh()
    contender = peers.own(settings["ruleset"])
    source = Path(sys.modules["gaia_jax"].__file__ or "").resolve()
    if not source.is_relative_to(Path(settings["tree"]).resolve()):
        raise peers.Unavailable(f"gaia_jax was imported from {source}, not from the revision")
    batch, seed = settings["batch"], settings["seed"]
    step = measure.step_cost(contender, batch)
    runner = measure.Runner(
        contender, batch, settings["steps"], settings["observe"], settings["burn_in"], seed
    )
    return runner, {
        "version": contender.version,
        "num_actions": contender.num_actions,
        "state_bytes": runner.state_bytes,
        "step": step,
        "rollout": runner.rollout.cost(),
        "calls": runner.calls_for(settings["seconds"]),
    }


def main(argv: list[str] | None = None) -> int:
    args = _arguments(argv)
    if args.worker:
        _work(json.loads(args.worker))
        return 0
    if len(args.revisions) != 2:
        print("compare: give two git revisions, or . for the working tree", file=sys.stderr)
        return 2
    try:
        before, after = args.revisions
        report = compare(before, after, args)
    except Failed as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    _print(report)
    measure.write_report(args.json, report)
    return 0


def compare(before: str, after: str, args: argparse.Namespace) -> dict[str, Any]:
    """Measure both revisions; the ratio is after / before, taken round by round."""
    names = ("ruleset", "batch", "steps", "observe", "burn_in", "seconds", "seed")
    settings = {name: getattr(args, name) for name in names}
    with (
        tempfile.TemporaryDirectory(prefix="gaia_jax-compare-") as folder,
        Worker("before", before, settings, Path(folder)) as first,
        Worker("after", after, settings, Path(folder)) as second,
    ):
        workers = (first, second)
        # One after the other: compile times count.
        costs = [worker.request_report({}) for worker in workers]
        runs = [
            partial(worker.speed, cost["calls"])
            for worker, cost in zip(workers, costs, strict=True)
        ]
        rounds = measure.take_turns(runs, args.rounds)
    results = [
        {"revision": worker.revision, "decisions_per_second": measure.spread(played)}
        | cost
        | {"rounds": played}
        for worker, cost, played in zip(workers, costs, rounds, strict=True)
    ]
    ratios = [b / a for a, b in zip(*rounds, strict=True)]
    return {"settings": settings, "results": results, "ratio": measure.spread(ratios)}


def _print(report: dict[str, Any]) -> None:
    print(f"batch {report['settings']['batch']}, {len(report['results'][0]['rounds'])} rounds")
    print(
        f"{'revision':<24}{'decisions/s':>12}{'min':>10}{'max':>10}"
        f"{'step s':>8}{'ops':>8}{'roll s':>8}{'ops':>8}{'state B':>9}{'A':>6}"
    )
    for result in report["results"]:
        speed, step, roll = (result[k] for k in ("decisions_per_second", "step", "rollout"))
        print(
            f"{result['revision']:<24}{speed['median']:>12,.0f}{speed['min']:>10,.0f}"
            f"{speed['max']:>10,.0f}{step['seconds']:>8.1f}{step['instructions']:>8,}"
            f"{roll['seconds']:>8.1f}{roll['instructions']:>8,}"
            f"{result['state_bytes']:>9,}{result['num_actions']:>6,}"
        )
    before, after = (result["revision"] for result in report["results"])
    print(f"{after} / {before}: {measure.spread_text(report['ratio'], 3)}")


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = measure.command_parser("compare", __doc__, "settings", "results", "ratio")
    add = parser.add_argument
    add("revisions", nargs="*", metavar="REV", help="two git revisions; . is the working tree")
    add("--batch", type=int, default=1024)
    add("--ruleset", default="lost_fleet")
    add("--observe", action="store_true", help="make the mover's observation at every decision")
    add("--steps", type=int, default=32, help="decisions of a game in one rollout call")
    add("--rounds", type=int, default=9)
    add("--seconds", type=float, default=2.0, help="length of a round, at least one rollout call")
    add("--burn-in", type=int, default=256, help="decisions over which starts are spread")
    add("--seed", type=int, default=0)
    add("--worker", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
