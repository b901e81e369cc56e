"""What the command lines share: the user's mistakes are one line on stderr and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable

from training.config import UserError


def run(main: Callable[[], int]) -> int:
    """Run `main`; a UserError becomes one line and the exit code 2, Ctrl-C the exit code 130."""
    try:
        return main()
    except UserError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
