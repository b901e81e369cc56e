"""The measuring instruments: counts of instructions and bytes, parts of a profile, devices."""

import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from benchmarks import hlo, measure, profile, throughput


def test_instructions_are_counted_inside_fusions_and_loops_too():
    text = """HloModule jit_f

%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %sine.1 = f32[8]{0} sine(%p), metadata={op_name="jit(f)/sin"}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %fusion = f32[8]{0} fusion(%x), kind=kLoop, calls=%body
}
"""
    assert hlo.count_instructions(text) == 4


def test_bytes_of_a_tree():
    tree = {"a": jnp.zeros((3, 4), jnp.int8), "b": jax.ShapeDtypeStruct((5,), jnp.float32)}
    assert measure.tree_bytes(tree) == 12 + 20


def test_an_unknown_peer_is_one_clear_line(capsys):
    assert throughput.main(["--peers-only", "--peers", "checkers"]) == 1
    assert "unknown peer 'checkers'; known: chess" in capsys.readouterr().err


HLO = """
%fused (a: s8[4,2]) -> s8[4,2] {
  %a = s8[4,2]{1,0} parameter(0)
}
ENTRY %main {
  %state = s8[4,2]{1,0} parameter(0)
  %uses.1 = s16[4]{0} fusion(%state), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/vmap(legal_mask)/uses/cond/or"}
  ROOT %copy.1 = s16[4]{0} copy(%uses.1)
}
"""  # noqa: E501


def test_a_profile_books_each_instruction_to_the_innermost_part_with_its_bytes():
    instructions = {line.name: line for line in hlo.read(HLO).instructions}
    uses = instructions["uses.1"]
    assert (uses.kind, profile.part_of(uses.scope)) == ("fusion", "uses")
    assert uses.moved == 4 * 2 * 1 + 4 * 2
    assert profile.part_of("jit(f)/vmap(legal_mask)/or") == "legal_mask"
    assert profile.part_of(instructions["copy.1"].scope) == profile.OTHER


@pytest.mark.slow
def test_on_two_devices_each_plays_its_own_games_and_all_are_counted():
    program = """
        import jax, jax.numpy as jnp, numpy as np
        from typing import NamedTuple
        from benchmarks import measure
        from benchmarks.peers import Contender

        measure.split_cpu(2)

        class State(NamedTuple):
            legal_action_mask: jax.Array
            terminated: jax.Array
            truncated: jax.Array
            age: jax.Array
            games: jax.Array
            drawn: jax.Array

        def reset(key):
            no = jnp.zeros((), bool)
            return State(jnp.ones(100, bool), no, no, *jnp.zeros((3,), jnp.int32))

        def play(state, action, key):
            over = state.age == 4
            return state._replace(
                terminated=over,
                age=jnp.where(over, 0, state.age + 1),
                games=state.games + over,
                drawn=state.drawn + action,
            )

        toy = Contender("toy", "0", 100, reset, play, play)
        runner = measure.Runner(toy, 8, steps=6, observe=False, burn_in=12, seed=0)
        before = jax.device_get(runner._state)
        counted = runner.ended
        runner.chunks(5)
        after = runner._state
        assert len(after.age.sharding.device_set) == 2
        played = 5 * (after.games - before.games) + after.age - before.age
        np.testing.assert_array_equal(played, 30)
        assert runner.ended - counted == np.sum(after.games - before.games) > 0
        drawn = np.asarray(after.drawn - before.drawn)
        assert (drawn[:4] != drawn[4:]).all(), "both devices drew alike"
        print("as it should be")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "as it should be\n", done.stderr
