"""Typed programs in which two dones wait for one start, whose results meet in a sum."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.case_error import CaseError
from conformance.cases.types.starts import no_start, no_such_start
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedProgram
from conformance.cases.types.validate import validate_case
from conformance.generate.tables.typed import FACTORS, case_of
from conformance.generate.tables.typed_calls import CALLS
from conformance.reference.rejection import Rejected
from conformance.reference.transforms.meaning import typed_meaning
from conformance.reference.types.ill_typed import IllTyped

STARTED: Final = tuple(
    {
        (call.op, call.attrs(2).get("to")): call
        for call in CALLS
        if no_start(call.op, call.attrs(2)) is None and no_such_start(call.op, call.attrs(2)) is None
    }.values()
)
"""A call of each operation that can be started."""


def waited_twice() -> Iterator[TypedCase]:
    """Yield programs for each question and each operation that can be started."""
    plainest: dict[str, Any] = {name: levels[0] for name, levels in FACTORS.items()}
    for asked, call in product(("lowered", "types", "transposed", "pushed", "batched", "compiled"), STARTED):
        row = plainest | {"asked": asked, "call": call, "start": True, "then": "add", "with": "itself"}
        for checked in (True, False) if asked == "lowered" else (True,):
            case = case_of(row | {"mesh": (4,), "checked": checked, "dtype": "float32"})
            found = None if case is None else _with_second_done(case)
            if found is not None:
                yield found


def _with_second_done(case: TypedCase) -> TypedCase | None:
    """Return a case whose sum takes a second done of the same start; ``None`` where that has no meaning."""
    done = next(step for step in case.program.steps if step.op == "done")
    second = replace(done, output="y2")
    steps = [
        each
        for step in case.program.steps
        for each in (
            (step, second) if step is done else (replace(step, inputs=(done.output, "y2")),)
            if step.inputs == (done.output, done.output) else (step,)
        )
    ]  # fmt: skip
    found = replace(case, program=_of(case.program, steps))
    try:
        validate_case(found)
        return found if typed_meaning(found).refused is None else None
    except (CaseError, IllTyped, Rejected, ValueError):
        return None


def _of(program: TypedProgram, steps: list[Any]) -> TypedProgram:
    return replace(program, steps=tuple(steps))
