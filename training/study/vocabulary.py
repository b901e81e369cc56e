"""Plain names for the ids in the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gaia_jax.render.names import names, say
from gaia_jax.ruleset import Ruleset

from ..stats.effects import Effect

# Question -> key of `ruleset.ids`, whose ids are the names of the effects.
ID_KINDS = {
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
# Prefixes of the questions whose effects have kinds of action as names.
ACTION_QUESTIONS = ("taken_", "openings_", "leech", "first two main actions")
ACTION_NAMES = {
    "mine": "a mine",
    "project": "a Gaia project",
    "upgrade": "an upgrade",
    "-": "nothing",
}
TURN_ORDER_NAMES = {
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
        """The plain name of the effect `id` of a question."""
        if question in ID_KINDS:
            return self.names[ID_KINDS[question]].get(id, id)
        if question in ("opponents", "pairs"):
            return " with ".join(self.faction(name) for name in id.split(" with "))
        if question.startswith(ACTION_QUESTIONS):
            return ", then ".join(self._action_name(kind) for kind in id.split(" / "))
        return TURN_ORDER_NAMES.get(id, id)

    def _action_name(self, kind: str) -> str:
        """A kind of action, without its cell."""
        if kind in self.ruleset.actions.by_text:
            return say(self.ruleset, kind)
        return ACTION_NAMES.get(kind, kind.replace("_", " "))

    def rename(self, question: str, effects: Sequence[Effect]) -> list[Effect]:
        """Replace the ids in effects by plain names; equal names get a number."""
        plain_names = [self.name(question, e.name) for e in effects]
        num_uses, num_seen = Counter(plain_names), Counter[str]()
        renamed = []
        for effect, name in zip(effects, plain_names, strict=True):
            num_seen[name] += 1
            number = f" (no. {num_seen[name]})" if num_uses[name] > 1 else ""
            renamed.append(effect._replace(name=name + number))
        return renamed
