"""Wrong starts and dones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.reference.types import check as right_check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.started import refuse_pending
from conformance.reference.types.values import evaluate
from conformance.specs.types.starts import name_of_start

Blocks = list[Array]
Values = dict[str, Blocks]

PENDING: Final = "conformance.reference.types.check.refuse_pending"
VALUES: Final = "conformance.backends.reference.typed_values"
SHOWN: Final = "conformance.backends.reference.check"
right_types = right_check.check


def _unless(*clauses: str) -> Callable[[TypedProgram, TypedStep], None]:
    """Return the check of what is started without some of its rules."""

    def wrong(program: TypedProgram, step: TypedStep) -> None:
        try:
            refuse_pending(program, step)
        except IllTyped as error:
            if error.clause not in clauses:
                raise

    return wrong


def _named(program: TypedProgram, name: str) -> list[TypedStep]:
    types = right_types(program)
    return [
        step
        for step in program.steps
        if step.start
        and name_of_start(step, types[step.inputs[0]], types[step.output], checked=program.checked) == name
    ]


def _waits(program: TypedProgram, step: TypedStep) -> list[str]:
    return [each.output for each in program.steps if each.op == "done" and each.inputs[0] == step.output]


def _values(change: Callable[[TypedProgram, Values], None]) -> Callable[..., Values]:
    def wrong(program: TypedProgram, inputs: Mapping[str, Blocks]) -> Values:
        values = evaluate(program, inputs)
        change(program, values)
        return values

    return wrong


def _not_done(name: str) -> Callable[..., Values]:
    """Give the operand of a start for what its done gives, where it has the shape of that."""

    def change(program: TypedProgram, values: Values) -> None:
        for step in _named(program, name):
            operand = values[step.inputs[0]]
            for made in _waits(program, step):
                values[made] = operand if operand[0].shape == values[made][0].shape else values[made]

    return _values(change)


def _second(program: TypedProgram, values: Values) -> None:
    for step in program.steps:
        for again in _waits(program, step)[1:] if step.start else ():
            values[again] = [np.zeros_like(block) for block in values[again]]


def _spoils(program: TypedProgram, values: Values) -> None:
    for step in program.steps:
        if step.start and not _waits(program, step):
            last = program.results[-1:]
            values.update({name: [block + block.dtype.type(1) for block in values[name]] for name in last})


def _typed(name: str, state: Any) -> Callable[[TypedProgram], Mapping[str, AxisType]]:
    """Give what a start gives another state."""

    def wrong(program: TypedProgram) -> Mapping[str, AxisType]:
        types = right_types(program)
        for step in _named(program, name):
            for made in (step.output, *_waits(program, step)):
                types[made] = types[made].along(step.axes, state)
        return types

    return wrong


MUTANTS: Final = (
    TypedMutant("AnyDoneFits", "A done takes what another operation started.", {PENDING: _unless("starts.C9")}),
    TypedMutant("DoneOfAnything", "A done takes what was never started.", {PENDING: _unless("starts.C8", "starts.C9")}),
    TypedMutant("StartedIsAValue", "What is started is taken as a value.", {PENDING: _unless("starts.C10")}),
    TypedMutant("SecondDoneIsEmpty", "Waiting again gives zeros.", {VALUES: _values(_second)}),
    TypedMutant("NeverDoneSpoils", "What nobody waits for spoils a result.", {VALUES: _values(_spoils)}),
    TypedMutant("StartedSumNeverMade", "The sum is the operand.", {VALUES: _not_done("psum_invariant")}),
    TypedMutant("StartedPendingSumNeverMade", "The sum is the operand.", {VALUES: _not_done("unreduced_psum")}),
    TypedMutant("StartedSumVaries", "The sum varies.", {SHOWN: _typed("psum_invariant", "varying")}),
    TypedMutant("StartedPendingSumStays", "It is unreduced still.", {SHOWN: _typed("unreduced_psum", "unreduced")}),
    TypedMutant(
        "StartedScatterStays", "It is unreduced still.", {SHOWN: _typed("unreduced_reduce_scatter", "unreduced")}
    ),
    TypedMutant("StartedReducedVaries", "The gather varies.", {SHOWN: _typed("all_gather_reduced", "varying")}),
)
