"""A program becomes a graph: each input block a view of its storage, each step a checked collective."""

from __future__ import annotations

import math

from conformance.backends.opencl.graph import Buffer, Movement, Output, whole
from conformance.backends.opencl.operations import collective
from conformance.backends.opencl.rejections import WrongAttributesError
from conformance.backends.opencl.view import View
from conformance.cases.dtypes import Array, logical
from conformance.cases.program import Program, rank_groups

Blocks = tuple[Movement, ...]


def trace(program: Program, placed: dict[str, list[tuple[Array, Array]]]) -> dict[str, Blocks]:
    """Return the blocks of every result, one for each rank; raise a ``RejectionError`` for an illegal step."""
    values = {name: tuple(_block(name, rank, *pair) for rank, pair in enumerate(p)) for name, p in placed.items()}
    for step in program.steps:
        groups = rank_groups(program.mesh, step.axes, step.groups)
        if len(step.inputs) != len(step.outputs):
            raise WrongAttributesError(
                f"{step.op}: {len(step.inputs)} inputs need as many outputs, got {len(step.outputs)}"
            )
        for source, target in zip(step.inputs, step.outputs, strict=True):
            made = collective(step.op, values[source], step.attrs, groups)
            size = math.prod(made.shape)
            values[target] = tuple(
                whole(Output(rank, made.dtype, size, made), made.shape) for rank in range(program.world)
            )
    return {name: values[name] for name in program.results}


def _block(name: str, rank: int, storage: Array, view: Array) -> Movement:
    width = storage.dtype.itemsize
    start = view.__array_interface__["data"][0] - storage.__array_interface__["data"][0]
    strides = tuple(stride // width for stride in view.strides)
    return Movement(Buffer(rank, logical(storage.dtype), storage.size, name), View(view.shape, strides, start // width))
