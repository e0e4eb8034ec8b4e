"""How the suite asynchrony is drawn."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.program.program import Program, Step
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, draft
from conformance.generate.programs.block_operations import CALLED
from conformance.generate.programs.effects.chains import chain, with_leads
from conformance.generate.programs.effects.mixtures import handed_on, parts, together
from conformance.generate.programs.effects.passing import UNDER_WAY
from conformance.generate.programs.effects.programs import ALONE, Script, script
from conformance.generate.programs.effects.writes import misfit


def target_overwritten(program: Script) -> Case:
    """Write to the target of what was started."""
    target = program.place(program.result, program.dtype)
    tickets = program.run(program.input(), into=(target,), start=True)
    later = program.overwrite(target, starts=True)
    return program.case(*program.done(*later, *tickets))


def waited(program: Script) -> Case:
    """Start, then wait."""
    into = (program.place(program.result, program.dtype),) if program.flip() else ()
    return program.case(*program.done(*program.run(program.input(), into=into, start=True)))


def overwritten(program: Script) -> Case:
    """Overwrite the operand of what was started, which may be a view."""
    storage = program.place()
    tickets = program.run(program.turned(storage), start=True)
    later = program.overwrite(storage, starts=True)
    return program.case(*program.done(*later, *tickets))


def freed(program: Script) -> Case:
    """Free the operand of what was started, and use storage of its size again."""
    buffer = program.buffer()
    tickets = program.run(program.turned(buffer), start=True)
    program.free(buffer)
    program.buffer()
    return program.case(*program.done(*tickets))


def target_freed(program: Script) -> Case:
    """Free the target of what was started, and use storage of its size again."""
    target = program.target()
    program.run(program.input(), into=(target,), start=True)
    program.free(target)
    return program.case(program.copy(program.target()))


def read_early(program: Script) -> Case:
    """Read the target before anybody waited, all of it or by a view: copied, assigned, or as the next operand."""
    target = program.target()
    tickets = program.run(program.input(), into=(target,), start=True)
    read, how = program.turned(target), program.drawn.draw(_READERS)
    if how == "operand" and program.same:
        names = program.run(read, into=(target,) if program.flip() else ())
    elif how == "started" and program.same:
        return program.case(*program.done(*program.run(read, start=True), *tickets))
    elif how == "assign":
        program.assign(program.target(), read)
        names = ()
    else:
        names = (program.copy(read),)
    return program.case(*names, *program.done(*tickets))


def twice(program: Script) -> Case:
    """Wait twice, with a write in between where the result is storage."""
    target = program.target()
    tickets = program.run(program.input(), into=(target,) if program.flip() else (), start=True)
    first = program.done(*tickets)
    program.assign(target, program.written())
    return program.case(*first, *program.done(*tickets))


def never(program: Script) -> Case:
    """Wait for nothing."""
    target = program.target()
    program.run(program.input(), into=(target,), start=True)
    if program.flip():
        program.run(program.input(), start=True)
    return program.case()


def several_in_flight(program: Script) -> Case:
    """Start three, and wait for the last first."""
    buffer = program.buffer()
    tickets = [*program.run(buffer, start=True), *program.run(program.input(), start=True)]
    program.assign(buffer, program.input())
    tickets += program.run(buffer, start=True)
    last = program.done(tickets.pop())
    return program.case(*last, *(name for ticket in tickets for name in program.done(ticket)))


def backwards(program: Script) -> Case:
    """Start two into storage, and wait for the second first."""
    targets = [program.target(), program.target()]
    tickets = [name for target in targets for name in program.run(program.input(), into=(target,), start=True)]
    return program.case(*(name for ticket in reversed(tickets) for name in program.done(ticket)))


def two_operands(program: Script) -> Case:
    """Start two operands at once, and wait for the second alone, or for both the other way round."""
    second = program.buffer()
    one, two = program.run(program.input(), second, start=True)
    if program.flip():
        program.overwrite(second, starts=True)
    names = program.done(two)
    return program.case(*names, *(program.done(one) if program.flip() else ()))


def no_operands(program: Script) -> Case:
    """Start nothing at all: there is nothing to wait for."""
    program.run(start=True)
    return program.case()


def returned(program: Script) -> Case:
    """Write to what done returned."""
    target = program.place(program.result, program.dtype)
    names = program.done(*program.run(program.input(), into=(target,), start=True))
    program.assign(names[0] if program.flip() else target, program.written())
    return program.case(*names)


def chained(program: Script) -> Case:
    """Start each on what the one before it writes, where it fits, and wait for the last alone."""
    if not program.same:
        return read_early(program)
    storage = program.buffer()
    apart = program.flip()
    tickets: tuple[str, ...] = ()
    for _ in range(3):
        operand, storage = storage, program.target() if apart else storage
        tickets = program.run(operand, into=(storage,), start=True)
    return program.case(*program.done(*tickets))


def started_misfit(program: Script) -> Case:
    """Start what has no meaning."""
    return misfit(program, start=True)


TEMPLATES: Final = (
    waited, overwritten, freed, read_early, twice, never, several_in_flight, backwards, two_operands, no_operands,
    target_overwritten, returned, chained, started_misfit, overwritten, read_early, target_freed,
    target_overwritten, target_overwritten, overwritten, two_operands, read_early,
    freed, handed_on,
    together, together, handed_on, parts,
)  # fmt: skip
_CHOICE: Final = choices.sampled_from(range(len(TEMPLATES)))
_CHAINED: Final = choices.sampled_from([False, True, True])
_KINDS: Final = choices.sampled_from(["any", "whole", "whole", "empty"])
_READERS: Final = choices.sampled_from(["copy", "assign", "started", "operand"])
_WHEN: Final = choices.steered(["waited", "waited", "later", "never"], ("start",), lambda word: (word,))
_NUMBERS: Final = choices.sampled_from([1, 2, -3])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program that starts ``op``: a chain, or one that shows something in particular."""
    if draw(_CHAINED):
        return chain(script(draw, op, alone=draw(ALONE), once=True), effects=True, starts=True)
    number = draw(_CHOICE)
    program = script(draw, op, alone=draw(ALONE), shapes=draw(_KINDS))
    return TEMPLATES[number](program)


@choices.composite
def constants(draw: choices.Draw) -> Case:
    """Draw the start of a sum of a number, and the wait for it: at once, after another, or never."""
    drawn = draft(draw, groups=PARTITIONS)
    start = Step(
        op="reduce_constant",
        inputs=(),
        outputs=("t1",),
        axes=drawn.axes,
        groups=drawn.groups,
        attrs={"value": draw(_NUMBERS)},
        start=True,
    )
    done = Step(op="done", inputs=("t1",), outputs=("y2",), axes=())
    between = replace(start, outputs=("y3",), attrs={"value": draw(_NUMBERS)}, start=False)
    when = draw(_WHEN)
    steps = {"waited": (start, done), "later": (start, between, done), "never": (start, between)}[when]
    results = {"waited": ("y2",), "later": ("y2", "y3"), "never": ("y3",)}[when]
    return Case(program=Program(mesh=drawn.mesh, steps=steps, results=results), inputs={})


SUITE: Final = "async"

DOMAINS: Final = {
    **{op: programs(op) for op in CALLED},
    **{op: with_leads(domain, starts=True) for op, domain in UNDER_WAY.items()},
    "reduce_constant": constants(),
}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.4
"""The part of a run's examples that is drawn for each operation of the suite."""
