"""What was measured on an accelerator, beside what was estimated: a section of the page.

`benchmarks/measured.json` holds it by target, copied from reports of `make accelerator` and its
like. Nothing is kept there that was not measured.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.estimate import ASSUMED

RECORDED = Path(__file__).with_name("measured.json")
# The estimates that are nearest to a program, by its batch; the times of several add up.
PLAY = {
    ("lost_fleet", 4096, False): (("h100 play",), ("h200 step",)),
    ("lost_fleet", 4096, True): (("h100 play", "h100 observe"),),
    ("lost_fleet", 16384, False): (("h100 step 16,384",),),
    ("chess", 4096, True): (("h100 chess 4,096",),),
}
PPO = {8192: (("h100 train",),)}

TEXT = """One {device} ({memory:,} MiB, driver {driver}), {cpus} CPU cores, JAX {jax}, CUDA {cuda},
Python {python}, {date}, at {revision}; the other programs of the call waited, and no `XLA_FLAGS`
were set. Random play is three rounds of about a second, median (least to most), with a draw, a new
game where one ended and, where it says so, an observation of every state. PPO is the median of
three updates after a first one: 128 decisions a game, 64 minibatches, half of the decisions learnt
from, float32. Its network reads planets: width 128, 8 latents, cells of 32, two layers. Again:
`python -m benchmarks.training --config configs/long.yaml ppo.num_envs=8192 ppo.minibatches=64`.

{table}

- The estimates are of JAX 0.10.2, of older code, and mostly of another card with the same cores and
  slower memory. The one of a step has no draw and no new games. The one of PPO has the network of
  `configs/h100.yaml`, twice as wide, in bfloat16, with 32 minibatches: its ratio compares little.
  `configs/h100.yaml` itself was not run.
- **All are slower than the middle estimate and faster than the high one.** Starts of kernels and
  waits probably cost more than the middle one takes.
- **Small batches wait.** From 4,096 to 65,536 games a decision of all games takes {grown:.1f} times
  as long, for 16 times the games. A line through 4,096 and 16,384 games leaves {fixed:.1f} of the
  {small:.1f} ms to what does not grow with them: starts of kernels and waits for the host.
- **An observation takes more than was thought**: {seen:.2f} ms for 4,096 games, where the high
  estimate has {thought:.2f}.
- **Beside chess.** At 4,096 games, both with an observation, ours makes {chess:.2f} times the
  decisions of pgx {pgx} chess: there chess is as fast. On two CPU cores ours made 9.5 times as many
  in 1,024 games (`docs/lab/performance.md`). Other batches of chess were not measured.
- Compiling took {least:.0f} to {most:.0f} s a program of ours, nine side by side on 16 cores.
- PPO holds {held:.2f} MB a game at its peak.

### Loops and branches in command buffers: a wrong game

`XLA_FLAGS={flags}` made PPO in
{games:,} games {faster:.1f} times as fast, and the game **wrong**. No error was raised. The network
had learnt before.

| of games that ended in an update | with the flag | without |
| --- | --- | --- |
| `FINAL_1`, mean VP a seat; the rules make 9 | {final} | {right[FINAL_1]:.2f} |
| VP of federations a seat | {federation} | {right[FEDERATION]:.1f} |
| federations a seat | {formed:.2f} | {rightly:.2f} |
| decisions/s | {speed:,} | {rightspeed:,} |

In a longer learning with it, at up to {longspeed:,} decisions/s, no federation was formed at all
and `FINAL_1` had {longfinal}: {lost} million decisions were spent on that game before it was
noticed. Without the flag all that was looked at is as on a CPU. Which loop or branch goes wrong is
not known, nor whether another JAX does it rightly.

**Do not set this flag.** `make accelerator` plays {compared} games first and compares each with a
CPU; for PPO it looks at `FINAL_1`. Without flags one H100 played all of these games as a CPU does
(`docs/lab/performance.md`); cut to 1.3 minutes, the command has found the same on an H200.

### What to do next on a card

1. Run `make accelerator` first, without flags and with each flag to be tried.
2. Take 16,384 games and more: at 4,096 most of the time does not grow with the games.
3. Profile a decision at 4,096 games, to part starts of kernels from waits for the host. Nobody has.
   Then fewer of them: the search for federations has the most kernels, below.
4. Profile an update of PPO: the share of learning was not measured. From 4,096 to 16,384 games an
   update takes {update:.2f} times as long, so it waits too.
5. Try `+WHILE` and `+CONDITIONAL` each alone, and newer versions of JAX. With the right game a gain
   of {faster:.1f} times would stand.
