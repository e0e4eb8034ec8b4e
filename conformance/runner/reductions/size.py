"""How large a program is to read."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.cases.program.program import Step


def size(case: Case) -> tuple[int, ...]:
    """Return how large a case is: ranks, mesh axes, data, layouts, words, steps, and digits that are not zero."""
    blocks = [block for operand in case.inputs.values() for block in operand.blocks]
    layouts = [layout for operand in case.inputs.values() for layout in operand.layouts]
    return (
        case.program.world,
        len(case.program.mesh),
        sum(len(block.bits) for block in blocks) + sum(len(block.shape) for block in blocks),
        sum(layout != "contiguous" for layout in layouts),
        sum(_words(step) for step in case.program.steps),
        sum(1 + len(step.inputs) + len(step.into) + step.start for step in case.program.steps)
        + len(case.program.results)
        + len(case.faults)
        + sum(step.ranks is not None for step in case.program.steps),
        sum(len(block.bits.replace("0", "")) for block in blocks),
    )


def _words(step: Step) -> int:
    """Return how much there is to read in a step: its groups and attributes, and a number less than a larger one."""
    return len(str(step.groups or "")) + len(str(step.attrs)) + sum(map(_magnitude, step.attrs.values()))


def _magnitude(value: object) -> int:
    if isinstance(value, tuple | list):
        return sum(map(_magnitude, value))
    return abs(value) if type(value) is int else 0
