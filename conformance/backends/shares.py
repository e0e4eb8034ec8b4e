"""A case as each of its ranks sees it, and what they answered as one, for backends with a process a rank."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Program, Step, rank_groups


def share(case: Case, process: int, each: int = 1) -> Case:
    """Return the case with the blocks of the ranks of ``process`` alone, ``each`` in every process."""
    mine = slice(process * each, (process + 1) * each)
    inputs = {
        name: Operand(blocks=operand.blocks[mine], layouts=operand.layouts[mine])
        for name, operand in case.inputs.items()
    }
    return msgspec.structs.replace(case, inputs=inputs)


def ungrouped(program: Program, step: Step, said: str) -> str | None:
    """Return why the groups of a step are not one for each rank, or ``None``: ``said``, with ``{groups}`` in it."""
    try:
        groups = rank_groups(program.mesh, step.axes, step.groups)
    except ValueError as error:
        return str(error)
    if not all(groups) or sorted(rank for group in groups for rank in group) != list(range(program.world)):
        return said.format(groups=list(groups))
    return None


def merged(case: Case, answers: Sequence[Observation], each: int = 1) -> Observation:
    """Return what processes did, ``each`` of as many ranks with blocks of their own, as one observation.

    Each tells of changes inside of buffers, for no rank knows whether another raised; where none did, they are dropped.
    """
    errors = tuple(answer.errors[0] if answer.errors else None for answer in answers for _ in range(each))
    results = {
        name: tuple(block for answer in answers for block in answer.results.get(name, (None,) * each))
        for name in case.program.results
    }
    raised = any(errors)
    touched = (change for answer in answers for change in answer.touched)
    return Observation(
        results=results,
        errors=errors if raised else (),
        touched=tuple(change for change in touched if raised or not change.inside),
        seconds=max(answer.seconds for answer in answers),
    )
