"""Programs of the dialect ``types``: steps over a mesh whose values have a type for each mesh axis."""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Attr, Axis
from conformance.cases.types.axis_type import AxisType

COLLECTIVES: Final = frozenset(
    {
        "all_gather",
        "all_reduce",
        "all_to_all",
        "axis_index",
        "broadcast",
        "cast",
        "permute",
        "reduce_scatter",
        "shuffle",
    }
)
"""Operations that name mesh axes."""

LOCAL: Final = {"add": 2, "multiply": 2, "negate": 1, "maximum": 2, "sum": 1, "subtract": 2}
"""Operations on the blocks of one rank, and how many operands each has. ``sum`` is over the local axis ``axis``."""


class TypedInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An input: every rank holds a block of ``shape``. It varies along ``varying`` and is invariant elsewhere."""

    dtype: str
    shape: tuple[int, ...]
    varying: tuple[str, ...] = ()


class TypedStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One operation on named values. ``axes`` are the mesh axes that it names, major first."""

    op: str
    inputs: tuple[str, ...]
    output: str
    axes: tuple[str, ...] = ()
    attrs: dict[str, Attr] = {}


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


def validate(program: TypedProgram) -> None:
    """Raise ``CaseError`` where a program says nothing definite; an ill-typed program does."""
    axes = [axis.name for axis in program.mesh]
    if len(set(axes)) != len(axes) or any(axis.size < 1 for axis in program.mesh):
        raise CaseError(f"mesh axes have different names and at least one rank; got {program.mesh}")
    if missing := set(program.names) - set(axes):
        raise CaseError(f"mapped axis {min(missing)!r} is no axis of the mesh, which has {', '.join(axes)}")
    for name, given in program.inputs.items():
        if outside := set(given.varying) - set(program.names):
            raise CaseError(f"input {name!r} varies along {min(outside)!r}, which is not mapped")
        AxisType(varying=given.varying)
    known = set(program.inputs)
    for number, step in enumerate(program.steps):
        _validate_step(number, step, known)
        known.add(step.output)
    if missing := set(program.results) - known:
        raise CaseError(f"result {min(missing)!r} is no value of the program")


def _validate_step(number: int, step: TypedStep, known: set[str]) -> None:
    where = f"step {number} ({step.op})"
    if step.op not in COLLECTIVES and step.op not in LOCAL:
        raise CaseError(f"{where}: unknown operation; there are {', '.join(sorted(COLLECTIVES | set(LOCAL)))}")
    if missing := set(step.inputs) - known:
        raise CaseError(f"{where}: {min(missing)!r} is no value before this step")
    if step.output in known:
        raise CaseError(f"{where}: {step.output!r} is a value already")
    wanted = LOCAL.get(step.op, 0 if step.op == "axis_index" else 1)
    if len(step.inputs) != wanted:
        raise CaseError(f"{where} takes {wanted} operands; got {len(step.inputs)}")
    if step.op in LOCAL and step.axes:
        raise CaseError(f"{where} names no mesh axes; got {list(step.axes)}")
