"""Wrong rules planted in the engine are noticed by the duel."""

import inspect
import subprocess
import sys

import pytest

# Planting errors and tracing the engine with them, as `mutations` does, without a compilation.
TRACED = """
import jax, jax.numpy as jnp
from tests.referee.mutations import ERRORS, PlantedEngine
engine = PlantedEngine(ERRORS, [-1, 0])
keys = jax.random.split(jax.random.key(0), 2)
setups = jax.eval_shape(jax.vmap(engine.env.draw_setup), keys)
states = jax.eval_shape(engine._init, setups)
jax.eval_shape(engine._step, states, jax.ShapeDtypeStruct((2,), jnp.int32))
"""


def _run(*command: str) -> None:
    # A process of its own: the errors are put into the modules of the engine.
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.slow
def test_every_planted_error_is_noticed() -> None:
    _run("-m", "tests.referee.mutations")


@pytest.mark.slow
def test_the_engine_is_traced_with_all_errors_in_it() -> None:
    """The test above takes two minutes and is run rarely; what errors do not fit in shows here."""
    _run("-c", TRACED)


def test_every_planted_error_fits_the_function_that_it_changes() -> None:
    """A new parameter of a rule shows here at once, and by name."""
    from tests.referee.mutations import ERRORS

    fits = [error for error in ERRORS if error.place in ("before", "after", "inside")]
    assert len(fits) > 20
    for error in fits:
        target = error.target[-1] if isinstance(error.target, tuple) else error.target
        parameters = inspect.signature(target).parameters.values()
        required = [x for x in parameters if x.default is x.empty]
        given = len(required) + (error.place != "before")  # what comes out goes in first
        inspect.signature(error.change).bind(*range(1 + given))
        if error.place != "before":  # what may be given by name is passed on by name
            optional = [x.name for x in parameters if x.default is not x.empty]
            inspect.signature(error.change).bind(*range(1 + given), **dict.fromkeys(optional))
