"""Programs that write storage, each of which shows something in particular about it."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.legal_calls import Shapes
from conformance.generate.programs.effects.programs import Script
from conformance.reference.operations import TABLE


def out_form(program: Script) -> Case:
    """Write the result into a buffer."""
    target = program.place(program.result, program.dtype)
    return program.case(*program.run(program.input(), into=(target,)))


def in_place(program: Script) -> Case:
    """Write the result over the operand, where it fits."""
    if not program.same:
        return nested(program)
    storage = program.place()
    return program.case(*program.run(storage, into=(storage,)))


def nested(program: Script) -> Case:
    """Write the result into a part of the operand, or let the operand be a part of the target."""
    found = inside(program)
    return program.case(*program.run(found[0], into=(found[1],))) if found else out_form(program)


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


def written_after(program: Script) -> Case:
    """Write to what a collective returned, or to the buffer that it is."""
    target = program.target()
    (name,) = program.run(program.input(), into=(target,))
    program.assign(name if program.flip() else target, program.written())
    return program.case(name)


def kept(program: Script) -> Case:
    """Write over the operand of a result out of place."""
    storage = program.place()
    names = program.run(storage)
    program.overwrite(storage)
    return program.case(*names)


def shifted(program: Script) -> Case:
    """Let operand and target be two views of one buffer that share elements."""
    shape = program.call.operand[0]
    if not program.same or len(set(program.call.operand)) > 1 or not shape:
        return nested(program)
    rest = tuple(map(range, shape[1:]))
    if program.flip():
        buffer = program.buffer()
        turned = program.view(buffer, (range(shape[0] - 1, -1, -1), *rest))
        return program.case(*program.run(buffer, into=(turned,)))
    buffer = program.buffer(((shape[0] + 1, *shape[1:]),) * program.drawn.world)
    views = [program.view(buffer, (range(first, first + shape[0]), *rest)) for first in (0, 1)]
    source, target = reversed(views) if program.flip() else views
    return program.case(*program.run(source, into=(target,)))


def part(program: Script) -> Case:
    """Write every second element of a larger buffer."""
    shape = program.result[0]
    if not shape or len(set(program.result)) > 1:
        return out_form(program)
    buffer = program.buffer(((*shape[:-1], 2 * shape[-1] + 1),) * program.drawn.world, program.dtype)
    view = program.view(buffer, (*map(range, shape[:-1]), range(1, 2 * shape[-1] + 1, 2)))
    program.run(program.input(), into=(view,))
    return program.case()


def copied(program: Script) -> Case:
    """Write over what was copied."""
    storage = program.place(program.result, program.dtype)
    copy = program.copy(storage)
    program.overwrite(storage)
    program.run(program.input(), into=(storage,))
    return program.case(copy)


def assigned(program: Script) -> Case:
    """Write over what was assigned."""
    value, target = program.place(), program.place()
    program.assign(target, value)
    program.overwrite(value)
    return program.case(*program.run(target))


def fed_back(program: Script) -> Case:
    """Use the result as the operand three times, and look at it from beside each time."""
    buffer = program.buffer()
    names: list[str] = []
    for _ in range(3):
        names += program.run(buffer)
        if program.same:
            program.run(buffer, into=(buffer,))
        else:
            program.spread(buffer)
    return program.case(*names, *program.run(buffer))


def freed(program: Script) -> Case:
    """Free the operand of a result, and use storage of the same size again."""
    buffer = program.buffer()
    names = program.run(buffer)
    program.free(buffer)
    return program.case(*names, *program.run(program.buffer()))


def turned(program: Script) -> Case:
    """Assign a buffer to itself the other way round."""
    shape = program.call.operand[0]
    buffer = program.buffer()
    if shape and len(set(program.call.operand)) == 1:
        square = len(shape) > 1 and shape[0] == shape[1]
        rows = range(shape[0]) if square else range(shape[0] - 1, -1, -1)
        order = (1, 0, *range(2, len(shape))) if square else ()
        program.assign(buffer, program.view(buffer, (rows, *map(range, shape[1:])), order))
    return program.case(*program.run(buffer))


def moved(program: Script) -> Case:
    """Assign elements of a buffer to the places beside them, along its longest axis."""
    shape = program.call.operand[0]
    if not shape or len(set(program.call.operand)) > 1:
        return turned(program)
    along = shape.index(max(shape))
    before, extent, after = shape[:along], shape[along], shape[along + 1 :]
    buffer = program.buffer(((*before, extent + 1, *after),) * program.drawn.world)
    source, target = (
        program.view(buffer, (*map(range, before), range(first, first + extent), *map(range, after)))
        for first in ((1, 0) if program.flip() else (0, 1))
    )
    program.assign(target, source)
    return program.case(*program.run(target))


def crossed(program: Script) -> Case:
    """Write the results of two operands, each into the other's storage where it fits."""
    operands = [program.buffer(), program.buffer()]
    targets = operands if program.same else [program.target(), program.target()]
    return program.case(*program.run(*operands, into=(targets[1], targets[0])))


def misfit(program: Script, *, start: bool = False) -> Case:
    """Write into what does not fit."""
    wrong = program.drawn.draw(_MISFITS[TABLE[program.call.op].sized])
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


_MISFITS: Final = {
    False: choices.sampled_from(["shape", "dtype", "count"]),
    True: choices.sampled_from(["size", "shape", "dtype", "count", "size", "size"]),
}
