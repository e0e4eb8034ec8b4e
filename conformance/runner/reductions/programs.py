"""The listed reductions: ways to make a case smaller that no generator is needed for.

A failing case is minimal when none of them, applied once, still fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.runner.reductions.effects import effect_reductions
from conformance.runner.reductions.joint import together
from conformance.runner.reductions.rank_faults import among, trouble_reductions, without_step
from conformance.runner.reductions.ranks import contracted, rank_reductions


def reductions(case: Case) -> Iterator[Case]:
    """Yield every case that is one listed reduction smaller, the boldest first.

    Drop a mesh axis, a rank, an operand, a step, the groups, halve, shorten or drop an extent, make layouts contiguous,
    drop a pair, zero a block; what ``rank_reductions``, ``effect_reductions`` and ``trouble_reductions`` list; and what
    ``runner.together`` does to all steps or inputs at once. A reduction may yield a program without meaning: whether
    one fails alike is asked by the caller.
    """
    yield from rank_reductions(case)
    yield from _without_axis(case)
    yield from _without_ranks(case)
    yield from _without_operand(case)
    yield from _without_step(case)
    yield from together(case)
    yield from _without_groups(case)
    yield from _smaller_extents(case)
    yield from _plain_layouts(case)
    yield from _fewer_pairs(case)
    yield from _zeroed(case)
    yield from effect_reductions(case)
    yield from trouble_reductions(case)


def _without_axis(case: Case) -> Iterator[Case]:
    """Yield the case on the ranks at coordinate 0 of one mesh axis, which is then gone from mesh and steps."""
    program = case.program
    for axis in program.mesh if len(program.mesh) > 1 else ():
        mesh = tuple(other for other in program.mesh if other != axis)
        keep = [rank for rank in range(program.world) if _coordinates(program.mesh, rank)[axis.name] == 0]
        steps = tuple(_over(step, program.mesh, axis, 0, gone=True) for step in program.steps)
        smaller = msgspec.structs.replace(program, mesh=mesh, steps=steps)
        inputs = {name: _only(operand, keep) for name, operand in case.inputs.items()}
        yield among(msgspec.structs.replace(case, program=smaller, inputs=inputs), keep)


def _without_ranks(case: Case) -> Iterator[Case]:
    """Yield the case without one coordinate of a mesh axis, as it is and with extents that equal a group cut alike."""
    program = case.program
    for axis in program.mesh:
        for coordinate in reversed(range(axis.size if axis.size > 1 else 0)):
            mesh = tuple(Axis(a.name, a.size - (a == axis)) for a in program.mesh)
            keep = [r for r in range(program.world) if _coordinates(program.mesh, r)[axis.name] != coordinate]
            steps = tuple(_over(step, program.mesh, axis, coordinate, gone=False) for step in program.steps)
            smaller = msgspec.structs.replace(program, mesh=mesh, steps=steps)
            inputs = {name: _only(operand, keep) for name, operand in case.inputs.items()}
            fewer = among(msgspec.structs.replace(case, program=smaller, inputs=inputs), keep)
            yield fewer
            for size in {program.world, axis.size, *(len(g) for step in program.steps for g in step.groups or ())}:
                cut = {name: _cut(operand, size) for name, operand in inputs.items()}
                if size > 1 and cut != inputs:
                    yield msgspec.structs.replace(fewer, inputs=cut)


def _coordinates(mesh: tuple[Axis, ...], rank: int) -> dict[str, int]:
    where = np.unravel_index(rank, [axis.size for axis in mesh])
    return {axis.name: int(index) for axis, index in zip(mesh, where, strict=True)}


def _over(step: Step, mesh: tuple[Axis, ...], axis: Axis, coordinate: int, *, gone: bool) -> Step:
    """Return the step without the positions at ``coordinate`` of ``axis``, or with those alone when it is ``gone``.

    Later positions move up in the groups and, where there are none, in the pairs and in tables of split sizes.
    """
    sizes = {other.name: other.size for other in mesh}
    axes = tuple(name for name in step.axes if not (gone and name == axis.name))
    if axis.name not in step.axes or not set(step.axes) <= set(sizes):
        return step
    named = tuple(Axis(name, sizes[name]) for name in step.axes)
    positions = range(math.prod(other.size for other in named))
    kept = [p for p in positions if (_coordinates(named, p)[axis.name] == coordinate) == gone]
    new = {position: index for index, position in enumerate(kept)}
    groups = step.groups and tuple(tuple(new[p] for p in group if p in new) for group in step.groups)
    attrs = dict(step.attrs)
    for name, value in attrs.items():
        rows = [row for row in value if isinstance(row, tuple | list)] if isinstance(value, tuple | list) else []
        if not rows or step.groups:
            continue
        if name == "pairs":
            if all(len(row) == 2 for row in rows):
                attrs[name] = _among_positions(tuple((a, b) for a, b in rows), [p for p in positions if p not in new])
        elif len(rows) == len(positions) and all(len(row) == len(positions) for row in rows):
            # A table of how many rows go from each position to each: all_to_all_uneven.
            attrs[name] = tuple(tuple(rows[p][q] for q in kept) for p in kept)
    return msgspec.structs.replace(
        step, axes=axes, groups=tuple(group for group in groups or () if group) or None, attrs=attrs
    )


def _among_positions(pairs: tuple[tuple[int, int], ...], gone: list[int]) -> tuple[tuple[int, int], ...]:
    for position in sorted(gone, reverse=True):
        pairs = contracted(pairs, position)
    return pairs


def _without_operand(case: Case) -> Iterator[Case]:
    """Yield the case without one of the operands that a step maps over, nor what is written for it or waits for it."""
    for index, step in enumerate(case.program.steps):
        if len(step.inputs) > 1 and len(step.inputs) == len(step.outputs):
            for at, target in enumerate(step.outputs):
                fewer = msgspec.structs.replace(
                    step,
                    inputs=_without(step.inputs, at),
                    outputs=_without(step.outputs, at),
                    into=_without(step.into, at) if len(step.into) == len(step.inputs) else step.into,
                )
                steps = (*case.program.steps[:index], fewer, *case.program.steps[index + 1 :])
                yield _without_value(case, tuple(_unwaited(other, target) for other in steps), target)


def _without(names: tuple[str, ...], at: int) -> tuple[str, ...]:
    return (*names[:at], *names[at + 1 :])


def _unwaited(step: Step, ticket: str) -> Step:
    """Return a step that waits for a ticket without that one."""
    if step.op != "done" or ticket not in step.inputs:
        return step
    at = step.inputs.index(ticket)
    return msgspec.structs.replace(step, inputs=_without(step.inputs, at), outputs=_without(step.outputs, at))


def _without_value(case: Case, steps: tuple[Step, ...], gone: str) -> Case:
    """Return the case with steps that do not make a value, without waits for nothing and inputs that nobody names.

    Faults name steps by their number: where there are any, a wait for nothing stays, and the program has no meaning.
    """
    program = case.program
    made = {name for step in steps for name in step.outputs}
    lost = {name for step in program.steps for name in step.outputs} - made | {gone}
    results = tuple(name for name in program.results if name not in lost)
    steps = tuple(step for step in steps if case.faults or step.op != "done" or step.outputs)
    named = {name for step in steps for name in step.inputs} | set(results)
    inputs = {name: operand for name, operand in case.inputs.items() if name in named}
    return msgspec.structs.replace(
        case, program=msgspec.structs.replace(program, steps=steps, results=results), inputs=inputs
    )


def _only(operand: Operand, keep: list[int]) -> Operand:
    return Operand(blocks=tuple(operand.blocks[r] for r in keep), layouts=tuple(operand.layouts[r] for r in keep))


def _cut(operand: Operand, size: int) -> Operand:
    """Return the operand with one slice fewer along the first axis whose extent is a multiple of ``size``."""
    shape = operand.blocks[0].shape
    at = next((axis for axis, extent in enumerate(shape) if extent and size and extent % size == 0), None)
    if at is None:
        return operand
    keep = shape[at] - shape[at] // size
    return _mapped(operand, partial(_first, keep=keep, axis=at))


def _without_step(case: Case) -> Iterator[Case]:
    """Yield the case without one step, where nothing but the results named it."""
    program = case.program
    for index, step in enumerate(program.steps if len(program.steps) > 1 else ()):
        rest = program.steps[:index] + program.steps[index + 1 :]
        results = tuple(name for name in program.results if name not in step.outputs)
        if results and not any(name in step.outputs for other in rest for name in other.inputs):
            fewer = msgspec.structs.replace(program, steps=rest, results=results)
            yield _with_used_inputs(without_step(case, index), fewer, *step.inputs)


def _with_used_inputs(case: Case, program: Program, *left: str) -> Case:
    """Return a program that has no use for the values ``left`` in one place, without those it has none for in any."""
    used = {name for step in program.steps for name in step.inputs} | set(program.results)
    kept = {name: operand for name, operand in case.inputs.items() if name in used or name not in left}
    return msgspec.structs.replace(case, program=program, inputs=kept)


def _without_groups(case: Case) -> Iterator[Case]:
    """Yield the case with no groups, and with the groups sorted."""
    for index, step in enumerate(case.program.steps):
        if step.groups is not None:
            yield _with_step(case, index, msgspec.structs.replace(step, groups=None))
            ordered: Groups = tuple(sorted(tuple(sorted(group)) for group in step.groups))
            if ordered != step.groups:
                yield _with_step(case, index, msgspec.structs.replace(step, groups=ordered))


def _smaller_extents(case: Case) -> Iterator[Case]:
    """Yield the case with one axis halved, an eighth or one slice shorter at either end, or gone."""
    for name, operand in case.inputs.items():
        for axis, extent in enumerate(operand.blocks[0].shape):
            if any(len(block.shape) <= axis for block in operand.blocks):
                continue
            for keep in sorted({extent // 2, extent - extent // 8, extent - 1} - {extent, -1}):
                for kept in (_first, _last):
                    smaller = _mapped(operand, partial(kept, keep=keep, axis=axis))
                    yield msgspec.structs.replace(case, inputs={**case.inputs, name: smaller})
            for index in (0, -1) if all(block.shape[axis] for block in operand.blocks) else ():
                gone = _mapped(operand, partial(np.take, indices=index, axis=axis))
                yield msgspec.structs.replace(case, inputs={**case.inputs, name: gone})


def _plain_layouts(case: Case) -> Iterator[Case]:
    """Yield the case with every layout contiguous, and with one rank's."""
    for name, operand in case.inputs.items():
        plain = ("contiguous",) * len(operand.layouts)
        if operand.layouts != plain:
            yield _with_layouts(case, name, plain)
            for rank, layout in enumerate(operand.layouts):
                if layout != "contiguous":
                    yield _with_layouts(
                        case, name, (*operand.layouts[:rank], "contiguous", *operand.layouts[rank + 1 :])
                    )


