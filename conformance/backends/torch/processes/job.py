"""A case on its way to ranks, and what it looks like.

Cases that look like one that broke its ranks are kept from the others. That decides about company alone, never
about an outcome: every case is run, and one that breaks ranks which have served others is run again alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from conformance.cases.case import Case
from conformance.cases.program.program import Attr

Looks = Hashable

TROUBLED: Final = "troubled"
"""What a case looks like in which ranks go their own ways, are late or die: it is taken to break its ranks."""


class Job(NamedTuple):
    """A case, the key its observation goes under, and its looks."""

    key: int
    case: Case
    looks: Looks


def looks(case: Case) -> Looks:
    """Return the operations, their numeric attributes, the ranks of the blocks and whether these are alike.

    All cases with trouble look alike.
    """
    if case.troubled:
        return TROUBLED
    steps = tuple(
        (step.op, frozenset((name, _word(value)) for name, value in step.attrs.items())) for step in case.program.steps
    )
    operands = tuple(
        (len(operand.blocks[0].shape), len({(block.dtype, block.shape) for block in operand.blocks}) == 1)
        for operand in case.inputs.values()
    )
    return steps, operands


def _word(value: Attr) -> Hashable:
    return type(value).__name__ if isinstance(value, str | tuple) else value
