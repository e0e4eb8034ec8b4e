"""Operands and targets that share elements, and targets that do not fit."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.call import Shapes
from conformance.generate.programs.script import Script
from conformance.reference.operations import TABLE

_SHARING: Final = choices.steered(
    ["part", "none", "turned", "part", "none", "ordered", "stepped", "nested"], ("view",), lambda how: (how,)
)
_MISFITS: Final = {
    False: choices.sampled_from(["shape", "dtype", "count"]),
    True: choices.sampled_from(["size", "shape", "dtype", "count", "size", "size"]),
}


def overlapping(program: Script) -> tuple[str, str]:
    """Return two names of one buffer that share elements: it and itself turned, or views of which one is further."""
    shape, how = program.result[0], program.drawn.draw(_SHARING)
    rest = tuple(map(range, shape[1:]))
    if how in ("none", "turned") and shape[0] > 1:
        buffer = program.buffer()
        names = buffer, program.view(buffer, (range(shape[0] - 1, -1, -1), *rest))
        return names if how == "none" else names[::-1]
    each, order = 2 if how == "stepped" else 1, ()
    extents = each * (shape[0] + 1), *shape[1:]
    if how == "ordered" and rest:
        # The buffer has the first two axes in the other order.
        extents, order = (extents[1], extents[0], *extents[2:]), (1, 0, *range(2, len(shape)))
    buffer = program.buffer((extents,) * program.drawn.world)
    if how == "nested":
        buffer = program.view(buffer, (range(extents[0]), *rest))
    rows = [range(first, first + each * shape[0], each) for first in (0, each)]
    listed = [(*rest[:1], each, *rest[1:]) if order else (each, *rest) for each in rows]
    one, two = (program.view(buffer, ranges, order) for ranges in listed)
    return (one, two) if program.flip() else (two, one)


def inside(program: Script) -> tuple[str, str] | None:
    """Return storage for an operand and for a target of which one is a part of the other, where that fits."""
    operand, result = program.call.operand[0], program.result[0]
    alike = len({*program.call.operand, *program.result}) <= 2 and len(operand) == len(result) > 0
    alike = alike and program.dtype == program.drawn.dtype
    if not alike or len(set(program.call.operand)) > 1 or len(set(program.result)) > 1:
        return None
    large, small = (operand, result) if all(a >= b for a, b in zip(operand, result, strict=True)) else (result, operand)
    if any(a < b for a, b in zip(large, small, strict=True)):
        return None
    buffer = program.buffer((large,) * program.drawn.world)
    at_end = program.flip()
    part = program.view(
        buffer, tuple(range(a - b, a) if at_end else range(b) for a, b in zip(large, small, strict=True))
    )
    return (buffer, part) if large == operand else (part, buffer)


def misfit(program: Script, *, start: bool = False) -> Case:
    """Write into what does not fit."""
    wrong = program.drawn.draw(_MISFITS[TABLE[program.op].sized])
    shapes, other = program.result, "float32" if program.dtype == "int32" else "int32"
    if wrong == "size":
        shapes = _of_another_size(program)
    elif wrong == "shape":
        shapes = tuple((*shape, 2) for shape in shapes)
    targets = (program.buffer(shapes, other if wrong == "dtype" else program.dtype),) * (1 + (wrong == "count"))
    names = program.run(program.input(), into=targets, start=start)
    return program.case(*(program.done(*names) if start else names))


def _of_another_size(program: Script) -> Shapes:
    """Return the shapes that the result would have in a group of another size."""
    axis, shape = program.call.attrs["axis"], program.result[0]
    if not isinstance(axis, int) or not shape or len(shape) < len(program.call.operand[0]):
        return tuple((*other, 2) for other in program.result)  # without the axis, no extent tells the size
    axis %= len(shape)
    more = max(program.call.operand[0][axis], 1) if program.call.attrs["tiled"] else 1
    return ((*shape[:axis], shape[axis] + more, *shape[axis + 1 :]),) * program.drawn.world
