"""Mistakes that only show while different collectives are under way together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from msgspec.structs import replace

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference, Stored
from conformance.cases.case import Case
from conformance.cases.program.program import Attr, Step
from conformance.qualification.mutants.effectful import Act, Effectful
from conformance.qualification.mutants.every_program import Results
from conformance.reference.effects import Ranks


class _Numbered(Stored, ABC):
    """What is under way has a number among its like, and what is waited for is found by that number alone."""

    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.started: Counter[Hashable] = Counter()
        self.arrived: dict[tuple[int, int], Any] = {}

    @abstractmethod
    def like(self, step: Step) -> Hashable:
        """Return what is numbered apart from everything else."""

    def start(self, act: Act, step: Step) -> list[Any]:
        number = self.started[self.like(step)]
        self.started[self.like(step)] += 1
        tickets = [(number, position) for position in range(len(step.outputs))]
        self.arrived.update(zip(tickets, super().start(act, step), strict=True))
        return tickets

    def done(self, ticket: Any) -> Ranks:
        return super().done(self.arrived[ticket])


class _OfAGroup(_Numbered):
    def like(self, step: Step) -> Hashable:
        return step.axes, step.groups


class CommunicatorsCountAlone(Effectful):
    """Each communicator numbers its collectives from zero, and all of a process share one table of what arrived."""

    breaks = "async.C18"
    effects = _OfAGroup


class _OfAnOperation(_Numbered):
    def like(self, step: Step) -> Hashable:
        return step.op


class OperationsCountAlone(Effectful):
    """Each operation has a request pool of its own, and a wait is given the index in it without saying in which."""

    breaks = "async.C18"
    effects = _OfAnOperation


class TheFirstReductionForAll(Reference):
    """pytorch#98793: of reductions that are under way together all are done with the options of the first."""

    breaks = "async.C18"
    corpus = ("pytorch#98793-review",)
    ops = ("all_reduce",)

    def _walk(self, case: Case, placed: Placed) -> Results:
        steps: list[Step] = []
        first: Mapping[str, Attr] = {}
        for step in case.program.steps:
            first = {} if step.op == "done" else first
            if step.start and step.op == "all_reduce":
                first = first or step.attrs
                step = replace(step, attrs={**first})  # noqa: PLW2901 - what is done in its place
            steps.append(step)
        return super()._walk(replace(case, program=replace(case.program, steps=tuple(steps))), placed)
