"""Comparisons about the storage that programs name: what lies around its elements, and what a refusal leaves in it."""

from __future__ import annotations

from itertools import compress

from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.judging.compare import changed
from conformance.judging.subject import Subject
from conformance.reference.operations import OPERATIONS
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import run


def around(subject: Subject) -> bool:
    """Speak about buffers with something around their elements."""
    inputs, sources = subject.case.inputs, subject.case.program.buffers.values()
    return any(layout in ("strided", "offset") for source in sources for layout in inputs[source].layouts)


def surroundings_kept(subject: Subject, seen: Observation) -> str | None:
    """Demand that no byte around the elements of any buffer changed."""
    inputs = subject.case.inputs
    touches = (touch for touch in seen.touched if touch.input not in inputs and not touch.inside)
    return next((f"around buffer {changed(touch)}" for touch in touches), None)


def first_write_refused(subject: Subject) -> bool:
    """Speak about programs that have no meaning up to the first step that writes, so that nothing is to be written.

    Where no step writes or frees, that is all of the program.

    What is started may be refused by done, after whatever is written in between (``async.C17``).
    """
    program = subject.case.program
    if subject.rejected is None or not program.buffers:
        return False
    writes = [at for at, step in enumerate(program.steps) if step.into or step.op in ("assign", "free")]
    steps = program.steps[: writes[0] + 1] if writes else program.steps
    waited = {name for step in steps if step.op == "done" for name in step.inputs}
    certain = (
        not step.start or waited.intersection(step.outputs) or {at} >= {*writes} for at, step in enumerate(steps)
    )
    begun = replace(program, steps=tuple(compress(steps, certain)), results=())
    try:
        run(replace(subject.case, program=begun), subject.case.blocks(), OPERATIONS)
    except Rejected:
        return True
    return False


def nothing_written(subject: Subject, seen: Observation) -> str | None:
    """Demand that no element of any buffer changed; that the program is refused is for other clauses to demand."""
    del subject
    return next((f"buffer {changed(touch)}" for touch in seen.touched if touch.inside), None)
