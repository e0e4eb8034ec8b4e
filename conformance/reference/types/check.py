"""The checker: the type of each value of a program, and the program with its automatic casts written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from conformance.cases.types.axis_type import INVARIANT, AxisType, State, of
from conformance.cases.types.starts import no_such_start
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep
from conformance.reference.types.casts import cast, made_varying
from conformance.reference.types.collectives import RULES
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.local import local, taken
from conformance.reference.types.started import refuse_pending

GATHERED: Final = ("varying", "invariant", "reduced")
"""What the result of an all_gather may be along its axes."""

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Typed(NamedTuple):
    """A step's operands as it takes them, and its result."""

    operands: list[AxisType]
    result: AxisType


Own = Callable[[TypedProgram, TypedStep, list[AxisType]], Typed]
"""A rule of somebody else for an operation."""


def check(program: TypedProgram, own: Mapping[str, Own] = NOTHING) -> dict[str, AxisType]:
    """Return the type of every value; raise ``IllTyped`` for the first step that a rule refuses.

    Without checks every value counts as invariant everywhere. ``own`` has rules of somebody else by operation, which
    stand in the place of those of this checker.
    """
    types = {
        name: AxisType(varying=given.varying) if program.checked else INVARIANT
        for name, given in program.inputs.items()
    }
    for number, step in enumerate(program.steps):
        types[step.output] = _typed(program, number, types, own).result
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


def _typed(program: TypedProgram, number: int, types: dict[str, AxisType], own: Mapping[str, Own] = NOTHING) -> Typed:
    step = program.steps[number]
    try:
        rule = own.get(step.op, by_rule)
        return rule(program, step, [types[name] for name in step.inputs])
    except IllTyped as error:
        raise IllTyped(error.clause, f"step {number} ({step.op}): {error}") from None


def by_rule(program: TypedProgram, step: TypedStep, operands: list[AxisType]) -> Typed:
    """Return the types of a step's operands as it takes them, and of its result; raise ``IllTyped``."""
    for axis in step.axes:
        if axis not in program.names:
            known = ", ".join(program.names) or "none"
            raise IllTyped("types.C1", f"axis {axis!r} is not mapped here; mapped are {known}")
    refuse_pending(program, step)
    _refuse_word(step)
    if not program.checked:
        _unchecked(step)
        return Typed(operands, INVARIANT)
    if step.op in LOCAL:
        as_taken = taken(step.op, operands, automatic=program.automatic)
        return Typed(as_taken, local(step.op, as_taken))
    if step.op == "axis_index":
        if len(step.axes) > 1 and not program.automatic:
            raise IllTyped("types.C2", "an index over several axes adds parts that each vary along one of them")
        return Typed([], of(dict.fromkeys(step.axes, "varying")))
    if step.op == "ragged_all_to_all":
        return _ragged(step, operands, automatic=program.automatic)
    if step.groups is not None and (step.op == "all_reduce" or step.attrs.get("to", "varying") != "varying"):
        raise IllTyped("types.C15", "what each of several groups has alone is not the same along the axes of all")
    if step.attrs.get("local_axes"):
        raise IllTyped(
            "types.C16", "a reduction is over mesh axes alone where types are checked; sum is over a local one"
        )
    if not step.axes:  # a done too: the type of what is started is that of what it gives
        return Typed(operands, operands[0])
    found = RULES[step.op](operands[0], step.axes, automatic=program.automatic, **step.attrs)
    if step.groups is not None and step.op == "reduce_scatter" and found.taken.state(step.axes[0]) == "unreduced":
        raise IllTyped("types.C15", "a contribution is to the sum of all ranks, and each group adds its own")
    return Typed([found.taken], found.result)


def _refuse_word(step: TypedStep) -> None:
    """Refuse a gather to what no gather gives, and the start of one that has none."""
    if step.op == "all_gather" and step.attrs["to"] not in GATHERED:
        raise IllTyped("types.C17", f"there is no all_gather to {step.attrs['to']}; there are {', '.join(GATHERED)}")
    if step.start and (why := no_such_start(step.op, step.attrs)):
        raise IllTyped("starts.C14", why)


def _ragged(step: TypedStep, operands: list[AxisType], *, automatic: bool) -> Typed:
    """Both operands vary along the axes, and wherever one does."""
    wanted = tuple(sorted({*step.axes, *(axis for each in operands for axis in each.varying)}))
    as_taken = [made_varying(each, wanted, step.op, automatic=automatic) for each in operands]
    return Typed(as_taken, local("add", as_taken))


def _unchecked(step: TypedStep) -> None:
    """Refuse what no invariant operand has: without checks every operand counts as one."""
    to = step.attrs.get("to")
    if step.op == "cast" and step.axes:
        cast(INVARIANT, step.axes, to)  # type: ignore[arg-type]  # a state, by the domain of the attribute
    if step.op == "all_gather" and step.axes and to == "reduced":
        raise IllTyped("types.C6", "without checks no operand varies, and all_gather to reduced needs one that does")
