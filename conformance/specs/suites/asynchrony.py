"""The suite of collectives that are started now and waited for later, or never."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Final

from conformance.cases.program.effect_words import CAPABILITIES
from conformance.judging.clause import Clause
from conformance.judging.compare import answered
from conformance.judging.refusals import refused
from conformance.judging.second_done import as_first
from conformance.judging.subject import Subject
from conformance.specs.op import BLOCKWISE, Shows, shown, shows, suited
from conformance.specs.op import about as limited
from conformance.specs.suite import Suite


def waited_for(subject: Subject) -> bool:
    """Speak about programs in which every started collective is waited for, one at a time."""
    return subject.shows("start") and not subject.has("flow", "in_flight", "never_done")


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
    open_: dict[str, tuple[int, object]] = {}
    for index, step in enumerate(subject.case.program.steps):
        if step.op == "done":
            open_ = {ticket: call for ticket, call in open_.items() if ticket not in step.inputs}
        elif step.start:
            call = step.op, step.axes, step.groups, str(step.attrs)
            unlike = [at for at, other in open_.values() if other != call]
            if unlike and any(map(subject.shows_step, (*unlike, index))):
                return True
            open_ |= dict.fromkeys(step.outputs, (index, call))
    return False


def about(id: str, text: str, source: str, *words: str) -> Clause:
    """Return a clause about the results of programs in which one of ``words`` happens."""
    return shown(id, text, source, shows("flow", *words))


CLAUSES: Final[tuple[Clause, ...]] = (
    shown(
        "async.C1",
        "A done returns what the same collective, not started, returns at the place of the start, apart from the "
        "order in which terms are folded (`numerics.C1`); of a target that was written since see `async.C15`.",
        "jax.start",
        Shows(waited_for, (), ("start",)),
    ),
    about(
        "async.C2",
        "A started collective reads its operand as it is at the start, also where the operand is overwritten before "
        "the done.",
        "torch.inductor.comm_lowering: _all_reduce",
        "input_overwritten",
    ),
    about(
        "async.C3",
        "A started collective reads its operand as it is at the start, also where the operand's storage is freed and "
        "used again before the done.",
        "torch.inductor.comm_lowering: _all_reduce",
        "input_freed",
    ),
    about(
        "async.C4",
        "Every step after the start of a collective that has the collective's target as an operand, also before the "
        "done, reads the result there, on ranks that have one, except elements that another step has written since "
        "the start.",
        "torch.inductor.comm_lowering: _wait_tensor",
        "read_before_done",
    ),
    replace(
        about(
            "async.C5",
            "A second or later done of one started collective returns what the first returned, bit for bit; where "
            "that is the storage of a target, with the elements that it has by then.",
            "torch.inductor.comm_lowering: _wait_tensor",
            "done_twice",
        ),
        check=as_first,
    ),
    about(
        "async.C6",
        "A started collective that no done waits for runs all the same, and changes nothing except its own target.",
        "torch.inductor.comm_lowering: _all_reduce_",
        "never_done",
    ),
    about(
        "async.C7",
        "Started collectives whose dones are in another order than their starts return the results that they return "
        "when they are not started, apart from the order in which terms are folded (`numerics.C1`).",
        "jax.start",
        "out_of_order",
    ),
    about(
        "async.C8",
        "Several collectives that are under way at a time return the results that they return when each ends before "
        "the next begins, apart from the order in which terms are folded (`numerics.C1`).",
        "jax.start",
        "in_flight",
    ),
    shown(
        "async.C9",
        "A start over no mesh axis returns a handle for each result, and the done of the handle returns what the "
        "collective returns when it is not started (`collective.C21`, `collective.C30`).",
        "jax.start: _psum_is_async",
        limited(shows("flow", "started_over_nothing"), axes=("none",)),
    ),
    about(
        "async.C10",
        "A start in groups of one member returns a handle for each result, and the done of the handle returns what "
        "the collective returns when it is not started.",
        "jax.start: _start_lowering",
        "started_alone",
    ),
    shown(
        "async.C11",
        "A start of a collective on blocks without elements returns a handle for each result, and the done of the "
        "handle returns what the collective returns when it is not started, on ranks that have a result.",
        "jax.start",
        without_elements,
    ),
    about(
        "async.C12",
        "Each result of a started collective of several operands has a handle of its own, and can be waited for alone.",
        "torch.inductor.comm_lowering: _all_reduce_coalesced",
        "started_several",
    ),
    Clause(
        "async.C13",
        "must",
        "A start of an operation of one operand that is given none returns no handle, and is legal where the "
        "operation is legal when it is not started (`collective.C27`).",
        nothing_but_empty_starts,
        answered,
        "jax.start: tree_map",
    ),
    about(
        "async.C14",
        "A reduce_constant can be started, and its done returns what it returns when it is not started.",
        "jax.start: _psum",
        "started_constant",
    ),
    about(
        "async.C15",
        "Elements of the target of a started collective that steps after the start write have in the end what the "
        "last of these steps wrote, and not the collective's result.",
        "torch.inductor.comm_lowering: _all_reduce_",
        "target_overwritten",
    ),
    shown(
        "async.C16",
        "Where a started collective has a target, its done returns the storage of the target: a later write to the "
        "target or to what the done returned is read in both.",
        "torch.inductor.comm_lowering: _wait_tensor",
        Shows(
            lambda s: s.has("effects", "start") and s.shows("write_seen", "written_through"),
            (),
            ("write_seen", "written_through"),
        ),
    ),
    Clause(
        "async.C17",
        "must",
        "A collective that is started and waited for is rejected, by its start or by its done, where the same "
        "collective is rejected when it is not started, unless only a recommendation rejects it.",
        started_without_meaning,
        refused,
        "jax.start: _start_abstract_eval",
    ),
    shown(
        "async.C18",
        "Collectives that are under way at once, each started and not yet waited for, and that differ in operation, "
        "axes, groups or attributes, each return at their done the result that their own operation gives of their own "
        "operands.",
        "jax.start",
        unlike_under_way,
    ),
)

SUITE = Suite(
    "async",
    "Collectives that are started now and waited for later, or never.",
    ops=(*BLOCKWISE, "recv", "ragged_all_to_all", "reduce_constant"),
    clauses=tuple(suited(clause, "async", "effects", CAPABILITIES) for clause in CLAUSES),
)
