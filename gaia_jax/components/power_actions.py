"""The seven power actions of the research board (ACT-01, ACT-02)."""

from dataclasses import dataclass

from gaia_jax.components.common import NOTHING, Cost, Gain


@dataclass(frozen=True)
class PowerAction:
    """Once a round for the whole table; with `free_steps` a mine with that many free steps."""

    id: str
    cost: Cost[int]
    gain: Gain[int] = NOTHING
    free_steps: int = 0


POWER_ACTIONS = (
    PowerAction("PA_TF1", Cost(power=3), free_steps=1),
    PowerAction("PA_2PT", Cost(power=3), Gain(tokens=2)),
    PowerAction("PA_7C", Cost(power=4), Gain(credits=7)),
    PowerAction("PA_2O", Cost(power=4), Gain(ore=2)),
    PowerAction("PA_2K", Cost(power=4), Gain(knowledge=2)),
    PowerAction("PA_TF2", Cost(power=5), free_steps=2),
    PowerAction("PA_3K", Cost(power=7), Gain(knowledge=3)),
)
