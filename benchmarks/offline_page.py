"""The page of docs/lab/ about accelerators that are not there, from recorded reports."""

from __future__ import annotations

import collections
import json
import re
import textwrap
from typing import Any

from benchmarks import agreement, measured
from benchmarks.estimate import ASSUMED, efficiency
from benchmarks.offline import PLAY_STEPS
from benchmarks.profile import PARTS
from benchmarks.targets import TARGETS
from benchmarks.trips import RECORDED

TEXT = """# Accelerators: compiled for, and one measured

Made by `make offline`, which compiles each program with the makers' compilers for devices that
are not there (`python -m benchmarks.offline_table`; one program: `python -m benchmarks.offline`).
Nothing on this page but the next section was measured on an accelerator. {date}, JAX {jax}.
Revisions: {revision}; "before" is {before}. Each row's own
stands in `benchmarks/offline.json`.

A row is one program: a step with its legal mask; random play, {play} decisions a run with the
draw of the action and a new game where one ended; a new game; an observation; an update of PPO.
Kernels, cycles, bytes, waits and milliseconds are those of one device for one decision of all its
games: a run of `play` or of an update has many. Games and decisions/s are those of all devices.
The compilers lie in two environments, `.venv-tpu` with 1.5 GB and `.venv-cuda` with 5.7 GB.

## Measured: one H200

{measured}

## Assumptions

Cycles of a TPU are XLA's own estimates, which it gives for one trip of a loop. The trips were
counted in 4,096 random games on a CPU, decisions {counted} of each,
with the chunks that an accelerator takes (`python -m benchmarks.trips`, `benchmarks/trips.json`).
Of a branch the dearer
side is booked: of 4,096 games some game nearly always needs it. A GPU is given no cycles. A
kernel takes the longer of its start and of its bytes. The host is waited for at each branch and
at each trip of a loop whose trips XLA does not know. Kernels, loops and branches that XLA puts into
a command buffer (a CUDA graph) start without the host: the numbers behind the stroke.

| estimate | trips | times XLA's cycles | kernel start, us | host, us | of the bandwidth |
| --- | --- | --- | --- | --- | --- |
{assumed}

Clocks: {clocks}.
Bandwidth: {speeds}.

Loops whose trips nobody knows count one trip, which flatters `init` and `train`; they are named
in `benchmarks/offline.json`. "Loops made" are loops that XLA made of one gather or scatter; each
runs a trip for each game.

## TPU

{tpu}

A step on v5e, by part of a decision:

{parts_tpu}

Trips a decision of the dearest loops: {loops}.

## NVIDIA

"host" counts waits for the host in loops and branches.

{gpu}

The row of before was compiled before command buffers were looked at: in it every kernel takes the
longer start, and trips were counted to decision 255. So `h100 step` has no ratio, and its parts
before and now are not alike. What is alike stands at the end of this page.

A step on an H100, by part of a decision:

{parts_gpu}

XLA puts five kernels and more in a row into a command buffer by itself, loops and branches only
when told to: `XLA_FLAGS=--xla_gpu_enable_command_buffer=+WHILE,+CONDITIONAL`, the rows "graphs".
**These rows are not to be used**: on a card, with JAX 0.11.2, PPO compiled so played a wrong game
and raised no error ("Measured: one H200"). A loop in a command buffer failed at its second run
before openxla/xla pull request 35760.

## Beside other environments

A step of each, its own legal actions with it; `pgx` and `mahjax` as their authors ship them.

{peers}

## Training

An update of PPO with the rollout before it, the games split over the devices. "Learning" is its
share of the time, the rest is the rollout. Efficiency is what is left when each all-reduce waits
for as many devices, each with as many games as here: a ring that sends the gradients twice over
the slowest link (v5e 100 GB/s; H100 450 GB/s inside a machine of eight, 50 GB/s between machines),
and 2 us for each of as many messages as a root of the number of devices.

{training}

## Not compiled yet

{missing}

## What was found

- **A gather with an index of its own in each row is a loop over the rows on a TPU.** The draw of
  a random action had three of them, fourteen times the step that it feeds. It sums over all nodes
  now, of which one counts: the same actions, and as fast on a CPU. **Kept.**
- **The federation search filled and swept far more than it used.** A table of 266,496 lines was
  filled for 256 rows, and blocks of 4,096 pairs were swept for some hundred. Blocks of two pairs
  a row take 4.9 turns a decision instead of 4.2. **Kept.**
- **Chunks of 64 rows cost an accelerator as much as chunks of 512.** The time between turns took
  7.8 turns a decision; with an eighth of the batch it takes 1.3. **Kept.**
- **Layouts.** A gather of a player's row turned whole records round on a TPU, and every stage
  chose its own layout. Of four rows one is selected now, and the stages pass their records with
  the games along the lanes (`gaia_jax/xla/batch_aware.py`). **Kept.**
- **A GPU waits for its host after each turn of a loop whose length the data decide.** There the
  search makes its first twelve sweeps without asking and four a turn after them, four ways to part
  a set a turn (sixteen since then), four steps back, six spreads of a group's label
  (`gaia_jax/xla/turns.py`). A step too many changes nothing. **Kept.**
- **A branch waits for the host too.** Stages of a step are none on a GPU: `optimization_barrier`
  stays there until XLA has fused, so it keeps them apart. The offers of power are worked through
  without a loop. **Kept.**
- **A number of its own written in each row is a kernel on a GPU.** The walk that marks satellites
  selects there instead. **Kept.**
- All of it for a GPU: 43 waits for the host a step instead of 87, 625 kernels instead of 780, and
  1,605,880 decisions a second by the middle estimate instead of 1,115,283, which is 0.69 of the
  time: both without command buffers and with trips to decision 255 (those that this changed, scaled
  from decision 191 on). 2,027,656 with the command buffers that XLA makes by itself. **Kept.**
- **What is left.** The federation search is the dearest part on both kinds, for the few games
  that need one. On a TPU rows that go through chunks are still turned round for their gather.
- **A v5e is at half of a million decisions a second.** By the middle estimate that wants 4.1 M
  cycles a step; 8.67 M are there. Seen in the compiled step of 9defbe7: `trace_satellites.step`
  takes 0.85 M over all rows, copies of whole records 0.42 M, the table of costs by cell that is
  filled for each search 0.39 M, a `pad` apart from its sweep 0.36 M. Without all four 6.65 M would
  be left, which is 0.62 M decisions a second: not enough. None was tried. At 16,384 games the
  middle estimate is 0.61 M and the low one 0.92 M. **Noted.**
- **Beside the peers.** On a v5e 4,096 games of Go (19 x 19) take 8.2 times the cycles of as many
  of ours, mahjax 40 times; chess asks for more than its 16 GB from 4,096 games on, mahjax at
  16,384. A step of ours at 16,384 holds 0.3 GB. **Noted.**
"""


