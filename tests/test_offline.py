"""What is compiled for accelerators that are not there: reader, estimates, what must not be.

The slow tests need the TPU's compiler (`make offline` sets it up in `.venv-tpu`); GAIA_JAX_TPU
names another interpreter that has it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from benchmarks import estimate, hlo, offline_table, trips
from benchmarks.targets import TARGETS
from gaia_jax.testing import sample_legal

ROOT = Path(__file__).resolve().parent.parent
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
    if before is None:
        pytest.skip(f"benchmarks/offline.json has no row of {program} yet: `make offline` adds it")
    report = _compiled(*arguments)
    assert report["made_loops"] == []
    assert report["host_callbacks"] == 0
    assert report["wide"] == []
    assert report["held_bytes"] < 2 * before["held_bytes"]
