"""Make docs/reference/names.md from `gaia_jax.render.names`: what every id of the game stands for.

python -m tools.names_page > docs/reference/names.md
"""

from __future__ import annotations

from pathlib import Path

from gaia_jax.render import names
from gaia_jax.ruleset import LOST_FLEET, RULESETS

ROOT = Path(__file__).resolve().parent.parent

# The kinds that are worth a chapter, in the order of the page.
CHAPTERS = {
    "booster": "Boosters",
    "round_tile": "Round tiles",
    "final_mission": "Final missions",
    "tile": "Basic tiles, and those of the ships (LF)",
    "advanced": "Advanced tiles",
    "token": "Federation tokens",
    "artifact": "Artifacts",
    "ship_action": "Actions of the ships",
    "power_action": "Power actions",
    "qic_action": "QIC actions",
    "free_action": "Free actions",
    "special": "Special actions",
    "tinkering": "Tinkering tiles",
    "income": "Parts of the income whose order can be chosen",
    "structure": "Structures",
    "vp_source": "Sources of VP",
    "count": "What tiles, boosters and missions count",
}
# Kinds whose ids are words already, or that are listed elsewhere.
LEFT_OUT = {"planet", "planet_type", "faction", "track", "advanced_slot", "ship", "sector", "event"}

HEAD = """\
# What the ids mean

Made by `python -m tools.names_page > docs/reference/names.md`; a test says whether it is
current. Actions, set-ups, datasets and findings name pieces by these ids. In a program
`gaia_jax.render.names(env.ruleset)["booster"]["RB12"]` says the same, and
`gaia_jax.render.say(env.ruleset, text)` puts a whole action into words. The ids of
`lost_fleet`; where another ruleset has something of its own, the last column says so.
"""


def rows(kind: str) -> list[tuple[str, str, str]]:
    """(id, what it is, which ruleset) of a kind: of `lost_fleet`, then what others have besides."""
    ours = dict(names(LOST_FLEET)[kind])
    found = [(id, text, "") for id, text in ours.items()]
    seen = set(ours.items())
    for ruleset in RULESETS.values():
        for id, text in names(ruleset)[kind].items():
            if (id, text) not in seen:
                seen.add((id, text))
                found.append((id, text, f"`{ruleset.id}`"))
    order = {id: place for place, id in enumerate(dict.fromkeys(id for id, *_ in found))}
    return sorted(found, key=lambda row: order[row[0]])


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for kind, title in CHAPTERS.items():
        lines += [f"## {title}", "", "| id | what it is | in |", "| --- | --- | --- |"]
        lines += [f"| `{id}` | {text} | {where} |" for id, text, where in rows(kind)]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
