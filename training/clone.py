"""Clone an expert: learn its choices and the values of its games from `training.labels`.

    python -m training.clone --labels runs/labels --config configs/quick.yaml --out runs/clone.npz

The policy learns softmax(logits of the candidates / temperature), the values learn the remaining
rewards of each seat (`training/imitation/behaviour_cloning.py`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gaia_jax.cli import outputs
from gaia_jax.cli.command_line import number, whole, wrote

from .system import cli

MINIBATCHES = (1, 2, 4, 8, 16, 32, 64)  # divide the steps of a chunk, `expert_data.STEPS`


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    args = _parse(argv)
    from .imitation import behaviour_cloning

    outputs.check_file("--out", args.out, outputs.nothing)
    hyper = behaviour_cloning.CloneConfig(
        args.start, args.passes, args.minibatches, args.temperature, args.lr, args.value_coef
    )
    behaviour_cloning.clone(args.labels, args.config, args.overrides, hyper, args.out)
    wrote(args.out)
    return 0


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = cli.Parser("python -m training.clone", __doc__, cache_flag=True)
    add = parser.add_argument
    add("--labels", metavar="DIR", type=Path, nargs="+", required=True, help="folder of labels")
    add("--config", metavar="FILE", default="configs/quick.yaml", help="its network")
    add("--out", metavar="FILE", type=Path, required=True, help="write the network here, an npz")
    add("--start", metavar="FILE", type=Path, help="an npz to start from")
    add("--passes", type=whole(1, 1000), default=2, help="number of passes over all labels")
    add(
        "--minibatches", type=int, choices=MINIBATCHES, default=16,
        help="minibatches of a chunk of labels",
    )  # fmt: skip
    add(
        "--temperature", type=number(1e-3, 1e6), default=0.5,
        help="divides the candidates' values; 1 for a search",
    )  # fmt: skip
    add("--lr", type=number(0, 1), default=2e-3, help="learning rate; falls to a tenth at the end")
    add("--value-coef", type=number(0, 1e6), default=0.2, help="weight of the values in the loss")
    add("overrides", nargs="*", metavar="key=value", help="e.g. network.width=128")
    return parser.parse_intermixed_args(argv)


if __name__ == "__main__":
    sys.exit(cli.run(main))
