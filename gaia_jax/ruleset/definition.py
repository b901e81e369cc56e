"""Ruleset: one variant of the game, as every rule is given it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gaia_jax.cli.arguments import shown
from gaia_jax.ruleset import operation_list
from gaia_jax.ruleset.automa_table import AutomaTable, make_automa_table
from gaia_jax.ruleset.operations import Operation
from gaia_jax.ruleset.pieces import Pieces
from gaia_jax.ruleset.tables import Tables, make_tables


def check_ruleset(ruleset: object) -> None:
    """Raise a TypeError for an argument that is no ruleset."""
    if not isinstance(ruleset, Ruleset):
        raise TypeError(f"ruleset must be a Ruleset such as env.ruleset, not {shown(ruleset)}")


@dataclass(frozen=True, eq=False, repr=False)
class Ruleset(Pieces):
    """The pieces of one variant, and the arrays made from them: numpy, made once.

    It is compared by identity.
    """

    def __repr__(self) -> str:
        """A short form for signatures and messages; the tables are long."""
        return f"<Ruleset {self.name}>"

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The rows of `operations.Operation`, "none" first."""
        return operation_list.build(self)

    @cached_property
    def operation_index(self) -> dict[str, int]:
        """The row of each operation by its id."""
        return {op.id: i for i, op in enumerate(self.operations)}

    @cached_property
    def tables(self) -> Tables:
        """The arrays that the rules read."""
        return make_tables(self, self.operations, self.operation_index)

    @cached_property
    def automa_table(self) -> AutomaTable:
        """Tables of the Automa, in a ruleset that has one."""
        return make_automa_table(self)
