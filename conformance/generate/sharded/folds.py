"""Folds over devices in which the order of the devices shows: numbers of which most sums and products round."""

from __future__ import annotations

from typing import Final

from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split, even_cuts
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs import graphs
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.sharded.operands import held
from conformance.generate.sharded.placements import NAMES, devices
from conformance.generate.sharded.programs import Program, known

FLOATS: Final = ("float32", "float64", "float16", "float32", "bfloat16")

BESIDE: Final = (5, 3, 7, 16, 9, 12, 1)
"""Elements beside the axis that is folded: a ring cuts all of these but 1 and 16 into several chunks."""


@choices.composite
def folds(draw: Draw) -> ShardedCase:
    """Draw one to three folds of one tensor along the axis that is split, each asked for by itself."""
    count = draw(choices.sampled_from([4, 3, 5, 8, 6, 3, 7, 4]))
    mesh = (Axis(name=NAMES[0], size=count),)
    swarm = draw(graphs.swarms())
    dtype = draw(choices.sampled_from(FLOATS))
    swarm = swarm._replace(dtypes=(dtype,), regime="real", plain=False)
    program = Program(GraphDraft(draw, swarm), mesh, draw(devices(count)), plain=True, even=True)
    axis = draw(choices.integers(0, 1))
    extent = draw(choices.sampled_from([count, 2 * count, count, 2 * count - 1]))
    shape = [draw(choices.sampled_from(BESIDE))] * 2
    shape[axis] = extent
    where = Placement(splits=(Split(axis=axis, along=(mesh[0].name,), cuts=even_cuts(extent, count)),))
    at = held(program, (shape[0], shape[1]), dtype, where)
    program.asked.head = at
    listed = ["add", *(["mul"] if chance(draw, 2) else []), *(["max"] if chance(draw, 3) else [])]
    for fold in listed:
        made = program.asked.add("reduce", (shape[1 - axis],), dtype, at, arg=(axis,), fold=fold)
        program.asked.wanted.append(made.id)
    program.asked.close(())
    return known(program)
