"""Compile one task of the server, into the compilation cache.

python -m training.play.compile_task lost_fleet 4 prices
python -m training.play.compile_task lost_fleet 4 playouts zoo/strong
"""

from __future__ import annotations

import sys

from ..system.cli import prepare, start_jax
from .advisers import Adviser
from .agent_pool import AgentProgram, compile_program
from .compile_process import PLAYOUTS, PRICES, RULES, end_with_parent
from .compiled_rules import Rules


def main(ruleset: str, players: str, part: str, agent: str = "") -> None:
    """Compile a task, as of `compile_elsewhere`."""
    end_with_parent()
    prepare()
    start_jax()
    rules = Rules(ruleset, int(players))
    if part == RULES:
        rules.prepare()
    elif part == PRICES:
        rules.prepare_prices()
    elif part == PLAYOUTS:
        Adviser(rules, agent).prepare(print)
    else:
        compile_program(AgentProgram(agent, part), rules)


if __name__ == "__main__":
    main(*sys.argv[1:])
