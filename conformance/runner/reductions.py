"""The listed reductions: ways to make a case smaller that no generator is needed for.

A failing case is minimal when none of them, applied once, still fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.dtypes import Array
from conformance.cases.program import Axis, Groups, Step
from conformance.cases.tensor import from_array, to_array


def reductions(case: Case) -> Iterator[Case]:
    """Yield every case that is one listed reduction smaller, the boldest first.

    Drop a rank, drop a step, drop the groups, halve or drop an extent, make layouts contiguous, drop a
    pair, zero a block. A reduction may yield a program without meaning; whether it still fails alike is
    for the caller to ask.
    """
    for rank in reversed(range(case.program.world)):
        yield from _without_rank(case, rank)
    yield from _without_step(case)
    yield from _without_groups(case)
    yield from _smaller_extents(case)
    yield from _plain_layouts(case)
    yield from _fewer_pairs(case)
    yield from _zeroed(case)


def _without_rank(case: Case, rank: int) -> Iterator[Case]:
    """Yield the case on one rank fewer, as it is and with the extents that equal the world cut alike."""
    program = case.program
    if len(program.mesh) != 1 or program.world == 1:
        return
    mesh = (Axis(program.mesh[0].name, program.world - 1),)
    steps = tuple(_renumbered(step, rank) for step in program.steps)
    smaller = msgspec.structs.replace(program, mesh=mesh, steps=steps)
    inputs = {name: _drop(operand, rank) for name, operand in case.inputs.items()}
    yield Case(program=smaller, inputs=inputs)
    for size in {program.world, *(len(group) for step in program.steps for group in step.groups or ())}:
        cut = {name: _cut(operand, size) for name, operand in inputs.items()}
        if size > 1 and cut != inputs:
            yield Case(program=smaller, inputs=cut)


def _renumbered(step: Step, gone: int) -> Step:
    """Return the step with position ``gone`` removed from its groups and its pairs, later ones moved up."""

    def moved(positions: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(p - (p > gone) for p in positions if p != gone)

    groups = step.groups and tuple(group for group in map(moved, step.groups) if group)
    attrs = dict(step.attrs)
    for name, value in attrs.items():
        if isinstance(value, tuple | list) and not step.groups:
            pairs = [tuple(pair) for pair in value if isinstance(pair, tuple | list)]
            attrs[name] = tuple(moved(pair) for pair in pairs if gone not in pair)
    return msgspec.structs.replace(step, groups=groups or None, attrs=attrs)


def _drop(operand: Operand, rank: int) -> Operand:
    keep = [r for r in range(len(operand.blocks)) if r != rank]
    return Operand(blocks=tuple(operand.blocks[r] for r in keep), layouts=tuple(operand.layouts[r] for r in keep))


def _cut(operand: Operand, size: int) -> Operand:
    """Return the operand with one slice fewer along the first axis whose extent is a multiple of ``size``."""
    shape = operand.blocks[0].shape
    at = next((axis for axis, extent in enumerate(shape) if extent and extent % size == 0), None)
    if at is None:
        return operand
    keep = shape[at] - shape[at] // size
    return _mapped(operand, partial(np.take, indices=range(keep), axis=at))


def _without_step(case: Case) -> Iterator[Case]:
    """Yield the case without one step, where nothing but the results named it."""
    program = case.program
    for index, step in enumerate(program.steps if len(program.steps) > 1 else ()):
        rest = program.steps[:index] + program.steps[index + 1 :]
        results = tuple(name for name in program.results if name not in step.outputs)
        if results and not any(name in step.outputs for other in rest for name in other.inputs):
            yield Case(program=msgspec.structs.replace(program, steps=rest, results=results), inputs=case.inputs)


def _without_groups(case: Case) -> Iterator[Case]:
    """Yield the case with no groups, and with the groups sorted."""
    for index, step in enumerate(case.program.steps):
        if step.groups is not None:
            yield _with_step(case, index, msgspec.structs.replace(step, groups=None))
            ordered: Groups = tuple(sorted(tuple(sorted(group)) for group in step.groups))
            if ordered != step.groups:
                yield _with_step(case, index, msgspec.structs.replace(step, groups=ordered))


def _smaller_extents(case: Case) -> Iterator[Case]:
    """Yield the case with one axis halved, one slice shorter, or gone."""
    for name, operand in case.inputs.items():
        for axis, extent in enumerate(operand.blocks[0].shape):
            if any(len(block.shape) <= axis for block in operand.blocks):
                continue
            for keep in sorted({extent // 2, extent - 1} - {extent, -1}):
                smaller = _mapped(operand, partial(np.take, indices=range(keep), axis=axis))
                yield Case(program=case.program, inputs={**case.inputs, name: smaller})
            if extent:
                gone = _mapped(operand, partial(np.take, indices=0, axis=axis))
                yield Case(program=case.program, inputs={**case.inputs, name: gone})


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
                yield Case(program=case.program, inputs={**case.inputs, name: changed})


def _mapped(operand: Operand, change: Callable[[Array], Array]) -> Operand:
    blocks = tuple(from_array(np.asarray(change(to_array(block)))) for block in operand.blocks)
    return msgspec.structs.replace(operand, blocks=blocks)


def _with_step(case: Case, index: int, step: Step) -> Case:
    steps = (*case.program.steps[:index], step, *case.program.steps[index + 1 :])
    return Case(program=msgspec.structs.replace(case.program, steps=steps), inputs=case.inputs)


def _with_layouts(case: Case, name: str, layouts: tuple[object, ...]) -> Case:
    changed = msgspec.structs.replace(case.inputs[name], layouts=layouts)
    return Case(program=case.program, inputs={**case.inputs, name: changed})
