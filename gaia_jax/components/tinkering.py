"""The Tinkeroids' six tinkering tiles: three for rounds 1-3, three for rounds 4-6 (TIN)."""

from dataclasses import dataclass

from gaia_jax.components.common import NOTHING, Gain


@dataclass(frozen=True)
class TinkeringTile:
    """One of the tiles. With `free_steps` its action is a mine with that many free steps."""

    id: str
    rounds: tuple[int, int, int]
    gain: Gain[int] = NOTHING
    free_steps: int = 0


_EARLY = (1, 2, 3)
_LATE = (4, 5, 6)
TINKERING_TILES = (
    TinkeringTile("TK-EARLY-PW4", _EARLY, Gain(charge=4)),
    TinkeringTile("TK-EARLY-TF1", _EARLY, free_steps=1),
    TinkeringTile("TK-EARLY-QIC1", _EARLY, Gain(qic=1)),
    TinkeringTile("TK-LATE-TF3", _LATE, free_steps=3),
    TinkeringTile("TK-LATE-QIC3", _LATE, Gain(qic=3)),
    TinkeringTile("TK-LATE-KN3", _LATE, Gain(knowledge=3)),
)
