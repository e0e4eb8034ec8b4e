"""What steps mean that compute on each rank alone: the nodes of a graph that they are, evaluated as a graph's are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.program.computing import Block, leaf, nodes
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.graph.movement import moved
from conformance.reference.graph.nodes import computed


def compute(where: str, step: Step, operands: Sequence[Sequence[Array]]) -> list[Array]:
    """Return the block that a step gives on each rank, of the blocks that the ranks have of its operands.

    Raise ``CaseError``, one line that begins with ``where``, for operands that do not fit.
    """
    made: dict[tuple[Block, ...], list[Node]] = {}
    found = []
    for blocks in zip(*operands, strict=True):
        kinds = tuple(Block(logical(each.dtype), each.shape) for each in blocks)
        if kinds not in made:
            made[kinds] = nodes(where, step, [leaf(str(number), each) for number, each in enumerate(kinds)], "made")
        found.append(_value(made[kinds], blocks))
    return found


def _value(made: Sequence[Node], operands: Sequence[Array]) -> Array:
    """Return the value of the last node, where the operands have their numbers as names."""
    known = {str(number): block for number, block in enumerate(operands)}
    for node in made:
        of = [known[source] for source in node.of]
        known[node.id] = np.asarray(moved(node, of[0], 0, {})) if node.op in MOVEMENT else computed(node, of)
    return known[made[-1].id]
