"""What a typed program computes: its blocks, rank by rank. Casts move nothing, so types change no value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep
from conformance.reference.operations.all_gather import all_gather
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.all_to_all import all_to_all
from conformance.reference.operations.axis_index import axis_index
from conformance.reference.operations.broadcast import broadcast
from conformance.reference.operations.permute import permute
from conformance.reference.operations.reduce_scatter import reduce_scatter
from conformance.reference.operations.shuffle import shuffle

Blocks = list[Array]

COLLECTIVES: Final[dict[str, Callable[..., Blocks]]] = {
    "all_gather": all_gather,
    "all_reduce": all_reduce,
    "all_to_all": all_to_all,
    "broadcast": broadcast,
    "permute": permute,
    "reduce_scatter": reduce_scatter,
    "shuffle": shuffle,
}

ELEMENTWISE: Final[dict[str, Callable[..., Array]]] = {
    "add": np.add,
    "maximum": np.maximum,
    "multiply": np.multiply,
    "negate": np.negative,
    "subtract": np.subtract,
}


def evaluate(program: TypedProgram, inputs: Mapping[str, Blocks]) -> dict[str, Blocks]:
    """Return the blocks of every value, one a rank; raise ``Rejected`` where an operation has no meaning.

    ``inputs`` holds a block for each rank; along an axis where an input is invariant the blocks are equal.
    """
    values = {name: list(blocks) for name, blocks in inputs.items()}
    for step in program.steps:
        values[step.output] = _blocks(program, step, [values[name] for name in step.inputs])
    return values


def visible(program: TypedProgram, given: AxisType, blocks: Blocks) -> Blocks:
    """Return what a value shows: its blocks, or where it is unreduced those of its sum."""
    if not given.unreduced:
        return blocks
    return all_reduce(blocks, op="sum", groups=lines(program.mesh, given.unreduced))


def _blocks(program: TypedProgram, step: TypedStep, operands: list[Blocks]) -> Blocks:
    attrs: dict[str, Any] = {name: value for name, value in step.attrs.items() if name != "to"}
    if step.op == "sum":
        return [np.sum(block, axis=attrs["axis"], dtype=block.dtype) for block in operands[0]]
    if step.op in LOCAL:
        return [ELEMENTWISE[step.op](*blocks) for blocks in zip(*operands, strict=True)]
    if step.op == "axis_index":
        return axis_index(groups=lines(program.mesh, step.axes))
    if step.op == "cast" or not step.axes:
        return operands[0]
    return COLLECTIVES[step.op](operands[0], **attrs, groups=lines(program.mesh, step.axes))
