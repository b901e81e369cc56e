"""`python -m gaia_jax.replay FILE`."""

import sys

from gaia_jax.replay.command import main
from gaia_jax.xla.compilation_cache import enable_compilation_cache

if __name__ == "__main__":
    enable_compilation_cache()
    sys.exit(main())
