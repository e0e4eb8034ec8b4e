"""Mistakes about collectives that are started now and waited for later."""

from __future__ import annotations

from typing import Any

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Stored
from conformance.cases.case import Case
from conformance.cases.program.features import features
from conformance.cases.program.program import Step
from conformance.qualification.mutants.effectful import Act, Effectful, Late, Pending, unfinished
from conformance.reference.effects import Ranks


class _NoWait(Stored):
    def done(self, ticket: Any) -> Ranks:
        return unfinished(ticket)


class DoneDoesNotWait(Effectful):
    """pytorch#162749: on one path the wait is missing, and the buffer is returned before anything arrived in it."""

    breaks = "async.C1"
    corpus = ("pytorch#162749",)
    effects = _NoWait


class OperandIsReadWhenWaited(Effectful):
    """The operand is handed over by address, and read when there is time for it."""

    breaks = "async.C2"
    effects = Late


class _LateIfLong(Late):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.long = "long" in features(case)["size"]

    def start(self, act: Act, step: Step) -> list[Any]:
        return super().start(act, step) if self.long else Stored.start(self, act, step)

    def done(self, ticket: Any) -> Ranks:
        return super().done(ticket) if self.long else Stored.done(self, ticket)


class LongOperandIsReadWhenWaited(Effectful):
    """What is too long to be kept for its receiver is fetched when that one comes; only what is short was tried."""

    breaks = "async.C2"
    ops = ("all_gather", "permute")
    effects = _LateIfLong


class _LateAfterFree(Late):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.open: list[Pending] = []

    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        self.open += [pending for pending, _ in tickets[:1]]
        return tickets

    def assign(self, target: Ranks, value: Ranks) -> None:
        for pending in self.open:
            pending.results()
        super().assign(target, value)


class OperandsAreFreedTooEarly(Effectful):
    """torchrec#4231: the operand's block goes back to its pool right after the start, and somebody else fills it."""

    breaks = "async.C3"
    corpus = ("torchrec#4231",)
    effects = _LateAfterFree


class _WritesLate(Stored):
    """A started collective has its result at once, but writes its target at the next done or write."""

    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.starting = False
        self.late: list[tuple[Ranks, Ranks, Ranks]] = []

    def start(self, act: Act, step: Step) -> list[Any]:
        self.arrive()
        self.starting = True
        tickets = super().start(act, step)
        self.starting = False
        return tickets

    def arrive(self) -> None:
        for parts in self.late:
            super().write(*parts)
        self.late = []

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if self.starting:
            self.late.append((target, result, operand))
            return target
        self.arrive()
        return super().write(target, result, operand)

    def assign(self, target: Ranks, value: Ranks) -> None:
        self.arrive()
        super().assign(target, value)

    def done(self, ticket: Any) -> Ranks:
        self.arrive()
        return super().done(ticket)


class ReadersDoNotWait(Effectful):
    """pytorch#152534: some reads of what is still under way, such as a cast, count as views and do not wait."""

    breaks = "async.C4"
    corpus = ("pytorch#152534",)
    effects = _WritesLate


class _Once(Stored):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.waited: list[Any] = []

    def done(self, ticket: Any) -> Ranks:
        if any(other is ticket for other in self.waited):
            raise RuntimeError("expected exactly one user of an async start")
        self.waited.append(ticket)
        return super().done(ticket)


class OneWaitOnly(Effectful):
    """A compiler pairs each start with the one use of its value, and a second is an internal error."""

    breaks = "async.C5"
    outcome = "errored"
    effects = _Once


class UnwaitedIsDead(Effectful):
    """Dead code is what has no user, and a collective that nobody waits for has none, though it writes storage."""

    breaks = "async.C6"
    effects = Late


class _InOrder(Stored):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.queue: list[Any] = []

    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        self.queue += tickets
        return tickets

    def done(self, ticket: Any) -> Ranks:
        return super().done(self.queue.pop(0) if self.queue else ticket)


class WaitsComeInOrder(Effectful):
    """A queue of completions is popped from its front, whoever waits."""

    breaks = "async.C7"
    effects = _InOrder


class _OneSlot(Stored):
    slot: Any = None

    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        self.slot = tickets[-1] if tickets else self.slot
        return tickets

    def done(self, ticket: Any) -> Ranks:
        return super().done(self.slot)


class OneUnderWayAtATime(Effectful):
    """There is one staging buffer for what is under way, and the next start uses it again."""

    breaks = "async.C8"
    effects = _OneSlot


class _WritesAgain(Stored):
    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.arrived: list[tuple[Any, Ranks]] = []

    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        self.arrived += [(ticket, [block if block is None else block.copy() for block in ticket]) for ticket in tickets]
        return tickets

    def done(self, ticket: Any) -> Ranks:
        for other, kept in self.arrived:
            for block, late in zip(ticket, kept, strict=True) if other is ticket else ():
                if late is not None:
                    block[...] = late
        return super().done(ticket)


class ResultArrivesAtDone(Effectful):
    """What was received is copied out of the staging buffer by the wait, over what was written since."""

    breaks = "async.C15"
    effects = _WritesAgain


class _DoneCopies(Stored):
    def done(self, ticket: Any) -> Ranks:
        return [block if block is None else block.copy() for block in super().done(ticket)]


class DoneReturnsACopy(Effectful):
    """A wait is a functional operation: its result is new storage, whatever the started collective wrote."""

    breaks = "async.C16"
    effects = _DoneCopies


class _Swallows(Stored):
    def start(self, act: Act, step: Step) -> list[Any]:
        try:
            return super().start(act, step)
        except ValueError:
            return [[None] * self.case.program.world] * len(step.outputs)


class ErrorsAreLeftInTheFuture(Effectful):
    """What goes wrong after the start is kept in the request, and the wait does not look."""

    breaks = "async.C17"
    effects = _Swallows
