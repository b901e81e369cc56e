"""What lies around a cell: what a token of its own cannot know, and a federation is made of.

A planet's own columns say how far each seat's nearest structure is, but not how much power stands
there, nor what else could be built next to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs

RADII = (1, 2, 3)  # cells; a federation bridges 2 with a satellite, 3 with two
# What is summed up over the cells within each radius, all of the own seat but the last.
COUNTED = ("free_power", "in_federations", "open_planets", "others")


class Surroundings(NamedTuple):
    """The columns that are read, and the geometry; hashable, as Flax wants its fields."""

    power: tuple[tuple[int, int], ...]  # column of a piece, its power value
    columns: tuple[tuple[str, int], ...]  # the other columns by name
    distance: tuple[bytes, int]  # (C, C) int8, and C

    @classmethod
    def of(cls, env: Any) -> Surroundings:
        """Of an environment whose cells have the pieces of the board game."""
        at = {feature.name: i for i, feature in enumerate(env.observation_spec.cells)}
        value = env.ruleset.tables.power_value
        pieces = [name for name in at if name.startswith("piece.")]
        power = tuple((at[x], int(value[i])) for i, x in enumerate(pieces, 1) if i < len(value))
        names = ("owner", "federated", "satellite", "station")
        columns = tuple((x, i) for x, i in at.items() if x.split(".")[0] in (*names, "steps"))
        distance = np.asarray(env.ruleset.geometry.distance, np.int8)
        return cls(power, columns, (distance.tobytes(), len(distance)))

    def names(self) -> list[str]:
        """Of the columns that `counts` makes, in order."""
        return [f"around.{radius}.{name}" for radius in RADII for name in COUNTED]

    def counts(self, cells: Array) -> Array:
        """(B, C, Fc) int8 -> (B, C, F) int8, F = `len(names())`.

        `free_power` is the power value of the pieces on the board that are in no federation; tiles
        and boards that change it (LEE-06, FED-09) are not seen. `open_planets` are those where a
        mine may stand one day.
        """
        at = dict(self.columns)
        one = jnp.float32

        def column(name: str) -> Array:
            return cells[..., at[name]].astype(one)

        power = sum((cells[..., i].astype(one) * value for i, value in self.power), jnp.zeros(()))
        own, federated = column("owner.own"), column("federated.own")
        owners = [name for name in at if name.startswith("owner.")]
        taken = sum((column(name) for name in owners), jnp.zeros(()))
        counted = jnp.stack(
            [
                (power * own + column("station.own") * costs.STATION_POWER) * (1 - federated),
                federated + column("satellite.own"),
                (column("steps.own") >= 0) * (1 - jnp.minimum(taken, 1)),
                taken - own,
            ],
            axis=-2,
        )  # (B, F', C)
        sums = counted @ jnp.asarray(self._within())
        sums = sums.reshape(*counted.shape[:-1], len(RADII), -1)  # (B, F', R, C)
        sums = jnp.moveaxis(sums, -1, -3)  # (B, C, F', R)
        sums = jnp.swapaxes(sums, -1, -2).reshape(*cells.shape[:-1], -1)
        return jnp.minimum(sums, 127).astype(jnp.int8)

    def _within(self) -> np.ndarray:
        """(C, R * C) float32, 1 where a cell is within the radius of another."""
        data, size = self.distance
        distance = np.frombuffer(data, np.int8).reshape(size, size)
        return np.concatenate([distance <= radius for radius in RADII], 1).astype(np.float32)
