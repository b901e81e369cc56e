"""Features of the neighbourhood of a cell, which a single token lacks and federations need.

A planet's own columns hold the distance to each seat's nearest structure, but neither the power
there nor what else could be built next to it.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from gaia_jax.components import costs

from ..types import Environment

RADII = (1, 2, 3)  # cells; a federation bridges 2 with a satellite, 3 with two
# What is summed up over the cells within each radius, all of the own seat but the last.
COUNTED = ("free_power", "in_federations", "open_planets", "others")
BITS = 8  # of a count while it is summed up


class Neighbourhood(NamedTuple):
    """The columns that are read, and where cells lie; hashable, as Flax wants its fields."""

    power: tuple[tuple[int, int], ...]  # column of a piece, its power value
    columns: tuple[tuple[str, int], ...]  # the other columns by name
    cells: tuple[tuple[int, int], ...]  # (q, r) of each cell

    @classmethod
    def of(cls, env: Environment) -> Neighbourhood:
        """Of an environment whose cells have the pieces of the board game."""
        at = {feature.name: i for i, feature in enumerate(env.observation_spec.cells)}
        value = env.ruleset.tables.power_value
        pieces = [name for name in at if name.startswith("piece.")]
        power = tuple((at[x], int(value[i])) for i, x in enumerate(pieces, 1) if i < len(value))
        names = ("owner", "federated", "satellite", "station")
        columns = tuple((x, i) for x, i in at.items() if x.split(".")[0] in (*names, "steps"))
        cells = tuple((int(q), int(r)) for q, r in env.ruleset.geometry.cells)
        return cls(power, columns, cells)

    def names(self) -> list[str]:
        """Of the columns that `counts` makes, in order."""
        return [f"neighbourhood.{radius}.{name}" for radius in RADII for name in COUNTED]

    def counts(self, cells: Array) -> Array:
        """(B, C, Fc) int8 -> (B, C, F) int8, F = `len(names())`.

        `free_power` is the power value of the pieces on the board that are in no federation; tiles
        and boards that change it (LEE-06, FED-09) are not seen. `open_planets` are those where a
        mine may be built later.
        """
        at = dict(self.columns)
        none = jnp.int32(0)

        def column(name: str) -> Array:
            return cells[..., at[name]].astype(jnp.int32)

        power = sum((cells[..., i].astype(jnp.int32) * value for i, value in self.power), none)
        own, federated = column("owner.own"), column("federated.own")
        owned = sum((column(name) for name in at if name.startswith("owner.")), none)
        counted = (
            (power * own + column("station.own") * costs.STATION_POWER) * (1 - federated),
            federated + column("satellite.own"),
            (column("steps.own") >= 0) * (1 - jnp.minimum(owned, 1)),
            owned - own,
        )
        # Four counts in one number: none comes near 2**BITS within the largest radius.
        together = sum((x << BITS * i for i, x in enumerate(counted)), none)
        sums = self._within(together)  # (B, C, R)
        unpacked = sums[..., None] >> (BITS * jnp.arange(len(COUNTED))) & 2**BITS - 1
        return jnp.minimum(unpacked, 127).reshape(*cells.shape[:-1], -1).astype(jnp.int8)

    def _within(self, x: Array) -> Array:
        """(B, C) int32 -> (B, C, R), sums over the cells within each of `RADII`.

        The map is laid row by row into one line, with as many empty places around it as the largest
        radius: then the cells at one step of (q, r) are one slice of the line. A product with a
        table of all pairs of cells takes four times as long.
        """
        far = RADII[-1]
        place = np.asarray(self.cells) - np.min(self.cells, axis=0)
        width = place[:, 1].max() + 1 + far
        spot = (place[:, 0] + far) * width + place[:, 1] + far
        size = int(place[:, 0].max() + 1) * width + far  # of what is summed up
        line = np.full(size + 2 * far * (width + 1), len(place))
        line[spot] = np.arange(len(place))
        laid = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, 1)])[..., line]
        total, sums = jnp.int32(0), []
        for radius in range(far + 1):
            for q, r in _ring(radius):
                first = (q + far) * width + r + far
                total += laid[..., first : first + size]
            if radius in RADII:
                sums.append(total[..., spot - far * (width + 1)])
        return jnp.stack(sums, axis=-1)


def _ring(radius: int) -> list[tuple[int, int]]:
    """The steps of (q, r) to the cells at a distance (MAP-08)."""
    steps = range(-radius, radius + 1)
    return [(q, r) for q in steps for r in steps if max(abs(q), abs(r), abs(q + r)) == radius]
