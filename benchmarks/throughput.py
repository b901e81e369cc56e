"""Decisions a second of this environment and its peers, interleaved in one run.

    python -m benchmarks.throughput --batches 64,1024,4096 --peers chess --json out.json

Each environment plays random legal games with auto-reset in a jitted scan; all use the same
sampler. Rounds alternate between the environments, so that a machine whose speed drifts is as fast
for one as for the other; a ratio is taken inside a round.
"""

import argparse
import sys
from functools import partial
from typing import Any

from benchmarks import measure, peers
from benchmarks.peers import Contender
from gaia_jax import sampling
from gaia_jax.cli import command_line


def main(argv: list[str] | None = None) -> int:
    args = _arguments(argv)
    measure.compile_afresh()
    measure.split_cpu(args.devices)
    try:
        contenders = [peers.own(args.ruleset)] if not args.peers_only else []
        contenders += [peers.peer(name) for name in args.peers]
    except peers.Unavailable as error:
        print(f"throughput: {error}", file=sys.stderr)
        return 1
    if not contenders:
        print("throughput: nothing to measure", file=sys.stderr)
        return 1

    report: dict[str, Any] = {
        "machine": measure.machine(),
        "sampler": sampling.NAME,
        "settings": {"steps": args.steps, "rounds": args.rounds, "observe": args.observe}
        | {"seconds": args.seconds, "burn_in": args.burn_in, "seed": args.seed},
        "results": [],
        "ratios": [],
    }
    print(measure.machine_line(report["machine"]))
    print(f"sampler: {sampling.NAME}")
    for batch in args.batches:
        results = measure_batch(contenders, batch, args)
        ratios = _ratios(results) if not args.peers_only else []
        report["results"] += results
        report["ratios"] += ratios
        _print_batch(batch, args, results, ratios)
        # After every batch: an interrupted run keeps what it has.
        measure.write_report(args.json, report, report_path=False)
    command_line.wrote(args.json)
    return 0


def measure_batch(
    contenders: list[Contender], batch: int, args: argparse.Namespace
) -> list[dict[str, Any]]:
    """All environments at one batch size; one dictionary for each, in their order."""
    results: list[dict[str, Any]] = []
    runners: list[measure.Runner] = []
    for contender in contenders:
        _progress(f"batch {batch}: {contender.name} ...")
        step = measure.step_cost(contender, batch)
        runner = measure.Runner(contender, batch, args.steps, args.observe, args.burn_in, args.seed)
        runners.append(runner)
        results.append(
            {
                "name": contender.name,
                "version": contender.version,
                "note": contender.note,
                "batch": batch,
                "num_actions": contender.num_actions,
                "state_bytes": runner.state_bytes,
                "step": step,
                "rollout": runner.rollout.cost(),
            }
        )
    _progress(f"batch {batch}: {args.rounds} rounds")
    runs = [partial(runner.round, runner.calls_for(args.seconds)) for runner in runners]
    rounds = measure.take_turns(runs, args.rounds)
    _progress("")
    for result, runner, speeds in zip(results, runners, rounds, strict=True):
        result |= {"rounds": speeds, "decisions_per_second": measure.spread(speeds)}
        result["decisions_per_game"] = runner.decisions / runner.ended if runner.ended else None
    return results


def _ratios(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    own, *others = results
    ratios = []
    for other in others:
        rounds = [a / b for a, b in zip(own["rounds"], other["rounds"], strict=True)]
        names = {"of": own["name"], "to": other["name"], "batch": own["batch"]}
        ratios.append(names | measure.spread(rounds) | {"rounds": rounds})
    return ratios


Rows = list[dict[str, Any]]


def _print_batch(batch: int, args: argparse.Namespace, results: Rows, ratios: Rows) -> None:
    print(f"\nbatch {batch}, {args.rounds} rounds, scan of {args.steps} decisions", end="")
    print(", with observation" if args.observe else "")
    print(
        f"{'environment':<18}{'decisions/s':>12}{'min':>10}{'max':>10}{'us each':>9}"
        f"{'step s':>8}{'ops':>8}{'roll s':>8}{'ops':>8}{'temp MB':>9}{'state B':>9}{'A':>6}"
    )
    for result in results:
        speed, step, roll = (result[k] for k in ("decisions_per_second", "step", "rollout"))
        temp = f"{roll['temp_bytes'] / 1e6:.1f}" if roll["temp_bytes"] is not None else "-"
        print(
            f"{result['name']:<18}{speed['median']:>12,.0f}{speed['min']:>10,.0f}"
            f"{speed['max']:>10,.0f}{1e6 / speed['median']:>9.1f}"
            f"{step['seconds']:>8.1f}{step['instructions']:>8,}"
            f"{roll['seconds']:>8.1f}{roll['instructions']:>8,}{temp:>9}"
            f"{result['state_bytes']:>9,}{result['num_actions']:>6,}"
        )
    for ratio in ratios:
        print(f"{ratio['of']} / {ratio['to']}: {measure.spread_text(ratio, 2)}")
    sys.stdout.flush()


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = measure.command_parser("throughput", __doc__, "machine", "sampler", "results")
    add = parser.add_argument
    add("--batches", type=_numbers, default=[64, 1024, 4096], help="games at once: 64,1024,4096")
    add("--peers", type=_names, default=["chess"], help=f"of {', '.join(peers.PEERS)}; '' for none")
    add("--peers-only", action="store_true", help="leave this project's environment out")
    add("--ruleset", default="lost_fleet")
    add("--observe", action="store_true", help="make the mover's observation at every decision")
    add("--devices", type=_positive, default=1, help="CPU devices that share each batch")
    add("--steps", type=_positive, default=32, help="decisions of a game in one rollout call")
    add("--rounds", type=_positive, default=5)
    add("--seconds", type=float, default=2.0, help="length of a round, at least one rollout call")
    add("--burn-in", type=int, default=256, help="decisions over which starts are spread")
    add("--seed", type=int, default=0)
    return parser.parse_args(argv)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return value


def _numbers(text: str) -> list[int]:
    return [_positive(part) for part in _names(text)]


if __name__ == "__main__":
    sys.exit(main())
