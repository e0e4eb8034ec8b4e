"""The states of values along mesh axes, found axis by axis, and what an operation casts by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from typing import cast as cast_to

from conformance.backends.base import Types
from conformance.cases.types.axis_type import AxisType, State, of
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep

States = dict[str, State]
"""The state along each axis that a program may name."""

CASTS: Final = ("invariant varying", "invariant reduced", "varying unreduced", "reduced varying")
GATHERS: Final = ("varying", "invariant", "reduced")
PENDING: Final = frozenset({"unreduced", "reduced"})
SUMS: Final = frozenset({"add", "subtract", "negate", "sum"})


class TypeRefusedError(ValueError):
    """A step refuses the types of its operands; the message names the step, the axis and the states."""


class StepStates(NamedTuple):
    """The states of a step's operands once cast, and those of its result."""

    operands: tuple[States, ...]
    result: States


def typed(program: TypedProgram) -> dict[str, StepStates]:
    """Return what is found of every step, by the value it makes; raise ``TypeRefusedError`` for one that is refused."""
    states: dict[str, States] = {
        name: {axis: "varying" if axis in given.varying else "invariant" for axis in program.names}
        for name, given in program.inputs.items()
    }
    found = {}
    for number, step in enumerate(program.steps):
        given = [states[name] for name in step.inputs]
        try:
            made = _checked(program, step, given) if program.checked else _unchecked(program, step, given)
        except TypeRefusedError as error:
            raise TypeRefusedError(f"step {number}, {step.op}: {error}") from None
        found[step.output], states[step.output] = made, made.result
    return found


def shown(program: TypedProgram, found: dict[str, StepStates]) -> Types:
    """Return the types of the values that steps make, as the protocol has them."""
    if not program.checked:
        return {name: AxisType() for name in found}
    return {name: of({a: s for a, s in each.result.items() if s != "invariant"}) for name, each in found.items()}


def _named(program: TypedProgram, step: TypedStep) -> None:
    for axis in step.axes:
        if axis not in program.names:
            raise TypeRefusedError(f"axis {axis!r} is not mapped")


def _waited(program: TypedProgram, step: TypedStep) -> None:
    """Refuse a done of what is not started as the same operation, and anything else of what is started.

    A gather to what it cannot give is refused here too, and a start of one to invariant.
    """
    to = step.attrs.get("to")
    if step.op == "all_gather" and (to not in GATHERS or (step.start and to == "invariant")):
        raise TypeRefusedError(f"there is no {'start of a ' if step.start else ''}gather to {to}")
    started = program.started
    kinds = [started.get(name) for name in step.inputs]
    if step.op == "done" and kinds != [step.attrs["of"]]:
        raise TypeRefusedError(f"a done of {step.attrs['of']} takes a started one; got {kinds[0] or 'none'}")
    if step.op != "done" and any(kinds):
        raise TypeRefusedError("an operand is only started, and nobody has waited for it")


def _unchecked(program: TypedProgram, step: TypedStep, given: list[States]) -> StepStates:
    """Without types a step refuses what no invariant operand has."""
    _named(program, step)
    _waited(program, step)
    to = step.attrs.get("to")
    if step.op == "cast" and step.axes and f"invariant {to}" not in CASTS:
        raise TypeRefusedError(f"nothing is cast from invariant to {to}")
    if step.op == "all_gather" and step.axes and to == "reduced":
        raise TypeRefusedError("a gather to reduced needs an operand that varies")
    return StepStates(tuple(given), dict.fromkeys(program.names, "invariant"))


def _checked(program: TypedProgram, step: TypedStep, given: list[States]) -> StepStates:
    _named(program, step)
    _waited(program, step)
    if step.op == "axis_index":
        if not program.automatic and step.axes[1:]:
            raise TypeRefusedError("the parts of an index over several axes differ in state, and none is cast")
        return StepStates((), {axis: "varying" if axis in step.axes else "invariant" for axis in program.names})
    if step.op in LOCAL or step.op == "ragged_all_to_all":
        cast = tuple(_met(step, each, given, automatic=program.automatic) for each in given)
        return StepStates(cast, _joined("add" if step.op == "ragged_all_to_all" else step.op, cast))
    if step.attrs.get("local_axes"):
        raise TypeRefusedError("a reduction over local axes too has no type")
    if step.groups is not None and (step.op == "all_reduce" or step.attrs.get("to", "varying") != "varying"):
        raise TypeRefusedError("what several groups hold is not the same along the axis")
    if not step.axes:
        return StepStates((given[0],), given[0])
    return _collective(step, given[0], automatic=program.automatic)


