"""Metrics of the policy in training: VP by source, ends of games, verbs offered and chosen.

A mean of VP hides a collapse: a policy that stops exploring ships, or taking leech that costs VP,
never learns their value. These numbers show it within minutes, in `metrics.jsonl` and TensorBoard.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from ..types import AutoState, Environment, EnvState

SPLIT = ("leech", "free")  # verbs whose arguments are counted one by one


class Diagnostics:
    """Sums over decisions inside the compiled chunk, and their means outside of it."""

    def __init__(self, env: Environment):
        """`env`: an environment; without an index of actions only the sources are counted."""
        rules = env.ruleset
        self.players = env.num_players
        self.sources = tuple(rules.ids["vp_source"])
        automa = getattr(rules, "automa", None)
        self.levels = tuple(level.id for level in automa.levels) if automa else ()
        self._ranges: dict[str, tuple[int, int]] = {}
        self._describe: Any = None
        self._tracks: tuple[str, ...] = ()
        if hasattr(rules, "actions"):
            self._describe, self._tracks = behaviour_of(rules), tuple(rules.ids["track"])
            self._ranges = verb_ranges(rules)
        kind_of_action = np.zeros(env.num_actions, np.int32)
        for number, (first, last) in enumerate(self._ranges.values()):
            kind_of_action[first:last] = number
        self._verb = kind_of_action

    def step(self, before: EnvState, action: Array, after: AutoState) -> dict[str, Any]:
        """Sums over the games of one step; `before` and `after` are states (N,).

        How a game ended is read before its last decision, but for VP.
        """
        ended = after.terminated | after.truncated
        seats = ended[:, None] * jnp.ones((1, self.players))
        sources = after.final_source[:, : self.players]
        out: dict[str, Any] = {"sources": (sources * seats[..., None]).sum((0, 1))}
        if self.levels:
            out["levels"] = self._against_automa(before, after, ended)
        if self._describe is None:
            return out
        ends = self._describe(before.game)
        ends |= dict(
            zip(self._tracks, jnp.moveaxis(before.game.players.tracks, -1, 0), strict=True)
        )
        out["ends"] = {
            name: (x[:, : self.players] * seats).sum()
            for name, x in ends.items()
            if name != "order"
        }
        mask = before.legal_action_mask
        offered = [mask[:, a:b].any(-1) for a, b in self._ranges.values()]
        open_ = mask.sum(-1) > 1  # ignore decisions with one option
        out["offered"] = (jnp.stack(offered, -1) & open_[:, None]).sum(0, dtype=jnp.float32)
        number = jnp.arange(len(self._ranges))
        chosen = (jnp.asarray(self._verb)[action][:, None] == number) & open_[:, None]
        out["chosen"] = chosen.sum(0, dtype=jnp.float32)
        out["open"] = open_.sum(dtype=jnp.float32)
        return out

    def _against_automa(self, before: EnvState, after: AutoState, ended: Array) -> Array:
        """(levels, 3) float32, of solo games by level: how many ended, the wins, the VP ahead."""
        level = jax.nn.one_hot(before.game.setup.automa.level, len(self.levels)) * ended[:, None]
        ahead = (after.final_vp[:, 0] - after.final_vp[:, 1]).astype(jnp.float32)
        results = jnp.stack([jnp.ones_like(ahead), (jnp.sign(ahead) + 1) / 2, ahead], -1)
        return jnp.einsum("nl,nk->lk", level, results)

    def report(self, sums: dict[str, Any], games: float) -> dict[str, float]:
        """Means for the log: VP and ends a seat, how often a verb is offered and then chosen.

        Args:
            sums: of `step`, added up. games: how many ended.
        """
        seats = self.players * games if games else math.nan
        out = {f"vp/{k}": v / seats for k, v in zip(self.sources, sums["sources"], strict=True)}
        for level, (count, won, ahead) in zip(self.levels, sums.get("levels", ()), strict=True):
            if count:
                out |= {f"{level}/won": won / count, f"{level}/vp_ahead": ahead / count}
        if "ends" in sums:
            out |= {f"ends/{name}": float(x) / seats for name, x in sums["ends"].items()}
            for name, offered, chosen in zip(
                self._ranges, sums["offered"], sums["chosen"], strict=True
            ):
                out[f"offered/{name}"] = float(offered / max(sums["open"], 1))
                out[f"chosen/{name}"] = float(chosen / offered) if offered else math.nan
        return {name: float(x) for name, x in out.items()}


def verb_ranges(rules: Any) -> dict[str, tuple[int, int]]:
    """The actions of each verb, [first, last); arguments of `SPLIT` one by one."""
    space = rules.actions
    starts = sorted(set(space.first.values()))
    out = {}
    for verb, first in space.first.items():
        if verb in space.ids and not len(space.ids[verb]):
            continue
        later = [x for x in starts if x > first]
        last = later[0] if later else space.num_actions
        if verb in space.ids and verb in SPLIT:
            for i, argument in enumerate(space.ids[verb]):
                out[f"{verb} {argument}"] = (first + i, first + i + 1)
        else:
            out[verb] = (first, last)
    return out


def behaviour_of(rules: Any) -> Callable[[Any], dict[str, Array]]:
    """A function of ended games (B,) that gives the behaviour of their players, (B, P) by name.

    For rules without an index of actions it returns only `order` and `federations`.
    """
    has_actions = hasattr(rules, "actions")
    start = np.asarray(rules.tables.faction.start_tracks).sum(-1) if has_actions else np.zeros(1)

    def popcount(bits: Array) -> Array:
        return ((bits[..., None].astype(jnp.int32) >> jnp.arange(31)) & 1).sum(-1)

    def read(game: Any) -> dict[str, Array]:
        p = game.players
        values = {"order": jnp.argsort(game.setup.turn_order, axis=-1) + 1, "federations": p.formed}
        if has_actions:
            own = jnp.asarray(start)[game.setup.faction.astype(jnp.int32)]
            values |= {
                "advanced_tiles": popcount(p.advanced),
                "research_steps": p.tracks.astype(jnp.int32).sum(-1) - own,
                "ships": popcount(p.shuttles),
                "artifacts": popcount(p.artifacts),
                "credits_left": p.credits,
                "ore_left": p.ore,
                "knowledge_left": p.knowledge,
                "qic_left": p.qic,
                "tokens_left": p.power.astype(jnp.int32).sum(-1) + p.gaia_power,
            }
        return {name: x.astype(jnp.int32) for name, x in values.items()}

    return read
