"""What is compiled for accelerators that are not there: reader, estimates, what must not be.

The slow tests need the TPU's compiler (`make offline` sets it up in `.venv-tpu`); GAIA_JAX_TPU
names another interpreter that has it.
"""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from benchmarks import estimate, graphs, hlo, measured, offline_page, offline_table, trips
from benchmarks.targets import TARGETS
from gaia_jax.testing import sample_legal

ROOT = Path(__file__).resolve().parents[2]
SCOPE = 'metadata={op_name="jit(f)/vmap(decide)/'
TEXT = f"""HloModule jit_f, is_scheduled=true

%fused (p.0: s8[4096,4], p.1: s32[4096]) -> s8[4096] {{
  %p.0 = s8[4096,4]{{0,1:T(4,128)(4,1)}} parameter(0)
  %p.1 = s32[4096]{{0}} parameter(1)
  ROOT %g = s8[4096]{{0}} gather(%p.0, %p.1), offset_dims={{}}
}}
%rows (t: (s32[], /*index=1*/s8[4096])) -> (s32[], s8[4096]) {{
  %t = (s32[]{{:T(128)}}, /*index=1*/s8[4096]{{0}}) parameter(0)
  %one = s8[4096]{{0}} copy(%t), {SCOPE}execute/gather"}}, backend_config={{"estimated_cycles":"7"}}
}}
%limit (t.1: (s32[], s8[4096])) -> pred[] {{
  %t.1 = (s32[], s8[4096]{{0}}) parameter(0)
  %n = s32[]{{:T(128)}} constant(4096)
}}
%chunk (c: s8[4096]) -> s8[4096] {{
  %c = s8[4096]{{0}} parameter(0)
  %work = s8[4096]{{0}} fusion(%c), kind=kLoop, calls=%fused, {SCOPE}answer/loop_in_chunks.body/while/body/add"}}, backend_config={{"estimated_cycles":"100"}}
}}
%cheap (d: s8[4096]) -> s8[4096] {{
  %d = s8[4096]{{0}} parameter(0)
}}
%dear (e: s8[4096]) -> s8[4096] {{
  %e = s8[4096]{{0}} parameter(0)
  %s = s8[4096]{{0}} sort(%e), {SCOPE}gain/cond/branch_1_fun/sort"}}, backend_config={{"estimated_cycles":"1000"}}
}}
ENTRY %main (x: s8[4096,4], i: s32[4096]) -> s8[4096] {{
  %x = s8[4096,4]{{0,1}} parameter(0)
  %i = s32[4096]{{0}} parameter(1)
  %f.1 = s8[4096]{{0}} fusion(%x, %i), kind=kLoop, calls=%fused, {SCOPE}execute/gather"}}, backend_config={{"estimated_cycles":"10"}}
  %w.1 = (s32[], s8[4096]{{0}}) while(%f.1), condition=%limit, body=%rows, {SCOPE}execute/gather"}}
  %w.2 = s8[4096]{{0}} while(%f.1), condition=%cheap, body=%chunk, {SCOPE}answer/loop_in_chunks.body/while"}}
  ROOT %c.1 = s8[4096]{{0}} conditional(%f.1), branch_computations={{%cheap, %dear}}, {SCOPE}gain/cond"}}
}}
"""  # noqa: E501


def test_an_instruction_has_its_kind_scope_cycles_and_the_bytes_that_it_touches():
    module = hlo.read(TEXT)
    found = {line.name: line for line in module.instructions}
    gather = found["f.1"]
    assert (module.entry, gather.kind, gather.cycles) == ("main", "fusion", 10)
    assert gather.moved == 4096 * (1 + 4 + 4)
    assert module.traffic(gather) == 4096 * (1 + 4 + 1)  # a byte of four is read in each row
    assert found["c.1"].branches == ["cheap", "dear"]


def test_a_loop_that_xla_made_of_a_gather_is_found_and_one_of_the_program_is_not():
    assert hlo.read(TEXT).made_loops == ["jit(f)/vmap(decide)/execute/gather"]


def test_loops_are_multiplied_by_their_trips_and_of_a_branch_the_dearer_side_counts():
    counted = {"answer": {"mean": 2.5, "most": 8}}
    low, _, high = estimate.ASSUMED
    parts = estimate.Book(hlo.read(TEXT), low, TARGETS["v5e"], counted).parts
    assert {name: row["cycles"] for name, row in parts.items() if row["cycles"]} == {
        "execute": 10 + 4096 * 7,
        "answer": 2.5 * 100,
        "gain": 1000,
    }
    book = estimate.Book(hlo.read(TEXT), high, TARGETS["v5e"], counted)
    cycles = 10 + 4096 * 7 + 8 * 100 + 1000
    assert book.seconds == pytest.approx(high.cycles * cycles / TARGETS["v5e"].clock)


def test_a_gpu_waits_for_its_host_in_loops_and_branches():
    low = estimate.ASSUMED[0]
    book = estimate.Book(hlo.read(TEXT), low, TARGETS["h100"], {"answer": {"mean": 2, "most": 8}})
    assert sum(row["host"] for row in book.parts.values()) == 4096 + 1 + 2 + 1 + 1


