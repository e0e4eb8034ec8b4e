"""The checker: the type of each value of a program, and the program with its automatic casts written out."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from conformance.cases.types.axis_type import INVARIANT, AxisType, State, of
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep
from conformance.reference.types.casts import cast, made_varying
from conformance.reference.types.collectives import RULES
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.local import local, taken


class Typed(NamedTuple):
    """A step's operands as it takes them, and its result."""

    operands: list[AxisType]
    result: AxisType


def check(program: TypedProgram) -> dict[str, AxisType]:
    """Return the type of every value; raise ``IllTyped`` for the first step that a rule refuses.

    Without checks every value counts as invariant everywhere.
    """
    types = {
        name: AxisType(varying=given.varying) if program.checked else INVARIANT
        for name, given in program.inputs.items()
    }
    for number, step in enumerate(program.steps):
        types[step.output] = _typed(program, number, types).result
    return types


def paired_types(program: TypedProgram) -> dict[str, AxisType]:
    """Return the types by which values are paired with cotangents: without checks every rank has a value of its own."""
    types = check(program)
    varying = AxisType(varying=tuple(sorted(program.names)))
    return types if program.checked else dict.fromkeys(types, varying)


def written_out(program: TypedProgram) -> TypedProgram:
    """Return a well-typed program with a step for every automatic cast, which computes the same."""
    types, steps = check(program), list[TypedStep]()
    for number, step in enumerate(program.steps):
        wanted = _typed(program, number, types).operands
        names = []
        for at, (name, want) in enumerate(zip(step.inputs, wanted, strict=True)):
            changed = [axis for axis in program.names if types[name].state(axis) != want.state(axis)]
            for axis in changed:
                to: State = want.state(axis)
                new = f"{step.output}.{at}.{axis}"
                steps.append(TypedStep(op="cast", inputs=(name,), output=new, axes=(axis,), attrs={"to": to}))
                name = new  # noqa: PLW2901 - the next cast is of what this one gave
            names.append(name)
        steps.append(replace(step, inputs=tuple(names)))
    return replace(program, steps=tuple(steps))


def _typed(program: TypedProgram, number: int, types: dict[str, AxisType]) -> Typed:
    step = program.steps[number]
    try:
        return _by_rule(program, step, [types[name] for name in step.inputs])
    except IllTyped as error:
        raise IllTyped(error.clause, f"step {number} ({step.op}): {error}") from None


def _by_rule(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    for axis in step.axes:
        if axis not in program.names:
            known = ", ".join(program.names) or "none"
            raise IllTyped("types.C1", f"axis {axis!r} is not mapped here; mapped are {known}")
    if not program.checked:
        _unchecked(step)
        return Typed(operands, INVARIANT)
    if step.op in LOCAL:
        as_taken = taken(step.op, operands, automatic=program.automatic)
        return Typed(as_taken, local(step.op, as_taken))
    if step.op == "axis_index":
        return Typed([], of(dict.fromkeys(step.axes, "varying")))
    if step.op == "ragged_all_to_all":
        varying = {axis for each in operands for axis in each.varying}
        as_taken = [
            made_varying(each, tuple(sorted({*step.axes, *varying})), step.op, automatic=program.automatic)
            for each in operands
        ]
        return Typed(as_taken, local("add", as_taken))
    if step.groups is not None and (step.op == "all_reduce" or step.attrs.get("to", "varying") != "varying"):
        raise IllTyped("types.C15", "what each of several groups has alone is not the same along the axes of all")
    if step.attrs.get("local_axes"):
        raise IllTyped(
            "types.C16", "a reduction is over mesh axes alone where types are checked; sum is over a local one"
        )
    if not step.axes:
        return Typed(operands, operands[0])
    found = RULES[step.op](operands[0], step.axes, automatic=program.automatic, **step.attrs)
    return Typed([found.taken], found.result)


def _unchecked(step: TypedStep) -> None:
    """Refuse what no invariant operand has: without checks every operand counts as one."""
    to = step.attrs.get("to")
    if step.op == "cast" and step.axes:
        cast(INVARIANT, step.axes, to)  # type: ignore[arg-type]  # a state, by the domain of the attribute
    if step.op == "all_gather" and step.axes and to == "reduced":
        raise IllTyped("types.C6", "without checks no operand varies, and all_gather to reduced needs one that does")
