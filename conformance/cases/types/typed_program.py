"""Programs of the dialect ``types``: steps over a mesh whose values have a type for each mesh axis."""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Attr, Axis, Groups
from conformance.cases.program.validate import MOST_RANKS
from conformance.cases.tensor.footprint import footprint
from conformance.cases.types.attributes import check_attributes
from conformance.cases.types.starts import no_start

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
        "reduce_scatter",
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

    Where it is to ``start`` its output is what a ``done`` takes, which has the operation that it waits ``of`` as an
    attribute and names no axes.

    ``groups`` partition the positions along them; without any all positions are one group. A ``ragged_all_to_all`` has
    its offsets and sizes as attributes, a row for each position in its group.
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
    def started(self) -> dict[str, str]:
        """Return the operation of every value that is started."""
        return {step.output: step.op for step in self.steps if step.start}


def validate(program: TypedProgram, levels: tuple[Axis, ...] = ()) -> None:
    """Raise ``CaseError`` where a program says nothing definite; an ill-typed program does.

    ``levels`` are the axes that it is mapped over, which its steps may name too.
    """
    _validate_axes(program, levels)
    for name, given in program.inputs.items():
        if outside := set(given.varying) - set(program.names):
            raise CaseError(f"input {name!r} varies along {min(outside)!r}, which is not mapped")
        if list(given.varying) != sorted(set(given.varying)):
            raise CaseError(f"input {name!r} varies along axes in the order of the alphabet; got {list(given.varying)}")
        footprint(f"input {name!r}", given.dtype, given.shape)
    known = set(program.inputs)
    for number, step in enumerate(program.steps):
        _validate_step(f"step {number} ({step.op})", step, known)
        _validate_groups(
            f"step {number} ({step.op})", step, {axis.name: axis.size for axis in (*program.mesh, *levels)}
        )
        known.add(step.output)
    if missing := set(program.results) - known:
        raise CaseError(f"result {min(missing)!r} is no value of the program")
    if pending := set(program.results) & set(program.started):
        raise CaseError(f"result {min(pending)!r} is only started; a done of it may be a result")


def _validate_axes(program: TypedProgram, levels: tuple[Axis, ...]) -> None:
    axes = [axis.name for axis in (*program.mesh, *levels)]
    if len(set(axes)) != len(axes) or any(axis.size < 1 for axis in (*program.mesh, *levels)):
        raise CaseError(f"axes have different names and at least one rank; got {', '.join(map(repr, axes))}")
    if program.world > MOST_RANKS:
        raise CaseError(f"the mesh has {program.world} ranks; at most {MOST_RANKS} are allowed")
    mesh = {axis.name for axis in program.mesh}
    if missing := set(program.names) - mesh:
        raise CaseError(f"mapped axis {min(missing)!r} is no axis of the mesh, which has {', '.join(sorted(mesh))}")
    if len(set(program.names)) != len(program.names):
        raise CaseError(f"mapped axes are named once each; got {list(program.names)}")


def _validate_step(where: str, step: TypedStep, known: set[str]) -> None:
    if step.op not in COLLECTIVES and step.op not in LOCAL:
        raise CaseError(f"{where}: unknown operation; there are {', '.join(sorted(COLLECTIVES | set(LOCAL)))}")
    if missing := set(step.inputs) - known:
        raise CaseError(f"{where}: {min(missing)!r} is no value before this step")
    if step.output in known:
        raise CaseError(f"{where}: {step.output!r} is a value already")
    wanted = OPERANDS.get(step.op, 1)
    if len(step.inputs) != wanted:
        raise CaseError(f"{where} takes {wanted} operands; got {len(step.inputs)}")
    if (step.op in LOCAL or step.op == "done") and step.axes:
        raise CaseError(f"{where} names no mesh axes; got {list(step.axes)}")
    if len(set(step.axes)) != len(step.axes):
        raise CaseError(f"{where} names each axis once; got {list(step.axes)}")
    check_attributes(where, step.op, step.attrs)
    if step.start and (why := no_start(step.op, step.attrs)):
        raise CaseError(f"{where}: {why}")


def _validate_groups(where: str, step: TypedStep, sizes: dict[str, int]) -> None:
    if step.groups is None:
        return
    if step.op not in GROUPED:
        raise CaseError(f"{where} takes no groups; those that do are {', '.join(sorted(GROUPED))}")
    size = math.prod(sizes.get(axis, 1) for axis in step.axes)
    if sorted(position for group in step.groups for position in group) != list(range(size)):
        raise CaseError(f"{where}: groups have each of the {size} positions once; got {step.groups}")