def _collective(step: TypedStep, given: States, *, automatic: bool) -> StepStates:
    kinds = {given[axis] for axis in step.axes}
    adds = step.op == "reduce_scatter" or step.attrs.get("op") in ("sum", "mean")
    if (adds or step.op == "cast") and len(kinds) > 1:
        raise TypeRefusedError(f"the axes {list(step.axes)} are {', '.join(sorted(kinds))}; one state is needed")
    if step.op == "cast":
        (state,), to = kinds, str(step.attrs["to"])
        if f"{state} {to}" not in CASTS:
            raise TypeRefusedError(f"nothing is cast from {state} to {to}")
        return StepStates((given,), given | dict.fromkeys(step.axes, cast_to(State, to)))
    to = {"all_reduce": "invariant", "all_gather": str(step.attrs.get("to"))}.get(step.op, "varying")
    if to == "reduced" and "varying" not in kinds:
        raise TypeRefusedError("a gather to reduced needs an operand that varies")
    asks = step.op != "broadcast" and (automatic or (step.op == "all_gather" and to != "varying"))
    extreme = step.attrs.get("op") in ("max", "min") and "varying" in kinds and not automatic
    needed = [axis for axis in step.axes if not (extreme and given[axis] == "invariant")]
    if step.op == "reduce_scatter" and kinds == {"unreduced"} and step.groups is not None:
        raise TypeRefusedError("a contribution to the sum of all is no contribution to that of a group")
    cast = given if adds and kinds == {"unreduced"} else _varying(given, needed, automatic=asks)
    result: States = cast | dict.fromkeys(step.axes, cast_to(State, to))
    if step.attrs.get("op") == "mean" and not automatic and "varying" in result.values():
        raise TypeRefusedError("the number of terms is invariant, and is not cast to divide what varies")
    if step.attrs.get("op") == "mean" and PENDING & set(result.values()):
        raise TypeRefusedError("the sum of a mean is still to be made, or reduced, along another axis")
    return StepStates((cast,), result)


def _varying(given: States, axes: Iterable[str], *, automatic: bool) -> States:
    """Return the states once cast to varying along ``axes``."""
    for axis in axes:
        if given[axis] in PENDING:
            raise TypeRefusedError(f"the operand is {given[axis]} along {axis!r}")
        if given[axis] == "invariant" and not automatic:
            raise TypeRefusedError(f"the operand is invariant along {axis!r}, and nothing is cast by itself")
    return given | dict.fromkeys(axes, "varying")


def _met(step: TypedStep, given: States, all_given: Sequence[States], *, automatic: bool) -> States:
    """Return the states of an operand once it varies wherever one does; all its reduced axes may be cast to that."""
    wanted = {axis for each in all_given for axis, state in each.items() if state == "varying"} | set(step.axes)
    missing = {axis for axis in wanted if given[axis] != "varying"}
    reduced = {axis for axis, state in given.items() if state == "reduced"}
    if step.op in LOCAL and automatic and missing and missing == reduced:
        return given | dict.fromkeys(missing, "varying")
    return _varying(given, missing, automatic=automatic)


def _joined(op: str, operands: Sequence[States]) -> States:
    result: States = {}
    for axis in operands[0]:
        column = [each[axis] for each in operands]
        kinds = set(column)
        if op == "multiply" and kinds == PENDING:
            result[axis] = "unreduced"
        elif len(kinds) > 1:
            raise TypeRefusedError(f"along {axis!r} the operands are {' and '.join(column)}")
        elif kinds == {"unreduced"} and op not in SUMS:
            raise TypeRefusedError(f"the operand is unreduced along {axis!r}, and {op} is no sum")
        else:
            result[axis] = column[0]
    if op == "multiply" and "unreduced" in result.values():
        pending = [each for each in operands if "unreduced" in each.values()]
        if len(pending) > 1 or "reduced" in result.values():
            raise TypeRefusedError("one factor is unreduced exactly where the other is reduced")
    return result