def _million(number: float) -> str:
    return f"{number / 1e6:.2f}"


def _title(name: str) -> str:
    """A row's name; with a warning where what makes it fast made a wrong game on a card."""
    return f"**{name}: not to be used**" if name.endswith(" graphs") else name


def _ratio(row: dict[str, Any], before: dict[str, Any], name: str) -> str:
    """What is left of the time of before; none where one alone was asked for command buffers."""
    if "totals" not in before or not before["totals"].get(name):
        return ""
    # A TPU has no command buffers; its cycles are alike.
    if name != "cycles" and ("buffered" in row["totals"]) != ("buffered" in before["totals"]):
        return ""
    return f"{row['totals'][name] / before['totals'][name]:.2f}"


def _rows(report: dict[str, Any], kind: str) -> list[str]:
    """The table of one kind of accelerator."""
    tpu = kind == "tpu"
    what = "cycles, M" if tpu else "host"
    lines = [f"| program | games | kernels run | {what} | MB moved | copies | loops made |"]
    lines[0] += " memory, MB | ms, middle | decisions/s: low, middle, high | of before |"
    lines.append("| --- " * 11 + "|")
    for name, row in report["now"].items():
        if TARGETS[row["target"]].platform != kind or _is_peer(row):
            continue
        for when, shown in (("before", report["before"].get(name)), ("", row)):
            if shown is None:
                continue
            title = f"{_title(name)}{', before' if when else ''}"
            if "failed" in shown:
                lines.append(f"| {title} | {shown['batch']:,} | {_failure(shown)} |" + " |" * 8)
                continue
            each, speed = shown.get("decisions", 1), shown["decisions_per_second"]
            total = {key: value / each for key, value in shown["totals"].items()}
            count = _million(total["cycles"]) if tpu else f"{total['host']:,.0f}"
            many = shown.get("devices", 1)
            speeds = ", ".join(f"{many * speed[x.name]:,.0f}" for x in ASSUMED)
            part = "" if when else _ratio(row, report["before"].get(name, {}), "cycles")
            part = part or ("" if when else _ratio(row, report["before"].get(name, {}), "seconds"))
            games = shown.get("games", shown["batch"])
            cells = [title, f"{games:,}", f"{total['runs']:,.0f}", count]
            cells += [f"{total['bytes'] / 1e6:,.0f}", f"{shown['totals']['copies']:.0f}"]
            cells += [str(len(shown["made_loops"])), f"{shown['held_bytes'] / 1e6:,.0f}"]
            cells += [f"{1e3 * shown['seconds']['middle'] / each:,.2f}", speeds, part]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _failure(row: dict[str, Any]) -> str:
    """Why a program was not compiled: the memory that it asks for (MB), or the compiler's words."""
    asked = re.search(r"temporaries \(([\d.]+)G\)", row["failed"])
    return f"{float(asked[1]) * 1024**3 / 1e6:,.0f}" if asked else row["failed"][:80]


