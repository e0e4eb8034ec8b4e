"""Programs with effects of operations that are no one block a rank: a send and its recv, and ragged exchanges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replaced
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.program import EFFECTS
from conformance.generate import choices
from conformance.generate.operations.ragged_all_to_all import programs as ragged
from conformance.generate.programs.block_operations import call_of
from conformance.generate.programs.effects.chains import OPS_OF
from conformance.generate.programs.effects.programs import Script, script
from conformance.generate.programs.effects.ragged_exchanges import BESIDE, HOW_VIEWED, WAITS, WAYS, Exchange
from conformance.reference.situations import CLASSES


def into(program: Script) -> Case:
    """Receive into storage."""
    return program.case(program.recv(program.send(_operand(program)), (program.place(program.result, program.dtype),)))


def between(program: Script) -> Case:
    """Let something else happen between a send and its recv, with another collective, or storage of its own."""
    before, after, operand = program.drawn.draw(_BEFORE), program.drawn.draw(_AFTER), _operand(program)
    aside(program, before)
    token = program.send(operand)
    aside(program, after)
    return program.case(program.recv(token))


def aside(program: Script, word: str) -> None:
    """Do a step of a class, on nothing that anything else uses."""
    if word == "query":
        program.query("axis_index", {})
    elif word == "start":
        program.run_beside(start=True)
    elif word == "done":
        program.done(program.run_beside(start=True))
    elif word in OPS_OF:
        drawn, call = call_of(program.drawn.draw, program.drawn.draw.one(OPS_OF[word][:2]), program.drawn, "whole")
        other = replaced(program, drawn=drawn, call=call)
        other.run(other.input())
    elif word != "nothing":
        buffer = program.buffer()
        if word == "view":
            program.view(buffer, tuple(map(range, program.shapes[buffer][0])))
        if word == "assign":
            program.assign(buffer, program.input())
        if word == "copy":
            program.copy(buffer)
        if word == "free":
            program.free(buffer)


def _operand(program: Script) -> str:
    """Return what is sent: an input, storage that may be a view, or what another collective made."""
    how = program.drawn.draw(_HOW)
    return program.input() if how == "input" else program.place() if how == "stored" else program.run_beside()


def over_what_was_sent(program: Script) -> Case:
    """Receive into the buffer that was sent."""
    buffer = program.buffer()
    return program.case(program.recv(program.send(buffer), (buffer,)))


def returned(program: Script) -> Case:
    """Write to what was received into storage, or to the storage."""
    target = program.target()
    name = program.recv(program.send(program.input()), (target,))
    program.assign(name if program.flip() else target, program.written())
    return program.case(name)


def kept(program: Script) -> Case:
    """Write over what was sent, once it has been received."""
    buffer = program.buffer()
    name = program.recv(program.send(buffer))
    program.assign(buffer, program.input())
    return program.case(name)


def part(program: Script) -> Case:
    """Receive into every second element of a larger buffer."""
    shape = program.result[0]
    if not shape:
        return into(program)
    buffer = program.buffer(((*shape[:-1], 2 * shape[-1] + 1),) * program.drawn.world)
    view = program.view(buffer, (*map(range, shape[:-1]), range(1, 2 * shape[-1] + 1, 2)))
    program.recv(program.send(program.input()), (view,))
    return program.case()


def misfit(program: Script) -> Case:
    """Receive into what does not fit."""
    wrong = program.drawn.draw(_MISFITS)
    shapes = tuple((*shape, 2) for shape in program.result) if wrong == "shape" else program.result
    other = "float32" if program.drawn.dtype == "int32" else "int32"
    targets = (program.buffer(shapes, other if wrong == "dtype" else None),) * (1 + (wrong == "count"))
    return program.case(program.recv(program.send(program.input()), targets))


def overwritten(program: Script) -> Case:
    """Write over what is under way."""
    buffer = program.buffer()
    token = program.send(buffer)
    program.assign(buffer, program.input())
    return program.case(program.recv(token))


def freed(program: Script) -> Case:
    """Free what is under way, and use storage of its size again."""
    buffer = program.buffer()
    token = program.send(buffer)
    program.free(buffer)
    program.buffer()
    return program.case(program.recv(token))


def backwards(program: Script) -> Case:
    """Send twice, and receive the second first."""
    buffer = program.buffer()
    first = program.send(buffer)
    program.assign(buffer, program.input())
    second = program.send(buffer)
    return program.case(program.recv(second), program.recv(first))


def never(program: Script) -> Case:
    """Send twice, and receive the second alone."""
    buffer = program.buffer()
    program.send(buffer)
    program.assign(buffer, program.input())
    return program.case(program.recv(program.send(buffer)))


_MISFITS: Final = choices.sampled_from(["shape", "dtype", "count"])
_WRITES: Final = choices.sampled_from(
    [into, over_what_was_sent, returned, kept, part, misfit, into, over_what_was_sent, *[between] * 4]
)
_UNDER_WAY: Final = choices.sampled_from([overwritten, freed, backwards, never, overwritten, *[between] * 4])
_KINDS: Final = choices.steered(
    [*["any"] * 8, *["whole"] * 15, "long"], ("extent",), lambda kind: ("long" if kind == "long" else "",)
)
_HOW: Final = choices.steered(
    ["input", "stored", "stored", "made"],
    ("layout", "view"),
    lambda how: ("made" if how == "made" else "", "none" if how == "input" else ""),
)
_BEFORE: Final = choices.sampled_from(["nothing", "nothing", "start", "query", *EFFECTS])
_AFTER: Final = choices.sampled_from([*CLASSES, "nothing"])


@choices.composite
def received(draw: choices.Draw, *, under_way: bool) -> Case:
    """Draw a send and a recv of storage: what is written, or with ``under_way`` what happens between the two."""
    template: Callable[[Script], Case] = draw(_UNDER_WAY if under_way else _WRITES)
    return template(script(draw, "permute", shapes=draw(_KINDS)))


@choices.composite
def exchanged(draw: choices.Draw, *, start: bool) -> Case:
    """Draw a ragged exchange of storage, at once or started and waited for."""
    one = Exchange(draw(ragged()), draw(HOW_VIEWED), draw(BESIDE), not start or draw(WAITS))
    draw(WAYS)(one, start=start)
    return one.case(start=start)


WRITTEN: Final = {"recv": received(under_way=False), "ragged_all_to_all": exchanged(start=False)}
"""Programs of the suite ``aliasing``."""

UNDER_WAY: Final = {"recv": received(under_way=True), "ragged_all_to_all": exchanged(start=True)}
"""Programs of the suite ``async``."""
