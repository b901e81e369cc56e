"""Score features: mission scores, leads and the next income of a player, by the rules.

They are products of columns of the observation, which a small network cannot compute;
docs/lab/learning.md has the errors of its values with and without these features.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs
from gaia_jax.components.common import STRUCTURES
from gaia_jax.rules import income, scoring
from gaia_jax.ruleset import GAIN_FIELDS, FactionRow, Ruleset

from ..types import Environment

# Of each of the two missions: its count, its VP if the game ended now, the lead.
MISSION = ("count", "prize", "lead")
FINAL = ("research", "resources", "pass")  # VP now: of the tracks, of resources, on passing


class ScoreFeatures(NamedTuple):
    """The indices of the columns that are read; hashable, as Flax requires."""

    ruleset: Ruleset
    cells: tuple[tuple[str, int], ...]
    players: tuple[tuple[str, int, int], ...]  # block, its first column, how many
    globals: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, env: Environment) -> ScoreFeatures:
        """Of an environment of the board game."""
        spec = env.observation_spec
        cells = tuple((feature.name, i) for i, feature in enumerate(spec.cells))
        return cls(env.ruleset, cells, _blocks(spec.players), _blocks(spec.globals))

    def names(self) -> list[str]:
        """Of the columns that `features` makes, in order."""
        missions = [f"mission.{i}.{name}" for i in (1, 2) for name in MISSION]
        return [*missions, *FINAL, *(f"income.{name}" for name in GAIN_FIELDS)]

    def features(self, cells: Array, players: Array, globals_: Array) -> Array:
        """(B, C, Fc), (B, P, Fp), (B, Fg) -> (B, P, F) int16, F = `len(names())`.

        Missions by FIN-02 to FIN-10, research and resources by RES-10 and FIN-11, passing by
        PAS-04, income by INC-01: the functions of the rules, on columns of an observation.
        """
        rules = self.ruleset
        at = {name: slice(a, a + n) for name, a, n in self.players}
        me = {name: players[..., part].astype(jnp.int32) for name, part in at.items()}
        table = {name: globals_[..., a : a + n] for name, a, n in self.globals}

        values = self._missions(cells, me)  # (B, P, M)
        chosen = jnp.argsort(-table["final_mission"].astype(jnp.int32), axis=-1, stable=True)
        out = []
        for number in (0, 1):
            mission = chosen[:, number]
            value = jnp.take_along_axis(values, mission[:, None, None], axis=-1)[..., 0]
            prize = jax.vmap(lambda value, i: scoring.prizes(rules, value, i))(value, mission)
            same = jnp.eye(value.shape[-1], dtype=bool)
            others = jnp.where(same, -1, value[:, None, :]).max(-1)
            if rules.neutral_player:  # it takes a rank too (PLA-06)
                neutral = [rules.neutral_player[name] for name in rules.final_missions]
                others = jnp.maximum(others, jnp.array(neutral)[mission][:, None])
            out += [value, prize, value - others]
        research = jnp.asarray(rules.tables.end_vp).astype(jnp.int32)[me["track"]].sum(-1)
        left = (me["credits"] + me["ore"] + me["knowledge"])[..., 0] // costs.RESOURCES_PER_VP
        side = table["economy_side"][..., 0].astype(jnp.int32)
        per_player = jax.vmap(jax.vmap(self._of_player, (0, None)))
        passing, incomes = per_player(me, side)
        out += [research, left, passing]
        return jnp.concatenate([jnp.stack(out, -1), incomes], axis=-1).astype(jnp.int16)

    def _of_player(self, columns: dict[str, Array], side: Array) -> tuple[Array, Array]:
        """VP on passing now (), 0 after it; the next round's income (9,) by `GAIN_FIELDS`."""
        rules = self.ruleset

        def bits(name: str) -> Array:
            return (columns[name] << np.arange(columns[name].shape[-1])).sum(-1)

        booster = columns["booster"]
        holds = booster.any().astype(jnp.int32)  # none is dealt yet while structures are placed
        none = jnp.zeros(1, jnp.int32)
        me: Any = SimpleNamespace(
            built=jnp.concatenate([none, columns["built"]]),
            tracks=columns["track"],
            tiles=bits("tile"),
            covered=bits("covered"),
            advanced=bits("advanced") if "advanced" in columns else none[0],
            artifacts=bits("artifact") if "artifact" in columns else none[0],
            booster=jnp.argmax(booster),
        )
        faction = FactionRow.of(rules, jnp.argmax(columns["faction"]))
        pays = scoring.pass_vp(rules, me, columns["count"])
        passing = pays["BOOSTER"] * holds + pays["ADVANCED_TILE"]
        passing = jnp.where(columns["passed"][0] > 0, 0, passing)  # it has been paid
        got = income.parts(rules, faction, me, side)
        got["booster"] *= holds
        return passing, sum(got.values(), jnp.zeros(len(GAIN_FIELDS), jnp.int32))

    def _missions(self, cells: Array, me: dict[str, Array]) -> Array:
        """(B, P, M) int32, the count of each final mission (FIN-03 to FIN-10)."""
        rules = self.ruleset
        count = dict(zip(rules.ids["count"], jnp.moveaxis(me["count"], -1, 0), strict=True))
        built = dict(zip(STRUCTURES[1:], jnp.moveaxis(me["built"], -1, 0), strict=True))
        planets = rules.ids["planet_type"]
        colonized = dict(zip(planets, jnp.moveaxis(me["colonized"], -1, 0), strict=True))
        nothing = jnp.zeros_like(count["mines"])

        def mission(name: str) -> Array:
            return me[name][..., 0] if name in me else nothing

        virtual = count["mines"] - built["MINE"] - colonized["Lost"]  # of artifacts (ART-03)
        asteroids = colonized.get("Asteroid", nothing) + mission("guest_asteroids")
        virtual_asteroids = count.get("asteroid_buildings", asteroids) - asteroids
        distance, federated = self._on_board(cells)
        counted = scoring.Counted(
            structures=sum(built.values(), colonized["Lost"]),
            asteroids=asteroids,
            protos=colonized.get("Proto", nothing) + mission("guest_protos"),
            virtual_asteroids=virtual_asteroids,
            virtual_protos=virtual - virtual_asteroids,
            gaia_planets=count["gaia_planets"],
            planet_types=count["planet_types"],
            main_sectors=count["main_sectors"],
            deep_sectors=count.get("deep_sectors", nothing),
            satellites=mission("satellites"),
            stations=mission("stations"),
            academy_distance=distance,
            federated=federated,
        )
        return jnp.swapaxes(scoring.mission_counts(rules, counted), -1, -2)

    def _on_board(self, cells: Array) -> tuple[Array, Array]:
        """(B, P) int32 each: from the PI to the further academy; structures in federations."""
        at = dict(self.cells)
        seats = [name.removeprefix("owner.") for name in at if name.startswith("owner.")]
        own = jnp.stack([cells[..., at[f"owner.{x}"]] for x in seats], axis=1) > 0  # (B, P, C)
        joined = jnp.stack([cells[..., at[f"federated.{x}"]] for x in seats], axis=1) > 0
        guest = jnp.zeros_like(own)
        if "guest.own" in at:  # the guests of others are of the one player of the Lantids
            mine, others = (cells[..., at[f"guest.{x}"]] > 0 for x in ("own", "other"))
            guest = jnp.stack([mine] + [others] * (len(seats) - 1), axis=1)
        federated = ((own | guest) & joined).sum(-1, dtype=jnp.int32)

        def is_(piece: str) -> Array:
            return own & (cells[..., at[f"piece.{piece}"]] > 0)[:, None]

        academy = is_("AC_A") | is_("AC_B")
        return scoring.academy_distance(self.ruleset, is_("PI"), academy), federated


def _blocks(features: Any) -> tuple[tuple[str, int, int], ...]:
    """Name, first column and number of columns of each block."""
    spans: dict[str, tuple[int, int]] = {}
    for i, feature in enumerate(features):
        name = feature.name.split(".")[0]
        first, count = spans.get(name, (i, 0))
        spans[name] = first, count + 1
    return tuple((name, first, count) for name, (first, count) in spans.items())
