"""Federation tokens: the common supply, the Gleens' own, those of the ships (SET-22 to SET-24)."""

from dataclasses import dataclass

from gaia_jax.components.common import Gain


@dataclass(frozen=True)
class FederationToken:
    """A token. Green ones can be flipped for an advanced tile or a level 5 (TEC-06, RES-02).

    Effects: RANGE_MINE is a mine at unlimited range, TF3_MINE a mine with up to 3 free steps, both
    with the base cost waived; TECH is a tech tile.
    """

    id: str
    gain: Gain[int]
    copies: int
    green: bool = True
    effect: str | None = None


BASE_TOKENS = (
    FederationToken("FT_12VP", Gain(vp=12), 3, green=False),
    FederationToken("FT_8VP_QIC", Gain(vp=8, qic=1), 3),
    FederationToken("FT_8VP_2PT", Gain(vp=8, tokens=2), 3),
    FederationToken("FT_7VP_2O", Gain(vp=7, ore=2), 3),
    FederationToken("FT_7VP_6C", Gain(vp=7, credits=6), 3),
    FederationToken("FT_6VP_2K", Gain(vp=6, knowledge=2), 3),
)

GLEENS_TOKEN = FederationToken("FT_GLEENS", Gain(ore=1, knowledge=1, credits=2), 1)

SHIP_TOKENS = (
    FederationToken("SFT_12VP", Gain(vp=12), 1),
    FederationToken("SFT_8VP_8C", Gain(vp=8, credits=8), 1),
    FederationToken("SFT_4VP_4K", Gain(vp=4, knowledge=4), 1),
    FederationToken("SFT_4VP_2O_1Q", Gain(vp=4, ore=2, qic=1), 1),
    FederationToken("SFT_7VP_2PT3", Gain(vp=7, tokens_iii=2), 1),
    FederationToken("SFT_RANGE_MINE", Gain(), 1, effect="RANGE_MINE"),
    FederationToken("SFT_TF3_MINE", Gain(), 1, effect="TF3_MINE"),
    FederationToken("SFT_TECH", Gain(), 1, effect="TECH"),
)

TF3_MINE_FREE_STEPS = 3
