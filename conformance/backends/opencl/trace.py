"""A program becomes a graph: each input a block a rank, each step a checked collective."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from conformance.backends.opencl import rejections as no
from conformance.backends.opencl.attributes import attributes, partitioned
from conformance.backends.opencl.graph import Collective, Fill, Movement, Output, whole
from conformance.backends.opencl.operations import alike, collective
from conformance.backends.opencl.ragged import TABLES, exchange
from conformance.backends.opencl.token import Token, received, sent
from conformance.cases.dtypes import Array
from conformance.cases.program import Groups, Program, Step, rank_groups

Blocks = tuple[Movement | None, ...]
"""One block a rank; ``None`` where a rank has none."""

Value = Blocks | Token

Read = Callable[[tuple[Movement, ...]], list[Array]]
"""Compute blocks and bring their values to the host."""

INT32 = range(-(2**31), 2**31)


class Traced(msgspec.Struct, frozen=True):
    """The blocks of every result, and the groups of every barrier in the order of the program."""

    results: dict[str, Blocks]
    barriers: tuple[Groups, ...]


def trace(program: Program, sources: Mapping[str, Blocks], read: Read) -> Traced:
    """Return the graph of ``program`` on ``sources``, its inputs; raise a ``RejectionError`` for an illegal step.

    ``read`` is asked for the tables of a ragged exchange, the one place where shapes depend on data.
    """
    values: dict[str, Value] = dict(sources)
    barriers: list[Groups] = []
    for step in program.steps:
        groups = _groups(program, step)
        operands = [values[name] for name in step.inputs]
        _check_arity(step)
        stage = len(barriers)
        if step.op == "barrier":
            attributes(step.op, step.attrs)
            partitioned(groups, program.world)
            barriers.append(groups)
        elif step.op == "ragged_all_to_all":
            attributes(step.op, step.attrs)
            ready = [_blocks(step, operand) for operand in operands]
            for blocks in ready:
                alike(blocks)
            tables = [read(table) for table in ready[2:]]
            values[step.outputs[0]] = _outputs(exchange(ready[0], ready[1], tables, groups, stage))
        elif step.op in _CONSTANTS:
            values[step.outputs[0]] = _constants(step, groups, program.world)
        else:
            attributes(step.op, step.attrs)
            for operand, target in zip(operands, step.outputs, strict=True):
                values[target] = _mapped(step, operand, groups, stage)
    return Traced({name: _result(name, values[name]) for name in program.results}, tuple(barriers))


def _groups(program: Program, step: Step) -> Groups:
    names = [axis.name for axis in program.mesh]
    for name in step.axes:
        if name not in names:
            raise no.MeshAxisUnknownError(f"{step.op}: the mesh has no axis {name!r}; it has {', '.join(names)}")
    if len(set(step.axes)) != len(step.axes):
        raise no.MeshAxisRepeatedError(f"{step.op}: axes {list(step.axes)} name one twice; each may appear once")
    return rank_groups(program.mesh, step.axes, step.groups)


def _check_arity(step: Step) -> None:
    wanted = {"barrier": (0, 0), "ragged_all_to_all": (2 + len(TABLES), 1)} | dict.fromkeys(_CONSTANTS, (0, 1))
    inputs, outputs = wanted.get(step.op, (len(step.inputs),) * 2)
    if (len(step.inputs), len(step.outputs)) != (inputs, outputs):
        raise no.WrongAttributesError(
            f"{step.op}: {inputs} inputs and {outputs} outputs belong together, got {len(step.inputs)} and "
            f"{len(step.outputs)}"
        )


def _mapped(step: Step, operand: Value, groups: Groups, stage: int) -> Value:
    """Return the value of an operation on one operand; over no axis there is nobody to meet, so the operand itself."""
    if step.op == "recv":
        if step.idle:
            return operand
        if not isinstance(operand, Token):
            raise no.WrongValueError(f"recv takes the token of a send, got the blocks {step.inputs[0]!r}")
        return received(operand, step.attrs, groups)
    blocks = _blocks(step, operand)
    if step.idle:
        # Even where nobody meets, all ranks hold one shape and dtype.
        if step.op != "all_to_all_uneven":
            alike(blocks)
        return blocks
    made = collective(step.op, blocks, step.attrs, groups, stage)
    return sent(made) if step.op == "send" else _outputs(made)


def _outputs(made: Collective) -> Blocks:
    return tuple(
        None if shape is None else whole(Output(rank, made.dtype, math.prod(shape), made), shape)
        for rank, shape in enumerate(made.shapes)
    )


def _constants(step: Step, groups: Groups, world: int) -> Blocks:
    attrs = attributes(step.op, step.attrs)
    partitioned(groups, world)
    found = {rank: _CONSTANTS[step.op](group, p, attrs) for group in groups for p, rank in enumerate(group)}
    for rank, value in found.items():
        if value not in INT32:
            raise no.ConstantTooLargeError(f"{step.op}: {value} on rank {rank} is outside int32")
    return tuple(whole(Fill(rank, "int32", 1, found[rank]), ()) for rank in range(world))


_CONSTANTS: dict[str, Callable[[tuple[int, ...], int, dict[str, Any]], int]] = {
    "axis_index": lambda _group, position, _attrs: position,
    "axis_size": lambda group, _position, _attrs: len(group),
    "reduce_constant": lambda group, _position, attrs: len(group) * int(attrs["value"]),
}


def _blocks(step: Step, value: Value) -> tuple[Movement, ...]:
    """Return a block for each rank; raise ``WrongValueError`` for a token and for ranks that hold nothing."""
    if isinstance(value, Token):
        raise no.WrongValueError(f"{step.op} takes blocks, got the token of a send; only recv takes one")
    found = tuple(block for block in value if block is not None)
    if len(found) < len(value):
        raise no.WrongValueError(f"{step.op} needs a block on every rank; rank {value.index(None)} holds nothing")
    return found


def _result(name: str, value: Value) -> Blocks:
    if isinstance(value, Token):
        raise no.WrongValueError(f"result {name!r} is the token of a send; only recv takes one")
    return value
