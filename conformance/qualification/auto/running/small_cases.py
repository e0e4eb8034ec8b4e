"""All small cases of one collective: what equivalence of mutants is decided on."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case, digest
from conformance.qualification.drawn_cases import Drawn, drawn_case
from conformance.qualification.small_calls import apart_calls, small_calls
from conformance.reference.operations import OPERATIONS

SUITE: Final = "small"


def small_cases(more: tuple[Drawn, ...]) -> tuple[Drawn, ...]:
    """Return the small cases: legal and illegal calls on int32 blocks, and every dtype and reduction on special values.

    Calls are those of operations of one operand or none: groups of at most 3 ranks, shapes of at most two axes with
    extents of at most 2, sums and maxima, all other attributes near them, and the legal ones in every form. Calls of
    several operands, or with a token, are those small ones that ``more`` has.
    """
    found: dict[str, Drawn] = {}
    for op in OPERATIONS:
        for case in small_calls(op):
            found.setdefault(digest(case), drawn_case(case, SUITE, op, len(found)))
    for case in apart_calls():
        found.setdefault(digest(case), drawn_case(case, SUITE, case.program.steps[-1].op, len(found)))
    for each in more:
        if _is_small(each.case):
            found.setdefault(each.name, drawn_case(each.case, SUITE, each.op, len(found)))
    return tuple(found.values())


def _is_small(case: Case) -> bool:
    blocks = [block for operand in case.inputs.values() for block in operand.blocks]
    few = len(case.program.collectives) <= 1 + any(step.op == "send" for step in case.program.steps)
    return case.program.world <= 3 and few and all(extent <= 2 for block in blocks for extent in block.shape)
