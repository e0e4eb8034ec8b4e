"""The checker: the type of each value of a program."""

from __future__ import annotations

from conformance.cases.types.axis_type import INVARIANT, AxisType
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep
from conformance.reference.types.casts import cast
from conformance.reference.types.collectives import RULES, axis_index
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.local import local


def check(program: TypedProgram) -> dict[str, AxisType]:
    """Return the type of every value; raise ``IllTyped`` for the first step that a rule refuses.

    Without checks every value counts as invariant everywhere.
    """
    types = {
        name: AxisType(varying=given.varying) if program.checked else INVARIANT
        for name, given in program.inputs.items()
    }
    for number, step in enumerate(program.steps):
        try:
            types[step.output] = _result(program, step, [types[name] for name in step.inputs])
        except IllTyped as error:
            raise IllTyped(error.clause, f"step {number} ({step.op}): {error}") from None
    return types


def _result(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> AxisType:
    for axis in step.axes:
        if axis not in program.names:
            known = ", ".join(program.names) or "none"
            raise IllTyped("types.C1", f"axis {axis!r} is not mapped here; mapped are {known}")
    if not program.checked:
        _unchecked(step)
        return INVARIANT
    if step.op in LOCAL:
        return local(step.op, operands, automatic=program.automatic)
    if step.op == "axis_index":
        return axis_index(step.axes)
    if not step.axes:
        return operands[0]
    return RULES[step.op](operands[0], step.axes, automatic=program.automatic, **step.attrs)


def _unchecked(step: TypedStep) -> None:
    """Refuse what no invariant operand has: without checks every operand counts as one."""
    to = step.attrs.get("to")
    if step.op == "cast" and step.axes:
        cast(INVARIANT, step.axes, to)  # type: ignore[arg-type]  # a state, by the domain of the attribute
    if step.op == "all_gather" and step.axes and to == "reduced":
        raise IllTyped("types.C6", "without checks no operand varies, and all_gather to reduced needs one that does")
