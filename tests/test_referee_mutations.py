"""Wrong rules planted in the engine are noticed by the duel."""

import inspect
import subprocess
import sys


def test_every_planted_error_is_noticed() -> None:
    # A process of its own: the errors are put into the modules of the engine. Some 70 seconds.
    command = [sys.executable, "-m", "tests.referee.mutations"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_every_planted_error_fits_the_function_that_it_changes() -> None:
    """A new parameter of a rule shows here at once, and by name."""
    from tests.referee.mutations import ERRORS

    fits = [error for error in ERRORS if error.where in ("before", "after", "inside")]
    assert len(fits) > 20
    for error in fits:
        target = error.target[-1] if isinstance(error.target, tuple) else error.target
        taken = [x for x in inspect.signature(target).parameters.values() if x.default is x.empty]
        given = len(taken) + (error.where != "before")  # what comes out goes in first
        inspect.signature(error.change).bind(*range(1 + given))
