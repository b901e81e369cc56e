"""Rare work for the rows that need it: right under every transformation, and only for those."""

import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from gaia_jax.xla import compact_vmap as module
from gaia_jax.xla.compact_vmap import Queue, chunk_rows, compact_vmap
from gaia_jax.xla.fusion_barrier import fusion_barrier
from tests.xla_flags import on_devices


def collatz(start, factor):
    """A loop of its own length for each row, and a second result of another shape and dtype."""

    def step(carry):
        n, count = carry
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    n, count = lax.while_loop(lambda c: c[0] > 1, step, (start, jnp.int32(0)))
    return {"count": count, "line": jnp.arange(3.0) * factor + n}


NEUTRAL = {"count": jnp.int32(-1), "line": jnp.full(3, -2.0)}


def expected(need, start, factor):
    run = jax.vmap(collatz)(start.reshape(-1), jnp.broadcast_to(factor, start.shape).reshape(-1))
    shape = start.shape
    return {
        "count": np.where(need, run["count"].reshape(shape), -1),
        "line": np.where(np.asarray(need)[..., None], run["line"].reshape(*shape, 3), -2.0),
    }


def rows(*shape, share=0.3):
    rng = np.random.default_rng(0)
    need = jnp.asarray(rng.random(shape) < share)
    start = jnp.asarray(rng.integers(1, 200, shape), jnp.int32)
    return need, start, jnp.asarray(rng.random(shape), jnp.float32)


def compact(need, start, factor):
    return compact_vmap(collatz, need, (start, factor), NEUTRAL)


def check(got, want):
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(np.asarray(a), b), got, want)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("need", [False, True])
def test_one_row(jit, need):
    need, start, factor = jnp.asarray(need), jnp.int32(27), jnp.float32(2)
    got = (jax.jit(compact) if jit else compact)(need, start, factor)
    check(got, expected(need, start, factor))


@pytest.mark.parametrize("size", [1, 8, 50])
def test_under_vmap(size):
    compact_rows = jax.jit(jax.vmap(compact))
    for share in (0.0, 0.1, 1.0):
        args = rows(size, share=share)
        check(compact_rows(*args), expected(*args))


@pytest.mark.parametrize("size", [1, 31, 32, 33, 200, 4096])
@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_the_queue_names_the_rows_in_need_in_their_order(size, share):
    need = np.random.default_rng(0).random(size) < share
    queue = Queue.of(jnp.asarray(need))
    assert queue.length == need.sum()
    np.testing.assert_array_equal(queue.kth(jnp.arange(need.sum())), np.flatnonzero(need))


def test_under_vmap_of_vmap_and_deeper():
    args = rows(5, 9)
    check(jax.jit(jax.vmap(jax.vmap(compact)))(*args), expected(*args))
    args = rows(3, 4, 5)
    check(jax.vmap(jax.vmap(jax.vmap(compact)))(*args), expected(*args))


def test_what_is_not_batched_is_the_same_for_all_rows():
    need, start, factor = rows(20)
    got = jax.vmap(compact, in_axes=(0, 0, None))(need, start, factor[0])
    check(got, expected(need, start, factor[0]))
    got = jax.vmap(compact, in_axes=(None, 0, 0))(jnp.asarray(True), start, factor)
    check(got, expected(np.ones(20, bool), start, factor))
    got = jax.vmap(compact, in_axes=(0, None, None))(need, start[0], factor[0])
    check(got, expected(need, jnp.full(20, start[0]), factor[0]))
    got = jax.vmap(jax.vmap(compact, in_axes=(0, 0, None)), in_axes=(0, None, 0))(
        need.reshape(4, 5), start[:5], factor[:4]
    )
    check(got, expected(need.reshape(4, 5), jnp.tile(start[:5], (4, 1)), factor[:4, None]))


