"""What a typed program computes: its blocks, rank by rank. Casts move nothing, so types change no value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis, Groups, lines, rank_groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import LOCAL, TypedProgram, TypedStep
from conformance.reference.operations.all_gather import all_gather
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.all_to_all import all_to_all
from conformance.reference.operations.axis_index import axis_index
from conformance.reference.operations.broadcast import broadcast
from conformance.reference.operations.permute import permute
from conformance.reference.operations.ragged_all_to_all import ragged_all_to_all
from conformance.reference.operations.reduce_scatter import reduce_scatter
from conformance.reference.operations.shuffle import shuffle

Blocks = list[Array]

COLLECTIVES: Final[dict[str, Callable[..., Blocks]]] = {
    "all_gather": all_gather,
    "all_reduce": all_reduce,
    "all_to_all": all_to_all,
    "broadcast": broadcast,
    "permute": permute,
    "recv": permute,
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

    What is started has happened from then on, whether anybody waits for it or not; who does gets it, again and again.

    ``inputs`` holds a block for each rank; along an axis where an input is invariant the blocks are equal.
    """
    values = {name: list(blocks) for name, blocks in inputs.items()}
    for step in program.steps:
        values[step.output] = _blocks(program.mesh, step, [values[name] for name in step.inputs])
    return values


def visible(program: TypedProgram, given: AxisType, blocks: Blocks) -> Blocks:
    """Return what a value shows: its blocks, or where it is unreduced those of its sum."""
    if not given.unreduced:
        return blocks
    return all_reduce(blocks, op="sum", groups=lines(program.mesh, given.unreduced))


def tables(step: TypedStep, world: int, groups: Groups, mesh: tuple[Axis, ...] = ()) -> list[list[Array]]:
    """Return the offsets and sizes of a ragged exchange, for each table a row a rank: that of its position.

    Where they are of a level, the rows of its later slices come after those of the earlier ones.
    """
    place = {rank: position for group in groups for position, rank in enumerate(group)}
    if level := step.attrs.get("level"):
        for line in lines(mesh, (str(level),)):
            for number, rank in enumerate(line):
                place[rank] += number * len(groups[0])
    rows = (step.attrs[name] for name in TABLES)
    return [[np.array(row[place[rank]], np.int32) for rank in range(world)] for row in rows]  # type: ignore[index]


TABLES: Final = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")


def step_blocks(mesh: tuple[Axis, ...], step: TypedStep, operands: list[Blocks]) -> Blocks:
    """Return what one step gives, of the blocks of its operands."""
    return _blocks(mesh, step, operands)


def _blocks(mesh: tuple[Axis, ...], step: TypedStep, operands: list[Blocks]) -> Blocks:
    if step.op in LOCAL:
        return _local(step, operands)
    groups = rank_groups(mesh, step.axes, step.groups)
    if step.op == "axis_index":
        return axis_index(groups=groups)
    if step.op in ("cast", "done", "send") or not (step.axes or step.attrs.get("local_axes")):
        return operands[-1]
    if step.op == "ragged_all_to_all":
        return ragged_all_to_all(*operands, *tables(step, len(operands[0]), groups, mesh), groups=groups)
    attrs: dict[str, Any] = {name: value for name, value in step.attrs.items() if name != "to"}
    return COLLECTIVES[step.op](operands[0], **attrs, groups=groups)


def _local(step: TypedStep, operands: list[Blocks]) -> Blocks:
    if step.op == "sum":
        axis, rank = step.attrs["axis"], operands[0][0].ndim
        if not isinstance(axis, int) or axis >= rank:
            raise CaseError(f"sum is over axis {axis} of a block that has {rank}")
        return [np.sum(block, axis=axis, dtype=block.dtype) for block in operands[0]]
    if len(shapes := {block.shape for blocks in operands for block in blocks}) > 1:
        raise CaseError(f"operands of {step.op} have one shape; got {sorted(shapes)}")
    return [ELEMENTWISE[step.op](*blocks) for blocks in zip(*operands, strict=True)]
