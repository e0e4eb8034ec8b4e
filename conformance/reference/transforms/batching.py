"""A program mapped over new axes: a loop over slices, in which a step may also meet across them.

Every slice on every rank is a member of its own. Mapping over a level gives the program one more axis to name, whose
positions are the slices; where no step names it, that is a loop over slices and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

import numpy as np
from msgspec.structs import replace

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedProgram
from conformance.reference.transforms.no_rule import NoRule
from conformance.reference.types.check import check
from conformance.reference.types.values import evaluate, visible

Blocks = list[Array]


def over_mesh(program: TypedProgram, names: Collection[str]) -> TypedProgram:
    """Return the program without the levels ``names`` in its steps: types speak about mesh axes alone."""
    steps = (replace(step, axes=tuple(axis for axis in step.axes if axis not in names)) for step in program.steps)
    return replace(program, steps=tuple(steps))


def batched(program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, Blocks]) -> dict[str, Blocks]:
    """Return the results of ``program`` mapped over ``levels``, the outermost first; of an unreduced one its sum.

    ``inputs`` has a block a rank, with the axes of the levels in it. Raise ``IllTyped`` for an ill-typed program and
    ``NoRule`` for one that starts something.
    """
    if program.started:
        raise NoRule(f"a started {next(iter(program.started.values()))} has no batching rule")
    types = check(over_mesh(program, [level.name for level in levels]))
    mesh = (*program.mesh, *(Axis(name=level.name, size=level.size) for level in levels))
    wide = replace(program, mesh=mesh)
    values = evaluate(wide, {name: sliced(name, blocks, levels) for name, blocks in inputs.items()})
    shown = {name: visible(wide, types[name], values[name]) for name in program.results}
    return {name: stacked(blocks, levels) for name, blocks in shown.items()}


def sliced(name: str, blocks: Blocks, levels: Sequence[Level]) -> Blocks:
    """Return the slice of each member: those of rank 0 first, and of them those of the outermost level's slice 0."""
    found = []
    for block in blocks:
        for at in product(*(range(level.size) for level in levels)):
            part = block
            for level, position in zip(levels, at, strict=True):
                part = part.take(position, level.inputs[name]) if name in level.inputs else part
            found.append(part)
    return found


def stacked(slices: Blocks, levels: Sequence[Level]) -> Blocks:
    """Return a block a rank of the slices of its members."""
    for level in reversed(levels):
        if level.result > (most := slices[0].ndim):
            raise CaseError(f"level {level.name!r} puts its axis at {level.result} of a result that has {most} axes")
        rows = range(0, len(slices), level.size)
        slices = [np.stack(slices[start : start + level.size], level.result) for start in rows]
    return slices
