"""Programs compiled for accelerators: the reader of HLO, the budget, what must not be compiled.

The slow tests need the compiler of a TPU (`pip install 'jax[tpu]'`); GAIA_JAX_TPU names another
interpreter that has it.
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

from benchmarks import hlo, offline
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


def test_a_loop_that_xla_made_of_a_gather_is_found_and_one_of_the_program_is_not():
    assert hlo.read(TEXT).made_loops == ["jit(f)/vmap(decide)/execute/gather"]


def test_kernels_count_a_loop_once_and_the_longest_branch():
    assert offline.kernels(hlo.read(TEXT)) == 1 + 1 + 1 + 1  # f.1, rows, chunk, dear


def test_what_exceeds_the_budget_is_reported():
    report = {"kernels": 100, "serial_loops": [], "wide": [], "host_callbacks": 0}
    report |= {"held_bytes": 10, "fits": True}
    assert offline.faults(report, {"kernels": 90, "held_bytes": 10}) == []
    assert offline.faults(report, {"kernels": 70, "held_bytes": 10}) == ["kernels: 100, at most 88"]
    bad = report | {"serial_loops": ["a/gather"], "wide": ["b"], "fits": False}
    assert [line.split(":")[0] for line in offline.faults(bad, None)] == [
        "a loop over the rows", "64-bit numbers", "10 bytes do not fit",
    ]  # fmt: skip


def test_64_bit_results_are_found():
    line = next(x for x in hlo.read(TEXT).instructions if x.name == "f.1")
    assert not offline.is_wide(line)
    wide = hlo.read(TEXT.replace("%f.1 = s8[4096]", "%f.1 = s64[4096]"))
    assert any(map(offline.is_wide, wide.instructions))


def test_the_sampler_reads_no_row_by_its_index():
    mask, uniform = jnp.zeros((64, 1023), bool), jnp.zeros(64)
    text = jax.jit(jax.vmap(sample_legal)).lower(mask, uniform).as_text()
    assert re.search(r"stablehlo\.reduce", text)
    assert not re.findall(r"stablehlo\.(?:\w*gather|\w*scatter|dynamic_\w*slice)", text)


@pytest.mark.slow
def test_the_recorded_games_end_as_they_did_in_the_form_for_a_gpu():
    """Minutes, nearly all of it compiling."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.as_gpu", "tests/replays/test_golden.py"]
    command += ["-q", "-k", "ends_as_it_did", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("program", ["step", "train"])
@pytest.mark.parametrize("target", ["v5e", "h100"])
def test_a_compiled_program_keeps_its_budget(target, program):
    """Minutes, all of it compiling."""
    python = os.environ.get("GAIA_JAX_TPU", sys.executable)
    command = [python, "-m", "benchmarks.offline", target, program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if "no compiler for" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert offline.faults(report, offline.recorded(target, program)) == []
