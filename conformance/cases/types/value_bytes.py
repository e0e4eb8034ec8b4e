"""How many bytes the values of a typed program have at most, known before any is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator

from conformance.cases.program.program import Axis
from conformance.cases.program.value_bytes import NOTHING, Extent, extent, members_of, outcome
from conformance.cases.tensor.footprint import Made
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import LOCAL, TypedStep


def typed_values(case: TypedCase) -> Iterator[Made]:
    """Yield what makes each value of a case, inputs included, and how many bytes it has at most, on all ranks.

    What is pulled back or pushed forward has as many bytes again.
    """
    program = case.program
    mesh = (*program.mesh, *(Axis(name=level.name, size=level.size) for level in case.batch))
    members = math.prod(axis.size for axis in mesh)
    times = 2 if case.cotangents or case.tangents else 1
    known: dict[str, Extent] = {}
    for name, given in program.inputs.items():
        known[name] = extent(given.dtype, members * math.prod(given.shape))
        yield f"input {name!r}", times * known[name].size
    for number, step in enumerate(program.steps):
        taken = [known.get(name, NOTHING) for name in step.inputs]
        known[step.output] = _made(step, taken, mesh, members)
        yield f"step {number} ({step.op})", times * known[step.output].size


def _made(step: TypedStep, taken: list[Extent], mesh: tuple[Axis, ...], members: int) -> Extent:
    if step.op in LOCAL or step.op in ("cast", "done") or not (step.axes or step.attrs.get("local_axes")):
        return max(taken, key=lambda each: each.size, default=NOTHING)
    made = outcome(step.op, taken, members_of(mesh, step.axes, step.groups), step.attrs, members)
    return made[0] if made else NOTHING
