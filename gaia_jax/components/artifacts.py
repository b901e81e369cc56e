"""The 13 artifacts (SET-20, ART-01 to ART-07)."""

from dataclasses import dataclass

from gaia_jax.components.common import NOTHING, Cost, Gain, Per


@dataclass(frozen=True)
class Artifact:
    """An artifact. `virtual_mine` is the planet type that it counts as a mine on (ART-03)."""

    id: str
    gain: Gain[int] = NOTHING
    per: Per[int] | None = None
    income: Gain[int] = NOTHING
    virtual_mine: str | None = None
    retrigger: bool = False  # an own federation token again


ARTIFACTS = (
    Artifact("ART-PP-MINE", Gain(vp=7), virtual_mine="Proto"),
    Artifact("ART-AS-MINE", Gain(vp=7), virtual_mine="Asteroid"),
    Artifact("ART-K-QIC", Gain(knowledge=3, qic=1)),
    Artifact("ART-ORE-CRED", Gain(ore=3, credits=5)),
    Artifact("ART-FED-BOOST", retrigger=True),
    Artifact("ART-SCI-VP", per=Per("science_level", vp=3)),
    Artifact("ART-GAIA-VP", per=Per("gaia_level", vp=3)),
    Artifact("ART-TYPE-VP", Gain(vp=3), per=Per("planet_types", vp=1)),
    Artifact("ART-DEEP-VP", per=Per("deep_sectors", vp=3)),
    Artifact("ART-CREATE-POWER", income=Gain(tokens_iii=2)),
    Artifact("ART-KNO1ORE1", income=Gain(knowledge=1, ore=1)),
    Artifact("ART-ORE3CR3", Gain(ore=3, credits=3)),
    Artifact("ART-RS3VP", per=Per("tracks_at_3", vp=3)),
)

ARTIFACT_COST = Cost(tokens=6)
