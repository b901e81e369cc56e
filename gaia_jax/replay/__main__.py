"""`python -m gaia_jax.replay FILE`."""

import sys

from gaia_jax.replay.command import main

if __name__ == "__main__":
    sys.exit(main(keep=True))
