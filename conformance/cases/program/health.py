"""The small program that is run after one with trouble: whether the same ranks still compute."""

from __future__ import annotations

import numpy as np

from conformance.cases.case import Case, Operand, digest
from conformance.cases.program.program import Groups, Program, Step, rank_groups
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array


def followed(case: Case) -> tuple[Case, ...]:
    """Return what is run for ``case``: itself, and after one with trouble its health program."""
    return (case, health_case(case)) if case.troubled else (case,)


def health_case(case: Case) -> Case:
    """Return sums of one int32 element each: over all ranks, and in all other groups in which the case's ranks meet.

    The elements are the rank and a number of the case's own, so that what was left of another such program is wrong.
    """
    program, first = case.program, int(digest(case)[:4], 16)
    whole = Step(
        op="all_reduce",
        inputs=("x",),
        outputs=("y0",),
        axes=tuple(axis.name for axis in program.mesh),
        attrs={"op": "sum"},
    )
    steps: dict[Groups, Step] = {(tuple(range(program.world)),): whole}
    for step in program.collectives:
        groups = _legal_groups(program, step)
        if groups is not None and groups not in steps:
            steps[groups] = Step(
                op=whole.op,
                inputs=whole.inputs,
                outputs=(f"y{len(steps)}",),
                axes=step.axes,
                groups=step.groups,
                attrs=whole.attrs,
            )
    layout: Layout = "contiguous"
    blocks = tuple(from_array(np.array([first + rank], np.int32)) for rank in range(program.world))
    return Case(
        program=Program(
            mesh=program.mesh, steps=tuple(steps.values()), results=tuple(step.outputs[0] for step in steps.values())
        ),
        inputs={"x": Operand(blocks=blocks, layouts=(layout,) * program.world)},
    )


def _legal_groups(program: Program, step: Step) -> Groups | None:
    """Return the ranks that meet in a step, or ``None`` where its axes or groups make no sense."""
    try:
        groups = rank_groups(program.mesh, step.axes, step.groups)
    except ValueError:
        return None
    legal = all(groups) and sorted(rank for group in groups for rank in group) == list(range(program.world))
    return groups if legal else None
