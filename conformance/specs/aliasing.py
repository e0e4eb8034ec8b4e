"""The suite of storage: what a collective writes, what it returns, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hypothesis import strategies as st

from conformance.cases.case import Case
from conformance.judging.buffers import around, first_write_refused, nothing_written, surroundings_kept
from conformance.judging.clause import Clause, Subject
from conformance.judging.compare import canonical_bools
from conformance.reference.effects import SIZED
from conformance.specs.calls import CALLED, Shapes
from conformance.specs.collective import returns_bool
from conformance.specs.effectful import PARTIAL, Script, script, shown
from conformance.specs.mixing import alternating
from conformance.specs.op import has, rejection
from conformance.specs.passing import WRITTEN
from conformance.specs.suite import Suite
from conformance.specs.wandering import wandering


def out_form(program: Script) -> Case:
    """Write the result into a buffer."""
    target = program.target()
    return program.case(*program.run(program.input(), into=(target,)))


def in_place(program: Script) -> Case:
    """Write the result over the operand, where it fits."""
    if not program.same:
        return nested(program)
    buffer = program.buffer()
    return program.case(*program.run(buffer, into=(buffer,)))


def nested(program: Script) -> Case:
    """Write the result into a part of the operand, or let the operand be a part of the target."""
    operand, result = program.call.operand[0], program.result[0]
    alike = len({*program.call.operand, *program.result}) <= 2 and len(operand) == len(result) > 0
    alike = alike and program.dtype == program.drawn.dtype
    if not alike or len(set(program.call.operand)) > 1 or len(set(program.result)) > 1:
        return out_form(program)
    large, small = (operand, result) if all(a >= b for a, b in zip(operand, result, strict=True)) else (result, operand)
    if any(a < b for a, b in zip(large, small, strict=True)):
        return out_form(program)
    buffer = program.buffer((large,) * program.drawn.world)
    at_end = program.flip()
    part = program.view(
        buffer, tuple(range(a - b, a) if at_end else range(b) for a, b in zip(large, small, strict=True))
    )
    names = (buffer, part) if large == operand else (part, buffer)
    return program.case(*program.run(names[0], into=(names[1],)))


def written_after(program: Script) -> Case:
    """Write to what a collective returned, or to the buffer that it is."""
    target = program.target()
    (name,) = program.run(program.input(), into=(target,))
    program.assign(name if program.flip() else target, program.written())
    return program.case(name)


def kept(program: Script) -> Case:
    """Write over the operand of a result out of place."""
    buffer = program.buffer()
    names = program.run(buffer)
    program.assign(buffer, program.input())
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
    buffer = program.target()
    copy = program.copy(buffer)
    program.run(program.input(), into=(buffer,))
    return program.case(copy)


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


def crossed(program: Script) -> Case:
    """Write the results of two operands, each into the other's storage where it fits."""
    operands = [program.buffer(), program.buffer()]
    targets = operands if program.same else [program.target(), program.target()]
    return program.case(*program.run(*operands, into=(targets[1], targets[0])))


def misfit(program: Script, *, start: bool = False) -> Case:
    """Write into what does not fit."""
    wrong = program.drawn.draw(_MISFITS[program.call.op in SIZED])
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
    if not isinstance(axis, int) or axis >= len(shape) or len(shape) < len(program.call.operand[0]):
        return tuple((*other, 2) for other in program.result)  # without the axis, no extent tells the size
    more = max(program.call.operand[0][axis], 1) if program.call.attrs["tiled"] else 1
    return ((*shape[:axis], shape[axis] + more, *shape[axis + 1 :]),) * program.drawn.world


_MISFITS: Final = {
    False: st.sampled_from(["shape", "dtype", "count"]),
    True: st.sampled_from(["size", "shape", "dtype", "count", "size"]),
}
TEMPLATES: Final = (
    out_form, in_place, kept, written_after, shifted, part, copied, fed_back, freed, turned, crossed, misfit, nested,
    kept, misfit, fed_back, nested, alternating, alternating,
)  # fmt: skip
_CHOICE: Final = st.sampled_from([*range(len(TEMPLATES)), *[-1] * 5])
_ALONE: Final = st.sampled_from([False, False, False, True])
_KINDS: Final = st.sampled_from(["any", "whole", "whole"])
_DTYPE: Final = st.sampled_from([None, None, None, None, "bool"])


