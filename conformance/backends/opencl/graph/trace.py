"""A program becomes a graph: each input a block a rank, each step a checked collective."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.attributes import WANTED, attributes, partitioned, takes
from conformance.backends.opencl.graph.computing import computed, unwritten, used_once
from conformance.backends.opencl.graph.meetings import TOGETHER, meet
from conformance.backends.opencl.graph.node import Collective, Fill, Movement, Opened, Output, Write, whole
from conformance.backends.opencl.graph.operations import alike, collective
from conformance.backends.opencl.graph.ragged import TABLES, exchange
from conformance.backends.opencl.graph.storage import (
    States,
    Stored,
    check_targets,
    current,
    ends,
    free,
    frozen,
    opened,
    viewed,
    write,
)
from conformance.backends.opencl.graph.token import Token, received, sent
from conformance.cases.program.program import COMPUTING, EFFECTS, Groups, Program, Step, rank_groups
from conformance.cases.tensor.dtypes import Array

Blocks = tuple[Movement | None, ...]
"""One block a rank; ``None`` where a rank has none."""

TracedValue = Blocks | Token | Stored


INT32 = range(-(2**31), 2**31)


class Traced(msgspec.Struct, frozen=True):
    """The blocks of every result, and the groups of every barrier in the order of the program.

    ``buffers`` are the whole storages that the program leaves, ``made`` what collectives gave, in the order in which
    they were called: it says which of them reads what is overwritten later, and which comes first where none must.
    """

    results: dict[str, Blocks]
    barriers: tuple[Groups, ...]
    buffers: dict[str, Blocks] = {}
    made: tuple[Movement, ...] = ()


Read = Callable[[Traced], list[Array]]
"""Compute the one result of a program and bring its blocks to the host."""


def trace(program: Program, sources: Mapping[str, Blocks], read: Read, lanes: int = 16) -> Traced:
    """Return the graph of ``program`` on ``sources``, its inputs; raise a ``RejectionError`` for an illegal step.

    ``read`` is asked for the tables of a ragged exchange, the one place where shapes depend on data. ``lanes`` is how
    many float32 a vector has in kernels that compute.
    """
    values: dict[str, TracedValue] = dict(sources)
    states: States = {}
    barriers: list[Groups] = []
    made: list[Movement] = []

    def tables(blocks: tuple[Movement, ...]) -> list[Array]:
        return read(Traced({"": blocks}, (), {}, tuple(made)))

    alone, kept = used_once(program), unwritten(program)
    apart = any(step.ranks is not None for step in program.steps)
    if apart:
        values.update(_apart(program, sources, barriers, made))
    for index, step in enumerate(() if apart else program.steps):
        if step.op in EFFECTS:
            _effect(index, step, values, states)
            continue
        if step.op in COMPUTING:
            taken = [_blocks(step, _now(values[name], states)) for name in step.inputs]
            values[step.outputs[0]] = computed(step, taken, lanes, alone, kept)
            continue
        operands = [_now(values[name], states) for name in step.inputs]
        results = _collective(program, step, operands, barriers, tables)
        for result in results:
            blocks = result.blocks.values() if isinstance(result, Token) else result
            made += [block for block in blocks if block is not None]
        if step.into:
            targets = [values[name] for name in step.into]
            _into(step, targets, results, states, f"into {index}.")
            values.update(zip(step.outputs, targets, strict=True))
        else:
            values.update(zip(step.outputs, results, strict=True))
    # In program order, so that no schedule depends on the order in which results are asked for.
    named = dict.fromkeys((*sources, *(name for step in program.steps for name in step.outputs)))
    found = {name: _result(name, _now(values[name], states)) for name in named if name in program.results}
    return Traced(found, tuple(barriers), ends(states), tuple(made))


def _apart(
    program: Program, sources: Mapping[str, Blocks], barriers: list[Groups], called: list[Movement]
) -> dict[str, TracedValue]:
    """Return the values of a program in which ranks run different steps: each group is a world of its own.

    Add what collectives give to those that were ``called``.
    """
    world = range(program.world)

    def make(step: Step, group: tuple[int, ...], operands: list[tuple[Movement, ...]]) -> list[Blocks]:
        if step.op not in WANTED or step.op in TOGETHER:
            raise Unsupported(f"{step.op} is no step of some ranks alone")
        _check_arity(step)
        if step.op == "barrier":
            barriers.append((group,))
            return []
        if step.op in _CONSTANTS:
            found = _constants(step, (tuple(range(len(group))),), len(group))
            return [
                tuple(
                    block and Movement(msgspec.structs.replace(block.node, device=rank), block.view)
                    for rank, block in zip(group, found, strict=True)
                )
            ]
        return [operand if step.idle else _grouped(step, group, operand) for operand in operands]

    def _grouped(step: Step, group: tuple[int, ...], blocks: tuple[Movement, ...]) -> Blocks:
        made = collective(step.op, blocks, step.attrs, (tuple(range(len(group))),), len(barriers))
        place = {rank: position for position, rank in enumerate(group)}
        whole_world = msgspec.structs.replace(
            made,
            groups=(group,),
            # Nobody looks at the blocks of others.
            blocks=tuple(blocks[place.get(rank, 0)] for rank in world),
            shapes=tuple(made.shapes[place[rank]] if rank in place else None for rank in world),
            call=_call(step),
        )
        found = _outputs(whole_world)
        called.extend(block for block in found if block is not None)
        return tuple(found[rank] for rank in group)

    held: list[dict[str, Movement | None]] = [
        {name: blocks[rank] for name, blocks in sources.items()} for rank in world
    ]
    meet(program, partial(_groups, program), held, make)
    return {name: tuple(held[rank].get(name) for rank in world) for name in program.results}


def _now(value: TracedValue, states: States) -> Blocks | Token:
    return current(value, states) if isinstance(value, Stored) else value


def _collective(
    program: Program,
    step: Step,
    operands: list[Blocks | Token],
    barriers: list[Groups],
    tables: Callable[[tuple[Movement, ...]], list[Array]],
) -> list[Blocks | Token]:
    """Return the results of a collective; those that are started begin when their operands are there, as all do."""
    groups, stage = _groups(program, step), len(barriers)
    _check_arity(step)
    if step.op == "barrier":
        attributes(step.op, step.attrs)
        partitioned(groups, program.world)
        barriers.append(groups)
        return []
    if step.op == "ragged_all_to_all":
        attributes(step.op, step.attrs)
        ready = [_blocks(step, operand) for operand in operands]
        for blocks in ready:
            alike(blocks)
        return [_outputs(exchange(ready[0], ready[1], [tables(table) for table in ready[2:]], groups, stage))]
    if step.op in _CONSTANTS:
        return [_constants(step, groups, program.world)]
    attributes(step.op, step.attrs)
    names = [f"value {name}" if step.into or step.idle else name for name in step.outputs]
    pairs = zip(names, operands, strict=True)
    return [_mapped(step, name, operand, groups, stage) for name, operand in pairs]


def _effect(index: int, step: Step, values: dict[str, TracedValue], states: States) -> None:
    """Do a step that computes nothing. What ``done`` waits for is there when its reader runs: events see to it."""
    taken = [values[name] for name in step.inputs]
    if step.op == "done":
        values.update(zip(step.outputs, taken, strict=True))
    elif step.op == "buffer":
        values[step.outputs[0]] = opened(step.outputs[0], _blocks(step, _now(taken[0], states)), states)
    elif step.op == "copy":
        blocks = _blocks(step, _now(taken[0], states))
        values[step.outputs[0]] = _frozen(blocks, f"copy {step.outputs[0]}")
    else:
        target = _stored(step, step.inputs[0], taken[0])
        if step.op == "view":
            values[step.outputs[0]] = viewed(target, step.attrs)
        elif step.op == "free":
            free(target, states)
        else:
            _into(step, [target], [_blocks(step, _now(taken[1], states))], states, f"assign {index}")


def _into(
    step: Step, targets: Sequence[TracedValue], results: Sequence[Blocks | Token], states: States, asked: str
) -> None:
    """Write results into storage; nothing is written unless all of them fit. ``asked`` names the writes."""
    stored = [_stored(step, "into", target) for target in targets]
    blocks = [_result(step.op, result) for result in results]
    check_targets(step.op, [current(target, states) for target in stored], blocks)
    for number, (target, block) in enumerate(zip(stored, blocks, strict=True)):
        write(target, block, states, f"{asked}{number}" if asked.endswith(".") else asked)


def _stored(step: Step, name: str, value: TracedValue) -> Stored:
    if not isinstance(value, Stored):
        raise no.WrongValueError(f"{step.op}: {name!r} is no buffer and no view of one; only those can be written")
    return value


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


def _mapped(step: Step, name: str, operand: Blocks | Token, groups: Groups, stage: int) -> Blocks | Token:
    """Return the value ``name`` of an operation on one operand; over no axis nobody meets, so the operand itself."""
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
        return _frozen(blocks, name)
    made = collective(step.op, blocks, step.attrs, groups, stage)
    made = msgspec.structs.replace(made, name=name, call=_call(step))
    return sent(made, groups) if step.op == "send" else _outputs(made)


def _call(step: Step) -> str:
    """Return what the collectives of a step with several operands have in common."""
    return step.outputs[0] if len(step.outputs) > 1 else ""


def _frozen(blocks: Sequence[Movement], name: str) -> Blocks:
    """Return the blocks, copies called ``name`` of those that lie in buffers."""
    return tuple(frozen(block, name) if isinstance(block.node, Opened | Write) else block for block in blocks)


def _outputs(made: Collective) -> Blocks:
    return tuple(
        None if shape is None else whole(Output(rank, made.dtype, math.prod(shape), made), shape)
        for rank, shape in enumerate(made.shapes)
    )


def _constants(step: Step, groups: Groups, world: int) -> Blocks:
    attrs = attributes(step.op, step.attrs)
    partitioned(groups, world)
    found = {rank: _CONSTANTS[step.op](group, p, attrs) for group in groups for p, rank in enumerate(group)}
    if isinstance(attrs.get("value"), float):
        with np.errstate(over="ignore"):
            bits = {rank: int(np.float32(value).view(np.uint32)) for rank, value in found.items()}
        return tuple(whole(Fill(rank, "float32", 1, bits[rank]), ()) for rank in range(world))
    for rank, value in found.items():
        if value not in INT32:
            raise no.ConstantTooLargeError(f"{step.op}: {value} on rank {rank} is outside int32")
    return tuple(whole(Fill(rank, "int32", 1, found[rank]), ()) for rank in range(world))


takes("barrier")
takes("axis_index")
takes("axis_size")
takes("reduce_constant", value=bool | int | float)

_CONSTANTS: dict[str, Callable[[tuple[int, ...], int, dict[str, Any]], Any]] = {
    "axis_index": lambda _group, position, _attrs: position,
    "axis_size": lambda group, _position, _attrs: len(group),
    "reduce_constant": lambda group, _position, attrs: len(group) * attrs["value"],
}


def _blocks(step: Step, value: Blocks | Token) -> tuple[Movement, ...]:
    """Return a block for each rank; raise ``WrongValueError`` for a token and for ranks that hold nothing."""
    if isinstance(value, Token):
        raise no.WrongValueError(f"{step.op} takes blocks, got the token of a send; only recv takes one")
    found = tuple(block for block in value if block is not None)
    if len(found) < len(value):
        raise no.WrongValueError(f"{step.op} needs a block on every rank; rank {value.index(None)} holds nothing")
    return found


def _result(name: str, value: Blocks | Token) -> Blocks:
    if isinstance(value, Token):
        raise no.WrongValueError(f"result {name!r} is the token of a send; only recv takes one")
    return value
