"""Engines that do what was started when something depends on it, and overlook one way in which something does."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from conformance.backends.case_arrays import Placed, tensors
from conformance.backends.reference import Reference, Stored
from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.qualification.mutants.effectful import Act, Pending
from conformance.qualification.mutants.every_program import Results
from conformance.qualification.mutants.storage import shared
from conformance.reference.effects import Ranks
from conformance.reference.operations import OPERATIONS
from conformance.reference.spmd import run


class _Flight(Pending):
    """A started collective, and the storage that it will read and write."""

    def __init__(self, act: Act) -> None:
        super().__init__(act)
        self.reads: list[Ranks] = []
        self.writes: list[Ranks] = []


class _Lazy(Stored):
    """What is started happens when it is waited for, or before a deed that depends on it (``settle`` says which)."""

    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.flights: list[_Flight] = []
        self.noted: _Flight | None = None
        self.flying = False

    def after_writes(self, deed: str, reads: list[Ranks]) -> bool:
        return any(_meet(reads, flight.writes) for flight in self.flights)

    def over_writes(self, deed: str, writes: list[Ranks]) -> bool:
        return any(_meet(writes, flight.writes) for flight in self.flights)

    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return any(_meet(writes, flight.reads) for flight in self.flights)

    def reads_it(self, writes: list[Ranks]) -> bool:
        return any(target is read for target in writes for flight in self.flights for read in flight.reads)

    def settle(self, deed: str, reads: Iterable[Ranks] = (), writes: Iterable[Ranks] = ()) -> None:
        read, written = list(reads), list(writes)
        if self.after_writes(deed, read) or self.over_writes(deed, written) or self.over_reads(deed, written):
            self.finish()

    def finish(self) -> None:
        for flight in list(self.flights):
            self.results(flight)

    def results(self, flight: _Flight) -> list[Ranks]:
        self.flights = [other for other in self.flights if other is not flight]
        self.flying = True
        results = flight.results()
        self.flying = False
        return results

    def watch(self, step: Step, operands: list[Ranks]) -> None:
        if not step.start:
            self.settle("operand", operands)

    def start(self, act: Act, step: Step) -> list[Any]:
        self.noted = flight = _Flight(act)
        act()  # for what it would read and write, and for what is wrong with it
        self.noted = None
        self.settle("start", flight.reads, flight.writes)
        self.flights.append(flight)
        return [(flight, position) for position in range(len(step.outputs))]

    def done(self, ticket: Any) -> Ranks:
        flight, position = ticket
        return self.results(flight)[position]

    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        if self.noted:
            self.noted.reads.append(operand)
        return super().fresh(result, operand)

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if self.noted:
            self.noted.writes.append(target)
            return target
        if not self.flying:
            self.settle("result", writes=[target])
        return super().write(target, result, operand)

    def assign(self, target: Ranks, value: Ranks) -> None:
        self.settle("assign", [value], [target])
        super().assign(target, value)

    def copy(self, blocks: Ranks) -> Ranks:
        self.settle("copy", [blocks])
        return super().copy(blocks)

    def free(self, blocks: Ranks) -> None:
        self.settle("free", writes=[blocks])
        super().free(blocks)


class _Engine(Reference, ABC):
    """A reference that goes about storage and waiting as ``effects`` does, which is told what collectives read."""

    ops: ClassVar[tuple[str, ...]] = ("all_gather", "all_to_all", "broadcast", "permute", "shuffle")
    effects: ClassVar[type[_Lazy]] = _Lazy

    def _walk(self, case: Case, placed: Placed) -> Results:
        effects = self.effects(case, placed)
        values = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        operations = {name: getattr(self, name) for name in OPERATIONS}
        found = run(case, values, operations, effects, self.meeting, effects.watch)
        effects.finish()
        return tensors(found)


class _NotThroughViews(_Lazy):
    def over_writes(self, deed: str, writes: list[Ranks]) -> bool:
        return super().over_writes(deed, [target for target in writes if deed != "assign" or self._whole(target)])

    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return super().over_reads(deed, [target for target in writes if deed != "assign" or self._whole(target)])

    def _whole(self, target: Ranks) -> bool:
        return any(view is target[0] for ranks in self.placed.values() for _, view in ranks)


class ViewsAreWrittenAtOnce(_Engine):
    """A write through a view goes to memory by a fast path that asks nobody whether the buffer is in use."""

    breaks = "async.C1"
    effects = _NotThroughViews


class _ByName(_Lazy):
    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return super().over_reads(deed, writes) if deed == "free" else self.reads_it(writes)


class ReadersAreFoundByName(_Engine):
    """Who still reads a tensor is looked up by the tensor, and a view of the same memory is another one."""

    breaks = "async.C2"
    effects = _ByName


class _FreedUnderAView(_Lazy):
    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return self.reads_it(writes) if deed == "free" else super().over_reads(deed, writes)


class ViewsHoldNoReference(_Engine):
    """A started collective keeps its operand alive, and of a view not the buffer that it lies in."""

    breaks = "async.C3"
    effects = _FreedUnderAView


class _ResultOverReads(_Lazy):
    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return deed != "result" and super().over_reads(deed, writes)


class ResultsWaitForNoReader(_Engine):
    """A collective that is not started runs on a stream of its own, which does not wait for who reads its target."""

    breaks = "async.C2"
    effects = _ResultOverReads


class _ResultOverWrites(_Lazy):
    def over_writes(self, deed: str, writes: list[Ranks]) -> bool:
        return deed != "result" and super().over_writes(deed, writes)


class ResultsWaitForNoWriter(_Engine):
    """A collective that is not started runs on a stream of its own, and a started one then writes over its result."""

    breaks = "async.C15"
    effects = _ResultOverWrites


class _StartOverReads(_Lazy):
    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return deed != "start" and super().over_reads(deed, writes)


class StartsWaitForNoReader(_Engine):
    """What is started is done in the order of the waits, also where it writes what one before it still has to read."""

    breaks = "async.C2"
    effects = _StartOverReads


class _StartOverWrites(_Lazy):
    def over_writes(self, deed: str, writes: list[Ranks]) -> bool:
        return deed != "start" and super().over_writes(deed, writes)


class StartsWaitForNoWriter(_Engine):
    """What is started is done in the order of the waits, also where two write the same storage."""

    breaks = "async.C15"
    effects = _StartOverWrites


class _StartAfterWrites(_Lazy):
    def after_writes(self, deed: str, reads: list[Ranks]) -> bool:
        return deed != "start" and super().after_writes(deed, reads)


class StartsReadTooEarly(_Engine):
    """What is started is done in the order of the waits, also where it reads what one before it still has to write."""

    breaks = "async.C4"
    effects = _StartAfterWrites


class _FirstReads(_Lazy):
    def over_reads(self, deed: str, writes: list[Ranks]) -> bool:
        return any(_meet(writes, flight.reads[:1]) for flight in self.flights)


class TheFirstOperandIsHeld(_Engine):
    """A start of several operands takes an event of the first one's memory alone, and the others may be written."""

    breaks = "async.C2"
    effects = _FirstReads