@st.composite
def programs(draw: st.DrawFn, op: str) -> Case:
    """Draw a program on ``op``: now and then a walk, mostly one that shows something in particular."""
    number = draw(_CHOICE)
    program = script(draw, op, alone=draw(_ALONE), shapes=draw(_KINDS), dtype=draw(_DTYPE))
    return wandering(program, starts=False) if number < 0 else TEMPLATES[number](program)


def plain(subject: Subject) -> bool:
    """Speak about results that are written into storage which is not the operand's."""
    return subject.has("effects", "into") and not subject.has("effects", "in_place", "overlap")


def writes_bool(subject: Subject) -> bool:
    """Speak about bools that a collective writes into storage."""
    return returns_bool(subject) and subject.has("effects", "into", "in_place")


def some_have_no_part(subject: Subject) -> bool:
    """Speak about results that only some ranks have, written into storage that all have."""
    return any(step.op in PARTIAL and step.into for step in subject.case.program.collectives)


CLAUSES: Final[tuple[Clause, ...]] = (
    shown("aliasing.C1", "The out form writes the result into the storage it is given.", "002", plain),
    shown("aliasing.C2", "In place, the result takes the place of the operand.", "002", has("effects", "in_place")),
    shown(
        "aliasing.C3",
        "What the out form returns is the written storage: what is written to the one later is read in the other.",
        "002",
        has("flow", "write_seen", "written_through"),
    ),
    shown(
        "aliasing.C4",
        "A result out of place stays what it is when its operand is overwritten.",
        "002",
        has("flow", "old_result"),
    ),
    shown(
        "aliasing.C5",
        "That holds over no axis and in groups of one too, where the result equals the operand.",
        "002",
        has("flow", "old_result_alone"),
    ),
    shown(
        "aliasing.C6",
        "Operand and target may share elements: the operand is read as it was before.",
        "002",
        has("flow", "target_overlap"),
    ),
    shown(
        "aliasing.C7",
        "A write through a view changes the elements of the view and no others.",
        "002",
        has("flow", "part"),
    ),
    Clause(
        "aliasing.C8",
        "must",
        "What lies around a buffer's elements keeps every byte.",
        around,
        surroundings_kept,
        "002",
        general=True,
    ),
    shown("aliasing.C9", "A copy stays what it is when its source is overwritten.", "003", has("flow", "old_copy")),
    shown(
        "aliasing.C10",
        "A result may be the next operand in the same storage, again and again.",
        "003",
        has("flow", "feedback"),
    ),
    shown(
        "aliasing.C11",
        "A result stays what it is when its operand's storage is freed and used again.",
        "002",
        has("flow", "survives_free"),
    ),
    shown(
        "aliasing.C12",
        "A value that shares elements with what it is assigned to is read as it was before.",
        "004",
        has("flow", "assign_overlap"),
    ),
    Clause("aliasing.C13", "must", "A written bool is the byte 0 or 1.", writes_bool, canonical_bools, "C11 6.3.1.2"),
    shown(
        "aliasing.C14",
        "On ranks that have no part in a result its target stays what it is.",
        "002",
        some_have_no_part,
    ),
    rejection("aliasing.C15", "A target of another shape than the result is rejected.", "002"),
    rejection("aliasing.C16", "A target of another dtype than the result is rejected.", "002"),
    rejection("aliasing.C17", "More or fewer targets than results are rejected.", "002"),
    rejection("aliasing.C18", "A target for the result of a group of another size is rejected.", "002"),
    shown(
        "aliasing.C19",
        "All operands of a step are read before any of its targets is written.",
        "002",
        has("flow", "crossed"),
    ),
    Clause(
        "aliasing.C20",
        "must",
        "Where the first step that writes is refused, or one before it, no buffer has changed.",
        first_write_refused,
        nothing_written,
        "this specification",
    ),
)

SUITE = Suite(
    "aliasing",
    "What a collective writes, what it returns, and what it leaves alone.",
    domains={**{op: programs(op) for op in CALLED}, **WRITTEN},
    clauses=tuple(replace(clause, suite="aliasing") for clause in CLAUSES),
    share=0.25,
)