def test_inside_scan():
    need, start, factor = rows(6, 20)

    def step(total, row):
        out = jax.vmap(compact)(*row)
        return total + out["count"].sum(), out

    total, got = jax.jit(lambda *args: lax.scan(step, 0, args))(need, start, factor)
    want = expected(need, start, factor)
    check(got, want)
    assert total == want["count"].sum()


def test_a_batched_kernel_sees_the_rows_in_need_and_no_others():
    seen = []

    def kernel(live, value):
        jax.debug.callback(
            lambda live, value: seen.append((live.copy(), value.copy())), live, value
        )
        return value * 2

    @jax.jit
    @jax.vmap
    def doubled(need, value):
        return compact_vmap(kernel, need, (value,), jnp.int32(0), batched=True)

    value = jnp.arange(64) + 100
    for count in (0, 1, 8, 9, 30):
        seen.clear()
        need = jnp.arange(64) < count
        got = doubled(need, value)
        jax.effects_barrier()
        np.testing.assert_array_equal(got, np.where(need, value * 2, 0))
        assert len(seen) == -(-count // 8)
        assert sorted(v for live, values in seen for v in values[live]) == [
            *range(100, 100 + count)
        ]
        assert all(100 <= v < 100 + count for _, values in seen for v in values)


def test_the_chunk_follows_the_backend(monkeypatch):
    assert chunk_rows(1024) == 8
    assert chunk_rows(1024, cpu_chunk=32) == 32
    assert chunk_rows(5) == 5
    monkeypatch.setattr(module.jax, "default_backend", lambda: "gpu")
    assert chunk_rows(65536) == 8192
    assert chunk_rows(1024) == 128
    assert chunk_rows(32) == 32
    assert chunk_rows(65536, accelerator_chunks=16) == 4096
    args = rows(200)
    check(jax.jit(jax.vmap(compact))(*args), expected(*args))


def test_under_shard_map_each_device_sees_to_its_own_rows():
    program = """
        import jax, jax.numpy as jnp, numpy as np
        from jax.sharding import PartitionSpec as P
        from tests.xla.test_compact_vmap import check, compact, expected, rows

        assert jax.device_count() == 4
        mesh = jax.make_mesh((4,), ("games",))
        args = rows(80)
        spec = P("games")
        step = jax.jit(
            jax.shard_map(
                jax.vmap(compact), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False
            )
        )
        sharding = jax.sharding.NamedSharding(mesh, spec)
        placed = jax.device_put(args, sharding)
        check(step(*placed), expected(*args))
        text = step.lower(*placed).compile().as_text()
        for collective in ("all-gather", "all-reduce", "all-to-all", "collective-permute"):
            assert collective not in text, collective
        print("as it should be")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=Path(__file__).parents[2],
        env=on_devices(4),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "as it should be" in done.stdout


TABLE = np.arange(100, 110)


@pytest.mark.parametrize("kind", ["barrier", "compact"])
def test_a_kernel_with_a_table_stands_in_a_branch_that_some_rows_take(kind):
    """`pgx.experimental.auto_reset` has a step and an init in a `cond` of each row's own."""

    def lookup(x):
        return jnp.asarray(TABLE)[x]

    def row(x, pred):
        def kernel():
            if kind == "barrier":
                return fusion_barrier(lookup, x > 0, (x,), jnp.int32(0) * x)
            return compact_vmap(lookup, x > 0, (x,), jnp.int32(0) * x)

        return lax.cond(pred, kernel, lambda: -x)

    pred = jnp.array([True, False, True, False, True])
    x = jnp.arange(5, dtype=jnp.int32)
    right = [0, -1, 102, -3, 104]
    if kind == "barrier":  # any row counts for all
        right[0] = 100
    assert jax.jit(jax.vmap(row))(x, pred).tolist() == right
    assert [int(jax.jit(row)(a, b)) for a, b in zip(x[1:], pred[1:], strict=True)] == right[1:]
    both = jax.jit(jax.vmap(jax.vmap(row)))(x[None], pred[None])
    assert both.tolist() == [right]
