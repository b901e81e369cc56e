"""What a table of games says of federations, on positions with known answers."""

import jax
import jax.numpy as jnp
import pytest

from gaia_jax.ruleset import LOST_FLEET
from tests.scenarios.scene import POOR, form, scene
from training.games.federations import federation_power
from training.games.table import federations_by_round

# Power 3, 3, 2 and 1 on a line, a gap of one cell between them.
LINE = {"0,0": "PI", "2,0": "AC_A", "4,0": "TS", "6,0": "MINE"}


@pytest.mark.slow  # compiles a step for a quarter of a minute
def test_power_in_and_outside_of_a_federation() -> None:
    before = scene("TERRANS", planets=dict.fromkeys(LINE, "Red"), round=3).place(0, LINE)
    before = before.give(0, **POOR | {"power": (9, 0, 0)})
    after = form(before, "0,0", "2,0", "4,0")
    old, new = (jax.tree.map(lambda x: jnp.asarray(x)[None], t.game) for t in (before, after))
    read = jax.jit(federation_power(LOST_FLEET))
    power = {name: x[0, 0].item() for name, x in read(old).items()}
    assert power == {"satellites": 0, "surplus_power": 0, "unfederated_power": 9}
    power = {name: x[0, 0].item() for name, x in read(new).items()}
    assert power == {"satellites": 2, "surplus_power": 1, "unfederated_power": 1}

    deciders = jnp.zeros(1, int)
    assert federations_by_round(LOST_FLEET, old, new, deciders)[:, 0].tolist() == [
        number == 3 for number in range(1, 7)
    ]
    assert not federations_by_round(LOST_FLEET, new, new, deciders).any()
