"""Programs of the dialect ``types``: steps over a mesh whose values have a type for each mesh axis."""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from conformance.cases.program.program import Attr, Axis, Groups

COLLECTIVES: Final = frozenset(
    {
        "all_gather",
        "all_reduce",
        "all_to_all",
        "axis_index",
        "broadcast",
        "cast",
        "done",
        "permute",
        "ragged_all_to_all",
        "recv",
        "reduce_scatter",
        "send",
        "shuffle",
    }
)
"""Operations that name mesh axes, and ``done``, which waits for one that does."""

LOCAL: Final = {"add": 2, "multiply": 2, "negate": 1, "maximum": 2, "sum": 1, "subtract": 2}
"""Operations on the blocks of one rank, and how many operands each has. ``sum`` is over the local axis ``axis``."""

GROUPED: Final = frozenset({"all_gather", "all_reduce", "all_to_all", "ragged_all_to_all", "reduce_scatter"})
"""Operations that groups of positions may do for themselves."""

OPERANDS: Final = {**LOCAL, "axis_index": 0, "ragged_all_to_all": 2}
"""How many operands an operation has where that is not one."""


class TypedInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An input: every rank holds a block of ``shape``. It varies along ``varying`` and is invariant elsewhere."""

    dtype: str
    shape: tuple[int, ...]
    varying: tuple[str, ...] = ()


class TypedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One operation on named values. ``axes`` are the mesh axes that it names, major first.

    A ``send`` gives a token, which a ``recv`` of the same axes and pairs takes, and nothing else does.

    Where it is to ``start`` its output is what a ``done`` takes, which has the operation that it waits ``of`` as an
    attribute and names no axes.

    ``groups`` partition the positions along them; without any all positions are one group. A ``ragged_all_to_all`` has
    its offsets and sizes as attributes, a row for each position in its group; of a program that is mapped over a
    ``level`` which is named beside them, as many rows for each slice of it, the first slice's first.
    """

    op: str
    inputs: tuple[str, ...]
    output: str
    axes: tuple[str, ...] = ()
    attrs: dict[str, Attr] = {}
    groups: Groups | None = None
    start: bool = False


class TypedProgram(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Steps over a mesh.

    ``mapped`` are the axes of the mesh that the program may name, all of them by default. Where ``checked`` is false
    no value has a type and casts are identities. Where ``automatic`` is false no operation casts by itself.
    """

    dialect: Literal["types"] = "types"
    mesh: tuple[Axis, ...]
    inputs: dict[str, TypedInput]
    steps: tuple[TypedStep, ...]
    results: tuple[str, ...]
    mapped: tuple[str, ...] | None = None
    checked: bool = True
    automatic: bool = True

    @property
    def world(self) -> int:
        """Return the number of ranks."""
        return math.prod(axis.size for axis in self.mesh)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the mesh axes that the program may name."""
        return tuple(axis.name for axis in self.mesh) if self.mapped is None else self.mapped

    @property
    def sent(self) -> dict[str, TypedStep]:
        """Return the send of every token."""
        return {step.output: step for step in self.steps if step.op == "send"}

    @property
    def started(self) -> dict[str, str]:
        """Return the operation of every value that is started."""
        return {step.output: step.op for step in self.steps if step.start}
