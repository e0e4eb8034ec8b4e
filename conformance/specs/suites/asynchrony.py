"""The suite of collectives that are started now and waited for later, or never."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.effect_words import CAPABILITIES
from conformance.cases.program.program import Program, Step
from conformance.judging.clause import Clause
from conformance.judging.compare import answered
from conformance.judging.refusals import refused
from conformance.judging.second_done import as_first
from conformance.judging.subject import Subject
from conformance.specs.domains import choices
from conformance.specs.domains.domain import PARTITIONS, draft
from conformance.specs.op import about as limited
from conformance.specs.op import has, suited
from conformance.specs.scenarios.block_operations import CALLED
from conformance.specs.scenarios.effects.chains import chain, with_leads
from conformance.specs.scenarios.effects.mixtures import handed_on, parts, together
from conformance.specs.scenarios.effects.passing import UNDER_WAY
from conformance.specs.scenarios.effects.programs import ALONE, Script, script, shown
from conformance.specs.scenarios.effects.writes import misfit
from conformance.specs.suite import Suite


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


def target_overwritten(program: Script) -> Case:
    """Write to the target of what was started."""
    target = program.place(program.result, program.dtype)
    tickets = program.run(program.input(), into=(target,), start=True)
    later = program.overwrite(target, starts=True)
    return program.case(*program.done(*later, *tickets))


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
_CHAINED: Final = choices.steered([False, True, True], ("chained",), lambda chained: ("yes" if chained else "no",))
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
    between = Step(op="axis_index", inputs=(), outputs=("y3",), axes=drawn.axes, groups=drawn.groups)
    when = draw(_WHEN)
    steps = {"waited": (start, done), "later": (start, between, done), "never": (start, between)}[when]
    results = {"waited": ("y2",), "later": ("y2", "y3"), "never": ("y3",)}[when]
    return Case(program=Program(mesh=drawn.mesh, steps=steps, results=results), inputs={})


def waited_for(subject: Subject) -> bool:
    """Speak about programs in which every started collective is waited for, one at a time."""
    return subject.has("effects", "start") and not subject.has("flow", "in_flight", "never_done")


def without_elements(subject: Subject) -> bool:
    """Speak about started collectives on blocks without elements."""
    return subject.has("effects", "start") and subject.has("size", "empty")


def nothing_but_empty_starts(subject: Subject) -> bool:
    """Speak about programs that start collectives of no operands and do nothing else, which could raise instead."""
    return subject.legal and all(step.start and not step.inputs + step.outputs for step in subject.case.program.steps)


def started_without_meaning(subject: Subject) -> bool:
    """Speak about programs that must be refused, and that start a collective and wait for it."""
    waits = subject.has("effects", "start") and not subject.has("flow", "never_done", "started_none")
    return waits and subject.rejected is not None and subject.rejected.clause in _demanded()


@cache
def _demanded() -> frozenset[str]:
    """Return the clauses that are a *must*; here, for the specification is made of this module among others."""
    clauses = import_module("conformance.specs").every_clause()
    return frozenset(name for name, clause in clauses.items() if clause.requirement == "must")


def unlike_under_way(subject: Subject) -> bool:
    """Speak about programs in which collectives are under way together that differ in more than their operands."""
    open_: dict[str, object] = {}
    for step in subject.case.program.steps:
        if step.op == "done":
            open_ = {ticket: call for ticket, call in open_.items() if ticket not in step.inputs}
        elif step.start:
            call = step.op, step.axes, step.groups, str(step.attrs)
            if any(other != call for other in open_.values()):
                return True
            open_ |= dict.fromkeys(step.outputs, call)
    return False


def about(number: int, text: str, source: str, *words: str) -> Clause:
    """Return a clause about the results of programs in which one of ``words`` happens."""
    return shown(f"async.C{number}", text, source, has("flow", *words))


CLAUSES: Final[tuple[Clause, ...]] = (
    shown(
        "async.C1",
        "done returns what the same collective returns when it is not started, apart from the order in which terms "
        "are folded (`numerics.C1`).",
        "jax.start",
        waited_for,
    ),
    about(
        2,
        "A started collective reads its operand as it is at the start.",
        "torch.inductor.comm_lowering: _all_reduce",
        "input_overwritten",
    ),
    about(
        3,
        "A started collective reads its operand as it is at the start although the operand's storage is freed and "
        "used again.",
        "torch.inductor.comm_lowering: _all_reduce",
        "input_freed",
    ),
    about(
        4,
        "A step after the start that reads the target of a started collective reads the result, on ranks that have "
        "one, except elements that another step has written since.",
        "torch.inductor.comm_lowering: _wait_tensor",
        "read_before_done",
    ),
    replace(
        about(
            5,
            "A second done of a collective returns what the first returned, bit for bit; where that is the storage of "
            "a target, with the elements that it has by then.",
            "torch.inductor.comm_lowering: _wait_tensor",
            "done_twice",
        ),
        check=as_first,
    ),
    about(
        6,
        "A started collective that no step waits for runs all the same, and changes nothing except its own target.",
        "torch.inductor.comm_lowering: _all_reduce_",
        "never_done",
    ),
    about(
        7,
        "Started collectives that are waited for in any order return the results that they return when they are not "
        "started, apart from the order in which terms are folded (`numerics.C1`).",
        "jax.start",
        "out_of_order",
    ),
    about(
        8,
        "Several collectives that are under way at a time return the results that they return one after the other, "
        "apart from the order in which terms are folded (`numerics.C1`).",
        "jax.start",
        "in_flight",
    ),
    shown(
        "async.C9",
        "Over no mesh axis, start returns a handle for each result, and done of the handle returns what the collective "
        "returns when it is not started (`collective.C21`, `collective.C30`).",
        "jax.start: _psum_is_async",
        limited(has("flow", "started_over_nothing"), axes=("none",)),
    ),
    about(
        10,
        "In groups of one member, start returns a handle for each result, and done of the handle returns that result.",
        "jax.start: _start_lowering",
        "started_alone",
    ),
    shown(
        "async.C11",
        "For a block without elements, start returns a handle, and done of the handle returns the result, on ranks "
        "that have one.",
        "jax.start",
        without_elements,
    ),
    about(
        12,
        "Each result of a started collective of several operands can be waited for alone.",
        "torch.inductor.comm_lowering: _all_reduce_coalesced",
        "started_several",
    ),
    Clause(
        "async.C13",
        "must",
        "Starting an operation of one operand that is given none returns no handle, and is legal where the operation "
        "is legal when it is not started (`collective.C27`).",
        nothing_but_empty_starts,
        answered,
        "jax.start: tree_map",
    ),
    about(14, "reduce_constant can be started, and done gives its result.", "jax.start: _psum", "started_constant"),
    about(
        15,
        "Elements of the target of a started collective that later steps write end as the last of these steps wrote "
        "them, not as the collective did.",
        "torch.inductor.comm_lowering: _all_reduce_",
        "target_overwritten",
    ),
    shown(
        "async.C16",
        "done returns the storage of the target, where there is a target.",
        "torch.inductor.comm_lowering: _wait_tensor",
        lambda s: s.has("effects", "start") and s.has("flow", "write_seen", "written_through"),
    ),
    Clause(
        "async.C17",
        "must",
        "Where a collective that is rejected when it is not started, and not by a recommendation alone, is started and "
        "waited for, the program is rejected: by the start or by the done.",
        started_without_meaning,
        refused,
        "jax.start: _start_abstract_eval",
    ),
    shown(
        "async.C18",
        "Collectives that are under way together and differ in operation, axes, groups or attributes each return their "
        "own result at their done.",
        "jax.start",
        unlike_under_way,
    ),
)

SUITE = Suite(
    "async",
    "Collectives that are started now and waited for later, or never.",
    domains={
        **{op: programs(op) for op in CALLED},
        **{op: with_leads(domain, starts=True) for op, domain in UNDER_WAY.items()},
        "reduce_constant": constants(),
    },
    clauses=tuple(suited(clause, "async", "effects", CAPABILITIES) for clause in CLAUSES),
    share=0.4,
)
