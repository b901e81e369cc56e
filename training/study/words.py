"""What the things of a question are called: plain names in the place of ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gaia_jax.render.names import names, say
from gaia_jax.ruleset import Ruleset

from ..stats.effects import Effect

# What the effects of a question are named by: a kind of `ruleset.ids`. The others are named by
# actions, or in words already.
KINDS = {
    "factions": "faction",
    "won": "faction",
    "tracks": "track",
    "sources": "vp_source",
    "source_means": "vp_source",
    "in_play_boosters": "booster",
    "in_play_advanced_tiles": "advanced",
    "in_play_artifacts": "artifact",
    "in_play_ship_tokens": "token",
    "in_play_final_missions": "final_mission",
    "in_play_tf5_token": "token",
    "round_tiles": "round_tile",
    "round_tiles_1": "round_tile",
    "round_tiles_6": "round_tile",
    "against": "faction",
    "taken_advanced_tiles_by_name": "advanced",
    "taken_artifacts_by_name": "artifact",
    "taken_ship_tokens_by_name": "token",
}
ACTED = ("taken_", "openings_", "leech")  # named by kinds of action
BARE = {"mine": "a mine", "project": "a Gaia project", "upgrade": "an upgrade", "-": "nothing"}
MOVES = ("1 to move", "2 to move", "3 to move", "4 to move")
SEATS = dict(zip(MOVES, ("first to move", "second", "third", "fourth"), strict=True))


# Rows of the page of factions that the front page has a finding of.
LEVELS, MISSIONS = "research", "final mission in the game"


class Words:
    """Plain names of a ruleset."""

    def __init__(self, ruleset: Ruleset):
        known = names(ruleset)
        sources = {**known["vp_source"], "FINAL": "final missions"}
        self.ruleset, self.names = ruleset, {**known, "vp_source": sources}

    def faction(self, id: str) -> str:
        """A faction's name."""
        return self.names["faction"].get(id, id)

    def source(self, id: str) -> str:
        """A source of VP."""
        return self.names["vp_source"].get(id, id)

    def of(self, question: str, id: str) -> str:
        """What the effect `id` of a question is called."""
        if question in KINDS:
            return self.names[KINDS[question]].get(id, id)
        if question in ("opponents", "pairs"):
            return " with ".join(self.faction(name) for name in id.split(" with "))
        if question == "seats":
            return SEATS.get(id, id)
        if question.startswith(ACTED):
            return ", then ".join(self._action(part) for part in id.split(" / "))
        return id

    def _action(self, kind: str) -> str:
        """A kind of action, without its cell."""
        if kind in self.ruleset.actions.by_text:
            return say(self.ruleset, kind)
        return BARE.get(kind, kind.replace("_", " "))

    def all(self, question: str, found: Sequence[Effect]) -> list[Effect]:
        """The effects with plain names; what two things are called alike gets a number."""
        plain = [self.of(question, e.name) for e in found]
        count, met = Counter(plain), Counter[str]()
        out = []
        for effect, name in zip(found, plain, strict=True):
            met[name] += 1
            number = f" (no. {met[name]})" if count[name] > 1 else ""
            out.append(effect._replace(name=name + number))
        return out
