"""Make docs/reference/factions.md from the table of the factions: what each has, can and must.

    python -m tools.factions_page > docs/reference/factions.md

A power is a field of `Faction` that is not the default. Its sentence and its rulings stand in
`gaia_jax/render/faction_powers.py`; the chapters where it acts are found by its name in
`gaia_jax/rules/`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from gaia_jax.components.common import Gain
from gaia_jax.components.factions import FACTIONS, Faction
from gaia_jax.components.research import LEVEL_BONUS, TRACKS
from gaia_jax.render.faction_powers import OWN_RULINGS, POWERS, SPECIAL_RULINGS, amounts

ROOT = Path(__file__).resolve().parent.parent
RULES, SCENARIOS = ROOT / "gaia_jax" / "rules", ROOT / "tests" / "scenarios"
COMMON = Faction(id="", name="", board=0, home="", start_planet="")


@cache
def _sources() -> dict[str, str]:
    return {chapter_of(path): path.read_text() for path in sorted(RULES.rglob("*.py"))}


def chapter_of(path: Path) -> str:
    """A module of `rules/` by its path there: `mine`, `federation`, `federation/paths`."""
    return path.relative_to(RULES).with_suffix("").as_posix().removesuffix("/__init__")


def chapters(field: str) -> list[str]:
    """The modules of gaia_jax/rules where a power acts."""
    power = POWERS[field]
    names = power.columns or (field,)
    found = [
        stem
        for stem, text in _sources().items()
        if any(f"{holder}.{name}" in text for name in names for holder in ("faction", "f"))
    ]
    return sorted({*found, *power.chapters})


def rulings(faction: Faction, field: str) -> str:
    """The ids of the rulings on a power, with commas."""
    own = {
        "special": SPECIAL_RULINGS.get(faction.special or "", ""),
        "free_actions": OWN_RULINGS.get(faction.id, ""),
    }
    return ", ".join(own.get(field, POWERS[field].rulings).split())


def scenarios(faction: Faction) -> list[str]:
    """The files of scenario tests that bear the faction's name."""
    return [p.name for p in sorted(SCENARIOS.glob(f"test_faction_*{faction.id.lower()}*.py"))]


def _as_received(faction: Faction, gain: Gain) -> str:
    """What the faction has of a gain before academy B stands."""
    if faction.qic_becomes_ore_until_academy_b and gain.qic:
        gain = replace(gain, ore=gain.ore + gain.qic, qic=0)
    return amounts(gain)


def _bonus(faction: Faction) -> str:
    levels = [f"{track} {n}" for track, n in zip(TRACKS, faction.start_tracks, strict=True) if n]
    gains = [
        _as_received(faction, LEVEL_BONUS[i][level])
        for i, level in enumerate(faction.start_tracks)
        if level and LEVEL_BONUS[i][level] != Gain()
    ]
    return " and ".join(levels) + (f" (brings {', '.join(gains)})" if gains else "")


def section(faction: Faction) -> str:
    """The Markdown of one faction."""
    counts = ", ".join(f"{n} {name}" for name, n in faction.start_structures)
    bowls = "/".join(str(n) for n in faction.start_power)
    home = f"home {faction.home}" if faction.home else "no home colour"
    lines = [
        f"## {faction.name}",
        "",
        f"`{faction.id}`, board {faction.board + 1}, {home}. Starts with {counts} on"
        f" {faction.start_planet}: {amounts(faction.start)}; bowls {bowls}.",
        "",
        f"- Tracks at the start: {_bonus(faction) or 'all at 0'}.",
        f"- Income of the board: {amounts(faction.base_income)}; of the PI:"
        f" {amounts(faction.pi_income)}.",
    ]
    for field in POWERS:
        if getattr(faction, field) != getattr(COMMON, field):
            sentence = POWERS[field].say(faction)
            where = ", ".join(f"`{chapter}`" for chapter in chapters(field))
            lines.append(
                f"- {sentence[0].upper()}{sentence[1:]}. *{rulings(faction, field)}; {where}*"
            )
    if tests := scenarios(faction):
        lines += ["", "Scenarios: " + ", ".join(f"`tests/scenarios/{name}`" for name in tests)]
    return "\n".join(lines)


def page() -> str:
    """The whole page."""
    common = [
        f"- Start: {amounts(COMMON.start)}; bowls {'/'.join(map(str, COMMON.start_power))};"
        " two mines; all tracks at 0.",
        f"- Income: of the board {amounts(COMMON.base_income)}; of the mines"
        f" {' '.join(map(str, COMMON.mine_income_ore))} ore; of the stations"
        f" {' '.join(str(g.credits) for g in COMMON.ts_income)} credits; of each lab"
        f" {amounts(COMMON.rl_income[0])}; of the PI {amounts(COMMON.pi_income)}; of academy A"
        f" {amounts(COMMON.academy_a_income)}.",
        f"- Academy B: once a round {amounts(COMMON.academy_b_action)}.",
        f"- A shuttle costs {amounts(COMMON.shuttle_cost)}, {COMMON.shuttles} in all; a Gaia planet"
        f" {amounts(COMMON.gaia_planet_cost)}; a federation needs"
        f" {COMMON.federation_requirement} power.",
    ]
    head = [
        "# The factions",
        "",
        "Generated by `python -m tools.factions_page > docs/reference/factions.md` from",
        "`gaia_jax/components/factions.py`. In italics: the rulings on a power, then its modules",
        "in `gaia_jax/rules/`.",
        "",
        "Defaults for everything that a section does not mention:",
        "",
        *common,
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(section(f) for f in FACTIONS) + "\n"


if __name__ == "__main__":
    print(page(), end="")