def test_what_stands_in_a_command_buffer_starts_without_the_host():
    counted, low = {"answer": {"mean": 2, "most": 8}}, estimate.ASSUMED[0]
    card = TARGETS["h100"]
    alone = estimate.Book(hlo.read(TEXT), low, card, counted, {"w.2", "work", "c.1"})
    whole = {name: sum(row[name] for row in alone.parts.values()) for name in ("host", "nodes")}
    assert whole == {"host": 4096 + 1, "nodes": 2 + 1 + 1}
    plain = estimate.Book(hlo.read(TEXT), low, card, counted)
    saved = 4 * (low.host - low.node) + 2 * (low.start - low.graph)
    assert plain.seconds - alone.seconds == pytest.approx(saved)


def test_command_buffers_are_read_from_what_xla_writes():
    notes = "".join(
        f'thunk_metadata {{ thunk_info {{ profile_annotation: "{name}" thunk_id: {number} }} }}'
        for number, name in ((1, "copy.1"), (2, "while.5"), (3, "cond.fusion"), (4, "add.2"))
    )
    sequence = """001: kCopy         [source] kCopy
000: kCommandBuffer [source | sink]
    002: kWhile        [prev=001 (1)]
condition:
        003: kCustomKernel [source | sink] cond_fusion grid: [1, 1, 1]
004: kCustomKernel [prev=002 (1)] add_2 grid: [1, 1, 1]
"""
    assert graphs.names_in(sequence, notes) == ["cond.fusion", "while.5"]


def test_a_ratio_stands_only_where_both_were_compiled_alike():
    before, now = {"totals": {"seconds": 4.0}}, {"totals": {"seconds": 1.0}}
    assert offline_page._ratio(now, before, "seconds") == "0.25"
    now["totals"]["buffered"] = 5.0
    assert offline_page._ratio(now, before, "seconds") == ""
    before["totals"]["buffered"] = 0.0
    assert offline_page._ratio(now, before, "seconds") == "0.25"
    before, now["totals"]["cycles"] = {"totals": {"cycles": 2.0}}, 1.0  # a TPU has no such buffers
    assert offline_page._ratio(now, before, "cycles") == "0.50"


def test_games_and_decisions_are_those_of_all_devices():
    """A row of eight: its games are all there are, so its speed is too."""
    totals = {"cycles": 1e6, "runs": 1.0, "bytes": 1e6, "copies": 0}
    row = {"target": "v5e", "program": "train", "batch": 4096, "games": 64, "devices": 8}
    row |= {"totals": totals, "made_loops": [], "held_bytes": 0, "seconds": {"middle": 1.0}}
    row |= {"decisions_per_second": {"low": 300.0, "middle": 200.0, "high": 100.0}}
    line = offline_page._rows({"before": {}, "now": {"v5e x 8": row}}, "tpu")[-1]
    assert line.startswith("| v5e x 8 | 64 |") and "| 2,400, 1,600, 800 |" in line


def test_what_was_measured_stands_beside_its_estimates():
    """Times of several estimates add up; what has no estimate stands by itself."""
    play = {"batch": 4096, "observation": True, "environment": "lost_fleet"}
    play["decisions_per_second"] = {"median": 1000, "min": 900, "max": 1100}
    ppo = {"games": 64, "decisions_per_second": 128, "peak_bytes": 2e9}
    each = {"low": 4000.0, "middle": 2000.0, "high": 1000.0}
    now = {name: {"decisions_per_second": each} for name in ("h100 play", "h100 observe")}
    rows = measured.table({"play": [play], "ppo": [ppo]}, now)[2:]
    assert rows == [
        "| random play, observation | 4,096 | 1,000 (900 to 1,100) | 4096.00"
        " | `h100 play` and `h100 observe` | 0.50, 1.00, 2.00 |",
        "| PPO, 2.0 GB at its peak | 64 | 128 | 500.00 | none | |",
    ]


def test_rows_whose_program_played_a_wrong_game_say_so():
    assert graphs.LOOPS == measured.recorded()["h200"]["graphs"]["flags"]
    page = offline_page.page(offline_table.in_order(offline_table.recorded()), offline_table.ROWS)
    rows = re.findall(r"^\| .*\bgraphs\b.*", page, re.M)
    assert len(rows) == 4 and all("not to be used" in row for row in rows)


def test_a_loop_has_one_name_in_the_text_and_in_the_counts():
    chunk = "jit(f)/vmap(decide)/jit(step)/answer/loop_in_chunks.body/while"
    inner = f"{chunk}/body/jit(_answer)/loop_retry.body/while/body/loop_connect.sweep/while"
    assert (trips.key_of(chunk), trips.key_of(inner)) == ("answer", "answer/connect.sweep")
    assert trips.key_of("jit(f)/while") == ""
    raw = trips.Raw({(trips.CHUNKS, "answer"): 2})
    raw["connect.sweep", "connect", "take_block", "_answer"] = 60
    assert trips.by_key(raw) == {"answer": 2, "answer/connect.sweep": 60}