def _is_peer(row: dict[str, Any]) -> bool:
    return row.get("environment", "lost_fleet") != "lost_fleet"


def _peers(report: dict[str, Any]) -> list[str]:
    """Steps of other environments, after those of this one at the same sizes."""
    lines = ["| program | games | kernels run | cycles, M | MB moved | memory, MB | fits |"]
    lines.append("| --- " * 7 + "|")
    for name, row in report["now"].items():
        if row["program"] != "step":
            continue
        if "failed" in row:
            lines.append(f"| {name} | {row['batch']:,} | | | | {_failure(row)} | no |")
            continue
        total = row["totals"]
        cycles = _million(total["cycles"]) if total["cycles"] else ""
        cells = [_title(name), f"{row['batch']:,}", f"{total['runs']:,.0f}", cycles]
        cells += [f"{total['bytes'] / 1e6:,.0f}", f"{row['held_bytes'] / 1e6:,.0f}"]
        lines.append(f"| {' | '.join(cells)} | {'yes' if row['fits'] else 'no'} |")
    return lines


def _training(report: dict[str, Any]) -> list[str]:
    """Updates: speed, shares, memory, and what more devices would leave of the speed."""
    lines = ["| program | devices | games | decisions/s: low, middle, high | learning |"]
    lines[0] += " memory a device, GB | all-reduces | MB each | efficiency at 8, 64, 256 |"
    lines.append("| --- " * 9 + "|")
    for name, row in report["now"].items():
        if row["program"] != "train" or "failed" in row:
            continue
        parts, total, many = row["parts"], row["totals"], row["devices"]
        share = parts.get("learning", {}).get("seconds", 0) / total["seconds"]
        speeds = ", ".join(f"{row['decisions_per_second'][x.name] * many:,.0f}" for x in ASSUMED)
        cells = [name, f"{many}", f"{row['games']:,}", speeds, f"{share:.0%}" if share else ""]
        cells += [f"{row['held_bytes'] / 1e9:.1f}"]
        reduces = total.get("reduces", 0)
        cells += [f"{reduces:,.0f}"]
        cells += [f"{total['reduced_bytes'] / reduces / 1e6:.2f}" if reduces else ""]
        target = TARGETS[row["target"]]
        left = [f"{efficiency(row, target, n):.0%}" for n in (8, 64, 256) if reduces]
        lines.append(f"| {' | '.join([*cells, ', '.join(left)])} |")
    return lines


