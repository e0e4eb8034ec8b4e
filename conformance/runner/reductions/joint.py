"""Reductions of all steps and all inputs of a program at once, so that what they hold stays related as it was.

Where a failure lies between two results, a reduction of one step or of one input alone would end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import msgspec
import numpy as np

from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import Tensor, from_array, to_array

FEW: Final = 16
"""Different elements up to which each is made zero everywhere; laws between results are drawn from seven values."""


def together(case: Case) -> Iterator[Case]:
    """Yield the case with one thing smaller in every step, or in every input.

    All groups gone, all groups sorted, all roots first; along one axis all extents one, halved, or less by one, each
    also in units of a group's size; one axis gone; the first two axes as one; one value zero wherever it is.
    """
    for change in (_no_groups, _sorted_groups, _first_root):
        steps = tuple(change(step) for step in case.program.steps)
        if steps != case.program.steps:
            yield msgspec.structs.replace(case, program=msgspec.structs.replace(case.program, steps=steps))
    yield from _smaller_extents(case)
    yield from _without_value(case)


def _no_groups(step: Step) -> Step:
    return msgspec.structs.replace(step, groups=None)


def _sorted_groups(step: Step) -> Step:
    groups = step.groups and tuple(sorted(tuple(sorted(group)) for group in step.groups))
    return msgspec.structs.replace(step, groups=groups)


def _first_root(step: Step) -> Step:
    return msgspec.structs.replace(step, attrs={**step.attrs, "root": 0}) if "root" in step.attrs else step


def _smaller_extents(case: Case) -> Iterator[Case]:
    units = {1, case.program.world, *(len(group) for step in case.program.steps for group in step.groups or ())}
    ranks = [len(block.shape) for operand in case.inputs.values() for block in operand.blocks]
    yield from _changed(case, _with_one_axis_for_two)
    for axis in range(max(ranks, default=0)):
        if axis and axis < min(ranks):
            yield from _changed(case, partial(_without_axis, axis=axis))
        for unit in sorted(units):
            for keep in (_one, _half, _most, _less):
                yield from _changed(case, partial(_cut, axis=axis, unit=unit, keep=keep))


def _one(units: int) -> int:
    return min(units, 1)


def _half(units: int) -> int:
    return units // 2


def _most(units: int) -> int:
    """Return seven of eight: one by one, a threshold within a long block is thousands of steps away."""
    return units - units // 8


def _less(units: int) -> int:
    return units - 1


def _cut(block: Tensor, axis: int, unit: int, keep: Callable[[int], int]) -> Tensor:
    """Return as many units of the block along an axis as are to be kept; none less than one, and nothing uneven.

    A group without members has a unit of nothing, of which there is no less.
    """
    if unit == 0:
        return block
    extent = block.shape[axis] if axis < len(block.shape) else 0
    kept = keep(extent // unit) * unit
    return from_array(to_array(block).take(range(kept), axis)) if extent % unit == 0 and kept > 0 else block


def _with_one_axis_for_two(block: Tensor) -> Tensor:
    """Return the same elements with the first two axes as one: a threshold of 65 elements lies at no shape (n, 2)."""
    shape = block.shape
    return msgspec.structs.replace(block, shape=(shape[0] * shape[1], *shape[2:])) if len(shape) > 1 else block


def _without_axis(block: Tensor, axis: int) -> Tensor:
    return from_array(np.asarray(to_array(block).take(0, axis))) if block.shape[axis] else block


def _without_value(case: Case) -> Iterator[Case]:
    found = {element for operand in case.inputs.values() for block in operand.blocks for element in _elements(block)}
    for value in sorted(element for element in found if element.strip("0")) if len(found) <= FEW else ():
        yield from _changed(case, partial(_zeroed, value=value))


def _elements(block: Tensor) -> list[str]:
    """Return the bits of each element."""
    width = 2 * NUMPY[block.dtype].itemsize
    return [block.bits[start : start + width] for start in range(0, len(block.bits), width)]


def _zeroed(block: Tensor, value: str) -> Tensor:
    bits = "".join("0" * len(element) if element == value else element for element in _elements(block))
    return msgspec.structs.replace(block, bits=bits)


def _changed(case: Case, change: Callable[[Tensor], Tensor]) -> Iterator[Case]:
    """Yield the case with every block changed, if that changes any."""
    inputs = {
        name: msgspec.structs.replace(operand, blocks=tuple(change(block) for block in operand.blocks))
        for name, operand in case.inputs.items()
    }
    if inputs != case.inputs:
        yield msgspec.structs.replace(case, inputs=inputs)
