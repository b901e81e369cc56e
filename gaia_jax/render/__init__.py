"""Pictures of the game: `svg(state)` of the whole table, `text(state)` for terminals.

    from gaia_jax import render
    open("table.svg", "w").write(render.svg(state, env.ruleset))

`in_words(effects(before, after))` describes the cost and gain of a decision, from two tables.

Own drawings, no publisher's art. It reads states with the counts of the rules and decides nothing.
"""

from gaia_jax.render.changes import Effects, effects, in_words
from gaia_jax.render.names import names, say, say_at
from gaia_jax.render.picture import svg
from gaia_jax.render.table import Table
from gaia_jax.render.terminal import text

__all__ = ["Effects", "Table", "effects", "in_words", "names", "say", "say_at", "svg", "text"]