def _missing(report: dict[str, Any], rows: dict[str, Any]) -> list[str]:
    """Rows of the table that are not recorded, by the compiler that they take."""
    lines = []
    for kind, what in (("tpu", "a TPU: minutes each"), ("gpu", "a card: a minute or two each")):
        names = [
            f"`{name}`"
            for name, row in rows.items()
            if name not in report["now"] and TARGETS[row[1]].platform == kind
        ]
        lines += [f"- For {what}: {', '.join(names)}."] if names else []
    wrapped = [textwrap.fill(x, 100, subsequent_indent="  ") for x in lines]
    return wrapped or ["Every row is there."]


def _parts(report: dict[str, Any], row: str) -> list[str]:
    """Where the cycles of a row are, before and now."""
    now, before = report["now"].get(row), report["before"].get(row)
    if not now or "parts" not in now:
        return []
    old = before["parts"] if before else {}
    tpu = TARGETS[now["target"]].platform == "tpu"
    unit, scale = ("cycles", 1e6) if tpu else ("seconds", 1e-3)
    lines = [
        f"| part | {'M cycles' if tpu else 'ms, middle'} before | now | kernels run | copies |"
    ]
    lines.append("| --- " * 5 + "|")
    for name, part in sorted(now["parts"].items(), key=lambda x: -x[1].get(unit, 0)):
        was = f"{old[name].get(unit, 0) / scale:.2f}" if name in old else ""
        title = f"`{name}`, {PARTS[name]}" if name in PARTS else name
        lines.append(
            f"| {title} | {was} | {part.get(unit, 0) / scale:.2f} | {part.get('runs', 0):,.0f}"
            f" | {part.get('copies', 0):.0f} |"
        )
    return lines


def _revisions(rows: dict[str, dict[str, Any]]) -> str:
    """How many rows are of which revision; the files of this page may have been changed then."""
    named = collections.Counter(row["revision"].removesuffix("+") for row in rows.values())
    return ", ".join(f"{name} ({count} rows)" for name, count in named.items())


def page(report: dict[str, Any], rows: dict[str, Any]) -> str:
    """The page.

    Args:
        report: what is recorded: reports by "before" and "now", then by row; "date".
        rows: all that could be, by name their arguments.
    """
    now, before = report["now"]["v5e step"], report["before"]["v5e step"]
    assumed = [
        f"| {x.name} | {x.trips} | {x.cycles} | {1e6 * x.start:.0f} / {1e6 * x.graph:.1f} |"
        f" {1e6 * x.host:.0f} / {1e6 * x.node:.0f} | {x.bandwidth:.0%} |"
        for x in ASSUMED
    ]
    return TEXT.format(
        date=report["date"],
        jax=now["jax"],
        revision=_revisions(report["now"]),
        before=before["tree"],
        play=PLAY_STEPS,
        measured=measured.section(report["now"], agreement.number(agreement.recorded())),
        assumed="\n".join(assumed),
        clocks=", ".join(f"{t.name} {t.clock / 1e9:.2f} GHz" for t in TARGETS.values()),
        speeds=", ".join(f"{t.name} {t.bandwidth / 1e12:.2f} TB/s" for t in TARGETS.values()),
        tpu="\n".join(_rows(report, "tpu")),
        gpu="\n".join(_rows(report, "gpu")),
        counted=", ".join(
            f"{row['skip']} to {row['skip'] + row['decisions'] - 1} ({platform})"
            for platform, row in json.loads(RECORDED.read_text(encoding="utf-8")).items()
        ),
        peers="\n".join(_peers(report)),
        training="\n".join(_training(report)),
        missing="\n".join(_missing(report, rows)),
        parts_tpu="\n".join(_parts(report, "v5e step")),
        parts_gpu="\n".join(_parts(report, "h100 step")),
        loops="; ".join(f"`{x['loop']}` {x['runs']:.1f}" for x in now["loops"]),
    )