class _AssignAfterWrites(_Lazy):
    def after_writes(self, deed: str, reads: list[Ranks]) -> bool:
        return deed != "assign" and super().after_writes(deed, reads)


class AssignedBeforeItArrived(_Engine):
    """An assignment waits for the storage that it writes, and takes its value as it is there."""

    breaks = "async.C4"
    effects = _AssignAfterWrites


class _WritersByName(_Lazy):
    def after_writes(self, deed: str, reads: list[Ranks]) -> bool:
        del deed
        return any(read is target for read in reads for flight in self.flights for target in flight.writes)


class ReadsThroughViewsDoNotWait(_Engine):
    """Who reads waits for what is on its way into that tensor, and of a view not for what goes into its buffer."""

    breaks = "async.C4"
    effects = _WritersByName


class _LandsLater(_Lazy):
    lost: tuple[_Flight, ...] = ()

    def free(self, blocks: Ranks) -> None:
        self.lost += tuple(flight for flight in self.flights if _meet([blocks], flight.writes))
        super().free(blocks)

    def buffer(self, name: str, operand: str, blocks: Ranks) -> Ranks:
        made = super().buffer(name, operand, blocks)
        for late in (ranks for flight in self.lost for ranks in self.results(flight)):
            for block, value in zip(made, late, strict=True):
                if value is not None and (block.dtype, block.shape) == (value.dtype, value.shape):
                    block[...] = value
        self.lost = ()
        return made


class TargetsAreFreedTooEarly(_Engine):
    """The target's block goes back to its pool before the result has arrived, which lands on its next owner."""

    breaks = "async.C6"
    effects = _LandsLater


def _meet(these: Iterable[Ranks], those: Iterable[Ranks]) -> bool:
    others = list(those)
    return any(shared(_elements(one), _elements(other)) for one in these for other in others)


def _elements(ranks: Ranks) -> Ranks:
    """Return the blocks without tokens and without ranks that have none."""
    return [block if isinstance(block, np.ndarray) else np.empty(0) for block in ranks]