6. Look into the observation, and try the chunk sizes (`--chunks`).
7. Measure `configs/h100.yaml`, and chess in larger batches."""


def recorded() -> dict[str, Any]:
    """What was measured, by target."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def _row(
    what: str, games: int, speed: float, told: str, pairs: Any, now: dict[str, Any]
) -> list[str]:
    """A line for each estimate that stands beside a measurement; one where there is none."""
    head = f"| {what} | {games:,} | {told} | {1e3 * games / speed:.2f}"
    lines = []
    for names in pairs:
        of = [now[name]["decisions_per_second"] for name in names]
        ratios = [speed * sum(1 / each[x.name] for each in of) for x in ASSUMED]
        beside = " and ".join(f"`{name}`" for name in names)
        lines.append(f"{head} | {beside} | {', '.join(f'{x:.2f}' for x in ratios)} |")
    return lines or [f"{head} | none | |"]


def table(found: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Each measurement, and its ratio to the estimates.

    Args:
        found: of one target. now: reports of `benchmarks.offline` by row.
    """
    lines = ["| program | games | decisions/s | ms a decision of all | estimate |"]
    lines[0] += " measured / estimated: low, middle, high |"
    lines.append("| --- " * 6 + "|")
    for row in found["play"]:
        speed, games = row["decisions_per_second"], row["batch"]
        own = row["environment"] == "lost_fleet"
        what = "random play" if own else f"pgx {row['environment']}"
        what += ", observation" if row["observation"] else ", mask"
        told = f"{speed['median']:,} ({speed['min']:,} to {speed['max']:,})"
        pairs = PLAY.get((row["environment"], games, row["observation"]), ())
        lines += _row(what, games, speed["median"], told, pairs, now)
    for row in found["ppo"]:
        speed, games = row["decisions_per_second"], row["games"]
        what = f"PPO, {row['peak_bytes'] / 1e9:.1f} GB at its peak"
        lines += _row(what, games, speed, f"{speed:,}", PPO.get(games, ()), now)
    return lines


def _milliseconds(row: dict[str, Any]) -> float:
    """Of one decision of all games."""
    return 1e3 * row["batch"] / row["decisions_per_second"]["median"]


def section(now: dict[str, Any], compared: int) -> str:
    """The section of the page about the H200.

    Args:
        now: reports of `benchmarks.offline` by row. compared: games that `make accelerator` plays.
    """
    found = recorded()["h200"]
    own = [row for row in found["play"] if row["environment"] == "lost_fleet"]
    plain = {row["batch"]: _milliseconds(row) for row in own if not row["observation"]}
    looked = next(row for row in own if row["observation"])
    chess = next(row for row in found["play"] if row["environment"] == "chess")
    bad, longer = found["graphs"], found["graphs"]["longer"]
    right = next(row for row in found["ppo"] if row["games"] == bad["games"])
    updates = {row["games"]: row["games"] / row["decisions_per_second"] for row in found["ppo"]}
    growth = (plain[16384] - plain[4096]) / 3
    machine = found["machine"]
    return TEXT.format(
        **{x: machine[x] for x in ("device", "driver", "cpus", "jax", "cuda", "python")},
        memory=machine["memory_mib"],
        date=found["date"],
        revision=found["revision"],
        table="\n".join(table(found, now)),
        grown=plain[65536] / plain[4096],
        fixed=plain[4096] - growth,
        small=plain[4096],
        seen=_milliseconds(looked) - plain[4096],
        thought=4096e3 / now["h100 observe"]["decisions_per_second"]["high"],
        chess=looked["decisions_per_second"]["median"] / chess["decisions_per_second"]["median"],
        pgx=chess["version"],
        least=min(row["compile_s"] for row in own),
        most=max(row["compile_s"] for row in own),
        held=right["peak_bytes"] / right["games"] / 1e6,
        flags=bad["flags"],
        games=bad["games"],
        faster=bad["decisions_per_second"] / right["decisions_per_second"],
        speed=bad["decisions_per_second"],
        rightspeed=right["decisions_per_second"],
        final=bad["vp"]["FINAL_1"],
        federation=bad["vp"]["FEDERATION"],
        right=right["vp"],
        formed=bad["federations"],
        rightly=right["federations"],
        longspeed=longer["decisions_per_second"],
        longfinal=longer["FINAL_1"],
        lost=longer["decisions"] // 10**6,
        compared=compared,
        update=updates[16384] / updates[4096],
    )
