"""Neutral moves: a case with one special feature less, though it may be larger.

A case that holds a wrap-around, a single rank or no element triggers the clauses about those beside the one that
matters. Where it fails alike without the feature, those clauses say nothing of the failure and are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.program.effects import names
from conformance.cases.program.program import Axis, Step
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.specs.op import PLAIN_ATTRIBUTES

PLAIN: Final[Layout] = "contiguous"

PLAIN_DTYPES: Final = ("int32", "float32")


def neutral(case: Case) -> Iterator[Case]:
    """Yield the case with one special feature less, if it has it.

    Elements and operands where there are none, a second rank beside a single one, an axis for blocks without any, plain
    values, axes that count from the front, plain attributes, plain dtypes.
    """
    yield from _with_operand(case)
    yield from _with_elements(case)
    yield from _with_second_rank(case)
    yield from _with_axis(case)
    yield from _with_values(case)
    yield from _with_attributes(case)
    yield from _with_dtype(case)


def empty(case: Case) -> bool:
    """Return whether no rank holds any element, or a step has no operand though its operation takes some."""
    blocks = [block for operand in case.inputs.values() for block in operand.blocks]
    mapped = [step for step in case.program.collectives if not step.inputs and not step.outputs]
    return (bool(blocks) and not any(block.bits for block in blocks)) or (not blocks and bool(mapped))


def _with_operand(case: Case) -> Iterator[Case]:
    """Yield the case with an operand of two numbers for a step that is mapped over none."""
    taken = {*names(case), *case.inputs}
    source, target = (next(name for i in count() if (name := f"{stem}{i}") not in taken) for stem in "xy")
    plain: tuple[Layout, ...] = (PLAIN,) * case.program.world
    for index, step in enumerate(case.program.steps):
        if step.inputs or step.outputs or step.op == "barrier":
            continue
        for shape in ((2,), (case.program.world,), (2 * case.program.world,)):
            blocks = tuple(from_array(_values(shape, "int32", rank)) for rank in range(case.program.world))
            operand = Operand(blocks=blocks, layouts=plain)
            steps = list(case.program.steps)
            steps[index] = replace(step, inputs=(source,), outputs=(target,))
            program = replace(case.program, steps=tuple(steps), results=(*case.program.results, target))
            yield replace(case, program=program, inputs={**case.inputs, source: operand})


def _with_elements(case: Case) -> Iterator[Case]:
    """Yield the case with one element, or as many as fit groups, wherever an extent is zero."""
    if all(0 not in block.shape for operand in case.inputs.values() for block in operand.blocks):
        return
    sizes = {1, 2, case.program.world, *(len(g) for step in case.program.steps for g in step.groups or ())}
    for size in sorted(sizes - {0}):
        yield _mapped(case, lambda array, rank, size=size: _filled(array, size, rank))  # type: ignore[misc]


def _filled(array: Array, size: int, rank: int) -> Array:
    shape = tuple(extent or size for extent in array.shape)
    return array if shape == array.shape else _values(shape, _name(array), rank)


def _with_second_rank(case: Case) -> Iterator[Case]:
    """Yield the case of a single rank with a second one that holds the like; extents of one grow with it or not."""
    program = case.program
    if program.world != 1 or not program.mesh or case.troubled:
        return
    for axis in program.mesh:
        mesh = tuple(Axis(each.name, 2 if each == axis else each.size) for each in program.mesh)
        steps = tuple(
            replace(step, groups=((0, 1),) if step.groups and axis.name in step.axes else step.groups)
            for step in program.steps
        )
        wider = replace(program, mesh=mesh, steps=steps)
        for grown in (None, 0, -1):
            inputs = {
                name: Operand(
                    blocks=tuple(
                        from_array(_values(_doubled(operand.blocks[0].shape, grown), operand.blocks[0].dtype, rank))
                        for rank in range(2)
                    ),
                    layouts=(operand.layouts[0],) * 2,
                )
                for name, operand in case.inputs.items()
            }
            yield replace(case, program=wider, inputs=inputs)


def _doubled(shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
    if axis is None or not shape:
        return shape
    at = axis % len(shape)
    return (*shape[:at], 2 * shape[at], *shape[at + 1 :])


def _with_axis(case: Case) -> Iterator[Case]:
    """Yield the case with an axis of extent two, or one, for blocks that have none."""
    if any(not block.shape for operand in case.inputs.values() for block in operand.blocks):
        for extent in (2, 1):
            yield _mapped(
                case,
                lambda array, rank, extent=extent: array if array.ndim else _values((extent,), _name(array), rank),  # type: ignore[misc]
            )


def _with_values(case: Case) -> Iterator[Case]:
    """Yield the case with small whole numbers that differ from rank to rank and element to element."""
    yield from _changed(case, _mapped(case, lambda array, rank: _values(array.shape, _name(array), rank)))


def _with_attributes(case: Case) -> Iterator[Case]:
    """Yield the case with one attribute of a step plain: an option as most use it, an axis counted from the front."""
    ranks = sorted({len(block.shape) for operand in case.inputs.values() for block in operand.blocks})
    for index, step in enumerate(case.program.steps):
        for name, value in step.attrs.items():
            plain = PLAIN_ATTRIBUTES.get(name, False if isinstance(value, bool) else value)
            if value != plain:
                yield _with_attribute(case, index, step, name, plain)
            elif type(value) is int and value < 0:
                for count in sorted({n for rank in ranks for n in (rank, rank + 1)}):
                    if value + count >= 0:
                        yield _with_attribute(case, index, step, name, value + count)
            elif name == "local_axes" and value:
                yield _with_attribute(case, index, step, name, ())


def _with_attribute(case: Case, index: int, step: Step, name: str, value: object) -> Case:
    steps = list(case.program.steps)
    steps[index] = replace(step, attrs={**step.attrs, name: value})
    return replace(case, program=replace(case.program, steps=tuple(steps)))


def _with_dtype(case: Case) -> Iterator[Case]:
    """Yield the case with every block of one plain dtype, where all have another one in common."""
    dtypes = {block.dtype for operand in case.inputs.values() for block in operand.blocks}
    for dtype in PLAIN_DTYPES if len(dtypes) == 1 and not dtypes & {*PLAIN_DTYPES} else ():
        yield _mapped(case, lambda array, rank, dtype=dtype: _values(array.shape, dtype, rank))  # type: ignore[misc]


def _values(shape: tuple[int, ...], dtype: str, rank: int) -> Array:
    """Return a block of small whole numbers: sums and products of a few stay exact in every dtype that has them."""
    values = (np.arange(int(np.prod(shape, dtype=np.int64))) * 2 + rank) % 3 + 1
    if kind(dtype) == "bool":
        values = values % 2
    found: Array = values.reshape(shape).astype(NUMPY[dtype])
    return found


def _name(array: Array) -> str:
    return from_array(np.zeros((), array.dtype)).dtype


def _mapped(case: Case, change: Callable[[Array, int], Array]) -> Case:
    """Return the case with every block of floats, integers and bools changed."""

    def of(operand: Operand) -> Operand:
        arrays = (change(to_array(block), rank) for rank, block in enumerate(operand.blocks))
        return replace(operand, blocks=tuple(from_array(np.asarray(array)) for array in arrays))

    return replace(case, inputs={name: of(operand) for name, operand in case.inputs.items()})


def _changed(case: Case, other: Case) -> Iterator[Case]:
    if other.inputs != case.inputs:
        yield other
