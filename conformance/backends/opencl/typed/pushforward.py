"""The tangents of the values of a typed program as nodes, beside the values."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.backends.opencl.typed.backward import NotLinearError
from conformance.backends.opencl.typed.forward import computed_step
from conformance.backends.opencl.typed.graph_builder import Blocks, Building
from conformance.cases.types.typed_program import TypedProgram, TypedStep


def pushed(
    building: Building, program: TypedProgram, values: Mapping[str, Blocks], tangents: Mapping[str, Blocks]
) -> dict[str, Blocks]:
    """Return the tangent of every value, of those of the inputs."""
    found = dict(tangents)
    for step in program.steps:
        found[step.output] = _tangent(building, program, step, values, found)
    return found


def _tangent(
    building: Building,
    program: TypedProgram,
    step: TypedStep,
    values: Mapping[str, Blocks],
    tangents: Mapping[str, Blocks],
) -> Blocks:
    if step.start or step.op == "maximum" or step.attrs.get("op") in ("max", "min"):
        raise NotLinearError(f"{step.op} has no tangent")
    if step.op == "axis_index":
        return building.constant(values[step.output], [0] * program.world)
    if step.op != "multiply":
        return computed_step(building, program.mesh, step, [tangents[name] for name in step.inputs])
    left, right = step.inputs
    first = building.alu("mul", values[left], tangents[right])
    return building.alu("add", first, building.alu("mul", tangents[left], values[right]))
