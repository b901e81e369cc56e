"""Compile one task of the server, into the compilation cache.

python -m training.play.compile_task SERVER_PROCESS lost_fleet 4 prices
python -m training.play.compile_task SERVER_PROCESS lost_fleet 4 playouts zoo/strong
"""

from __future__ import annotations

import sys

from ..system.signals import end_with_parent


def main(server: str, ruleset: str, players: str, part: str, agent: str = "") -> None:
    """Compile a task, as of `compile_elsewhere`, unless the server has ended."""
    end_with_parent(int(server))
    from ..system.cli import prepare, start_jax  # JAX takes seconds, in which the server may end
    from .advisers import Adviser
    from .agent_pool import AgentProgram, compile_program
    from .compile_process import PLAYOUTS, PRICES, RULES
    from .compiled_rules import Rules

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
