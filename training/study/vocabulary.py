"""Plain names for the ids in the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gaia_jax.render.names import names, say
from gaia_jax.ruleset import Ruleset

from ..stats.effects import Effect

# The kind of `ruleset.ids` that the effects of a question are named by.
KINDS = {
    "factions": "faction", "won": "faction", "against": "faction", "with, at the table": "faction",
    "levels": "track", "research": "track",
    "sources": "vp_source", "source_means": "vp_source", "source of VP": "vp_source",
    "in_play_boosters": "booster", "booster in the game": "booster",
    "in_play_advanced_tiles": "advanced", "taken_advanced_tiles_by_name": "advanced",
    "in_play_artifacts": "artifact", "taken_artifacts_by_name": "artifact",
    "in_play_ship_tokens": "token", "in_play_tf5_token": "token",
    "taken_ship_tokens_by_name": "token",
    "in_play_final_missions": "final_mission", "final mission in the game": "final_mission",
    "round_tiles": "round_tile", "round_tiles_1": "round_tile", "round_tiles_6": "round_tile",
    "round tile in the game": "round_tile",
}  # fmt: skip
# Their effects are named by kinds of action.
ACTION_QUESTIONS = ("taken_", "openings_", "leech", "first two main actions")
VERBS = {"mine": "a mine", "project": "a Gaia project", "upgrade": "an upgrade", "-": "nothing"}
MOVES = {
    "1 to move": "first to move", "2 to move": "second", "3 to move": "third",
    "4 to move": "fourth",
}  # fmt: skip


class Vocabulary:
    """Plain names of a ruleset."""

    def __init__(self, ruleset: Ruleset):
        by_kind = names(ruleset)
        sources = {**by_kind["vp_source"], "FINAL": "final missions"}
        self.ruleset, self.names = ruleset, {**by_kind, "vp_source": sources}

    def faction(self, id: str) -> str:
        """A faction's name."""
        return self.names["faction"].get(id, id)

    def name(self, question: str, id: str) -> str:
        """The name of the effect `id` of a question."""
        if question in KINDS:
            return self.names[KINDS[question]].get(id, id)
        if question in ("opponents", "pairs"):
            return " with ".join(self.faction(name) for name in id.split(" with "))
        if question.startswith(ACTION_QUESTIONS):
            return ", then ".join(self._action(kind) for kind in id.split(" / "))
        return MOVES.get(id, id)

    def _action(self, kind: str) -> str:
        """A kind of action, without its cell."""
        if kind in self.ruleset.actions.by_text:
            return say(self.ruleset, kind)
        return VERBS.get(kind, kind.replace("_", " "))

    def rename(self, question: str, effects: Sequence[Effect]) -> list[Effect]:
        """The effects with plain names; equal names are numbered."""
        plain = [self.name(question, e.name) for e in effects]
        total, seen = Counter(plain), Counter[str]()
        renamed = []
        for effect, name in zip(effects, plain, strict=True):
            seen[name] += 1
            number = f" (no. {seen[name]})" if total[name] > 1 else ""
            renamed.append(effect._replace(name=name + number))
        return renamed
