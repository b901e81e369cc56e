"""Command lines in tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from training.system import cli


def run_command(
    capsys: pytest.CaptureFixture[str], main: Callable[..., int], face: Any, *arguments: object
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, with the errors that its user sees.

    Args:
        main: its function.
        face: what makes its environments.
    """
    code = cli.run(lambda: main([str(x) for x in arguments], face))
    out = capsys.readouterr()
    return code, out.out, out.err