def test_trips_of_a_loop_are_counted_and_the_loop_is_as_before():
    def double(n):
        return jax.lax.while_loop(lambda x: x < 100, lambda x: 2 * x, n)

    counts = trips.Raw()
    with trips.named("tpu", counts):
        assert jax.default_backend() == "tpu"
        run = jax.jit(double).lower(jnp.int32(0)).compile()
    before = jax.lax.while_loop
    assert run(jnp.int32(3)) == double(jnp.int32(3)) == 192
    jax.effects_barrier()
    assert list(trips.by_key(counts).values()) == [6] and jax.lax.while_loop is before


def test_the_sampler_reads_no_row_by_its_index():
    mask, uniform = jnp.zeros((64, 1023), bool), jnp.zeros(64)
    text = jax.jit(jax.vmap(sample_legal)).lower(mask, uniform).as_text()
    assert re.search(r"stablehlo\.reduce", text)
    assert not re.findall(r"stablehlo\.(?:\w*gather|\w*scatter|dynamic_\w*slice)", text)


def windows_by_row(text):
    """The gathers and scatters of a StableHLO text that a TPU has only as a loop over the rows.

    Each index of many takes a window of its own, of more than one number and less than all, along
    an axis that the index moves along: what `vmap` makes of `lax.dynamic_slice`. Single numbers and
    whole rows by index are taken for no loops: the rule was read off the sampler of before.
    """
    found = []
    # A scatter ends below its computation.
    operations = re.findall(r'"stablehlo\.(?:gather.*|scatter"(?:.*\n)*?\s*\}\) : .*)', text)
    for operation in operations:
        types = re.findall(r"tensor<([^>]*)>", operation.rsplit(" : ", 1)[1])
        operand, index, updates = ([int(n) for n in x.split("x")[:-1]] for x in types[:3])
        if operation.startswith('"stablehlo.gather'):
            moved, sizes = _numbers(operation, "start_index_map"), _numbers(operation, "i64: ")
        else:
            moved, sizes = _numbers(operation, "scatter_dims_to_operand_dims"), [1] * len(operand)
            gone = _numbers(operation, "inserted_window_dims")
            gone += _numbers(operation, " input_batching_dims")
            kept = [d for d in range(len(operand)) if d not in gone]
            for d, window in zip(kept, _numbers(operation, "update_window_dims"), strict=True):
                sizes[d] = updates[window]
        many = math.prod(index) > len(moved)
        if many and any(1 < sizes[d] < operand[d] for d in moved):
            found.append(operation.splitlines()[0].strip())
    return found


def _numbers(text, name):
    found = re.search(rf"{name}(?: = \[)?([\d, ]*)", text)
    return [int(n) for n in found[1].split(",") if n.strip()] if found else []


def test_windows_by_row_are_found():
    x, i, few = jnp.zeros((64, 1023)), jnp.zeros(64, int), jnp.zeros((64, 8))
    by_row = {
        True: (
            (lambda x, i, few: jax.lax.dynamic_slice(x, (i,), (8,))),
            (lambda x, i, few: jax.lax.dynamic_update_slice(x, few, (i,))),
        ),
        False: (
            (lambda x, i, few: x[i]),
            (lambda x, i, few: x.at[i].set(few[0])),
            (lambda x, i, few: x.at[i].min(few[0], mode="drop")),
        ),
    }
    for wanted, kinds in by_row.items():
        for kind in kinds:
            text = jax.jit(jax.vmap(kind)).lower(x, i, few).as_text()
            assert bool(windows_by_row(text)) == wanted, text
    rows = jax.jit(lambda x, i: x[i]).lower(x, i).as_text()
    assert "gather" in rows and not windows_by_row(rows)


@pytest.mark.slow
def test_the_recorded_games_end_as_they_did_in_the_form_for_a_gpu():
    """Minutes, nearly all of it compiling."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.as_gpu", "tests/replays/test_golden.py"]
    command += ["-q", "-k", "ends_as_it_did", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


def _compiled(*arguments):
    """The report of a program compiled for v5e."""
    known = [os.environ.get("GAIA_JAX_TPU"), ROOT / ".venv-tpu" / "bin" / "python", sys.executable]
    python = next(str(x) for x in known if x and Path(x).exists())
    command = [python, "-m", "benchmarks.offline", "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "no compiler for v5e" in done.stderr:
        pytest.skip(f"no TPU compiler in {python}: `make offline` installs one in .venv-tpu")
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("program", ["step", "train"])
def test_for_a_tpu_nothing_runs_row_by_row_and_memory_stays(program):
    """Minutes, all of it compiling."""
    arguments, before = offline_table.tested(program)
    report = _compiled(*arguments)
    assert report["made_loops"] == []
    assert report["host_callbacks"] == 0
    assert report["wide"] == []
    assert report["fits"]
    if before is not None:  # without a row, what fits is all that is known
        assert report["held_bytes"] < 2 * before["held_bytes"]
