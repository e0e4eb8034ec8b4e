"""How many bytes the values of a typed program have at most, known before any is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from conformance.cases.program.program import Axis
from conformance.cases.program.value_bytes import NOTHING, Extent, extent, members_of, outcome
from conformance.cases.tensor.footprint import ValueBytes
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import LOCAL, TypedStep


def typed_values(case: TypedCase) -> Iterator[ValueBytes]:
    """Yield what makes each value of a case, inputs included, and how many bytes it has at most, on all ranks.

    What is pulled back or pushed forward has as many bytes again.
    """
    times = 2 if case.cotangents or case.tangents else 1
    known = _inputs(case)
    for name, each in known.items():
        yield f"input {name!r}", times * each.size
    for number, (step, _, made) in enumerate(typed_extents(case)):
        yield f"step {number} ({step.op})", times * made.size


def typed_extents(case: TypedCase) -> Iterator[tuple[TypedStep, list[Extent], Extent]]:
    """Yield each step of a case with the extents of what it takes and of what it makes, on all members, at most."""
    members, known = members_in(case), _inputs(case)
    for step in case.program.steps:
        taken = [known.get(name, NOTHING) for name in step.inputs]
        known[step.output] = _made(step, taken, mesh_of(case), members)
        yield step, taken, known[step.output]


def mesh_of(case: TypedCase) -> tuple[Axis, ...]:
    """Return the axes that the steps of a case may name: those of the mesh, and the levels that it is mapped over."""
    return *case.program.mesh, *(Axis(name=level.name, size=level.size) for level in case.batch)


def members_in(case: TypedCase) -> int:
    """Return the members of a case: each slice on each rank is one."""
    return math.prod(axis.size for axis in mesh_of(case))


def _inputs(case: TypedCase) -> dict[str, Extent]:
    members = members_in(case)
    return {name: extent(each.dtype, members * math.prod(each.shape)) for name, each in case.program.inputs.items()}


def _made(step: TypedStep, taken: list[Extent], mesh: tuple[Axis, ...], members: int) -> Extent:
    if step.op in LOCAL or step.op in ("cast", "done") or not (step.axes or step.attrs.get("local_axes")):
        return max(taken, key=lambda each: each.size, default=NOTHING)
    made = outcome(step.op, taken, members_of(mesh, step.axes, step.groups), step.attrs, members)
    return made[0] if made else NOTHING