def _fewer_pairs(case: Case) -> Iterator[Case]:
    """Yield the case without one entry of an attribute that is a list."""
    for index, step in enumerate(case.program.steps):
        for name, value in step.attrs.items():
            if isinstance(value, tuple | list):
                for at in range(len(value)):
                    attrs = {**step.attrs, name: tuple(value[:at]) + tuple(value[at + 1 :])}
                    yield _with_step(case, index, msgspec.structs.replace(step, attrs=attrs))


def _zeroed(case: Case) -> Iterator[Case]:
    """Yield the case with one rank's block all zero bits."""
    for name, operand in case.inputs.items():
        for rank, block in enumerate(operand.blocks):
            if block.bits.strip("0"):
                zero = msgspec.structs.replace(block, bits="0" * len(block.bits))
                blocks = (*operand.blocks[:rank], zero, *operand.blocks[rank + 1 :])
                changed = msgspec.structs.replace(operand, blocks=blocks)
                yield msgspec.structs.replace(case, inputs={**case.inputs, name: changed})


def _first(array: Array, keep: int, axis: int) -> Array:
    """Return the first slices along ``axis``, as many of them as there are where ranks differ."""
    return array.take(range(min(keep, array.shape[axis])), axis)


def _last(array: Array, keep: int, axis: int) -> Array:
    """Return the last slices along ``axis``, as many of them as there are where ranks differ."""
    extent = array.shape[axis]
    return array.take(range(max(0, extent - keep), extent), axis)


def _mapped(operand: Operand, change: Callable[[Array], Array]) -> Operand:
    blocks = tuple(from_array(np.asarray(change(to_array(block)))) for block in operand.blocks)
    return msgspec.structs.replace(operand, blocks=blocks)


def _with_step(case: Case, index: int, step: Step) -> Case:
    steps = (*case.program.steps[:index], step, *case.program.steps[index + 1 :])
    return msgspec.structs.replace(case, program=msgspec.structs.replace(case.program, steps=steps))


def _with_layouts(case: Case, name: str, layouts: tuple[object, ...]) -> Case:
    changed = msgspec.structs.replace(case.inputs[name], layouts=layouts)
    return msgspec.structs.replace(case, inputs={**case.inputs, name: changed})
