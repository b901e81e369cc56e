"""Free actions: conversions before and after the main action (FRE-01 to FRE-12)."""

from dataclasses import dataclass

from gaia_jax.components.common import FREE, NOTHING, Cost, Gain


@dataclass(frozen=True)
class FreeAction:
    """A conversion, with `faction` only of that faction, with `needs_pi` only if it has its PI."""

    id: str
    cost: Cost[int] = FREE
    gain: Gain[int] = NOTHING
    burn: bool = False  # of two tokens in bowl II one leaves the game, one moves to bowl III
    faction: str | None = None
    needs_pi: bool = False
    gaiaformer: int = 0  # available gaiaformers that go to the Gaia area
    tokens_to_gaia: int = 0  # tokens that go from bowl III to the Gaia area
    reverses_brainstone: bool = False  # for this turn it takes the other place in payments (A21)


@dataclass(frozen=True)
class Bundle:
    """A conversion priced in whole tokens, not in power."""

    id: str
    tokens: int
    gain: Gain[int]


FREE_ACTIONS = (
    FreeAction("K_to_C", Cost(knowledge=1), Gain(credits=1)),
    FreeAction("O_to_C", Cost(ore=1), Gain(credits=1)),
    FreeAction("Q_to_O", Cost(qic=1), Gain(ore=1)),
    # Into the faction's `ore_token_bowl`: I, for Xenos III (XEN-01).
    FreeAction("O_to_token", Cost(ore=1), Gain(tokens=1)),
    FreeAction("burn", burn=True),
    FreeAction("P1_to_C", Cost(power=1), Gain(credits=1)),
    FreeAction("P3_to_O", Cost(power=3), Gain(ore=1)),
    FreeAction("P4_to_K", Cost(power=4), Gain(knowledge=1)),
    FreeAction("P4_to_Q", Cost(power=4), Gain(qic=1)),
    FreeAction(
        "C4_to_K", Cost(credits=4), Gain(knowledge=1), faction="HADSCH_HALLAS", needs_pi=True
    ),
    FreeAction("C3_to_O", Cost(credits=3), Gain(ore=1), faction="HADSCH_HALLAS", needs_pi=True),
    FreeAction("C4_to_Q", Cost(credits=4), Gain(qic=1), faction="HADSCH_HALLAS", needs_pi=True),
    FreeAction("GF_to_Q", gain=Gain(qic=1), faction="BAL_TAKS", gaiaformer=1),
    FreeAction("T_to_K", gain=Gain(knowledge=1), faction="NEVLAS", tokens_to_gaia=1),
    # Three tokens, each worth 2 power with the PI.
    FreeAction("T3_to_2O", Cost(power=6), Gain(ore=2), faction="NEVLAS", needs_pi=True),
    FreeAction("brainstone", faction="TAKLONS", reverses_brainstone=True),
)

# The Nevlas with their PI convert whole tokens from bowl III to bowl I; these rows replace those
# of the same id above (FRE-07).
NEVLAS_PI_BUNDLES = (
    Bundle("P1_to_C", 1, Gain(credits=2)),
    Bundle("P3_to_O", 2, Gain(ore=1, credits=1)),
    Bundle("P4_to_K", 2, Gain(knowledge=1)),
    Bundle("P4_to_Q", 2, Gain(qic=1)),
    Bundle("T3_to_2O", 3, Gain(ore=2)),
)

# Terrans with their PI, Gaia phase: what the tokens that return from the Gaia area also buy. The
# free actions of the same ids name these at TERRANS; each token left over brings TERRANS_REST
# (GAI-08).
TERRANS_CONVERSIONS = (
    Bundle("P4_to_Q", 4, Gain(qic=1)),
    Bundle("P3_to_O", 3, Gain(ore=1)),
    Bundle("P4_to_K", 4, Gain(knowledge=1)),
)
TERRANS_REST = Bundle("P1_to_C", 1, Gain(credits=1))

# Itars with their PI, Gaia phase: tokens of the Gaia area given up for one tech tile.
ITARS_TOKENS_PER_TILE = 4

# Free actions of one turn at most (ROU-08).
FREE_ACTIONS_PER_TURN = 64
