"""Mistakes about ranks that go their own ways, are late or die."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import NO_COLLECTIVES, Step, rank_groups
from conformance.cases.tensor.tensor import Tensor
from conformance.qualification.mutants.divergent_ranks import (
    Agrees,
    Calls,
    Ranks,
    Swallows,
    Troubled,
    empty,
    reason,
    zeros,
)
from conformance.reference.divergent_ranks import Call, Group, Meeting
from conformance.reference.rejection import Rejected


class WhoCannotGoOnHangs(Troubled):
    """pytorch#146468: some ranks have nothing to send and return early, and the others wait for them without end."""

    breaks = "liveness.C1"

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        hang = RankError(kind="Hang", message="no answer", category="no_answer")
        return replace(seen, errors=(hang,) * case.program.world)


class _LateIsOld(Meeting):
    def results(self, inputs: Mapping[str, Ranks]) -> dict[str, Ranks]:
        late = {fault.rank for fault in self.case.faults if fault.delay is not None}
        return super().results({name: zeros(blocks, late) for name, blocks in inputs.items()})


class NobodyWaitsForTheLate(Troubled):
    """A mailbox is read when its turn comes, whether its sender has written this round's block or not."""

    breaks = "liveness.C2"
    meeting = _LateIsOld


class _OneForAll(Meeting):
    first: Call | None = None

    def _go(self, group: Group, calls: Calls) -> bool:
        self.first = self.first or calls[0]
        told = replace(calls[0].step, op=self.first.step.op)
        same = len(self.first.blocks) == len(calls[0].blocks)
        return super()._go(group, [self.told(calls[0], told), *calls[1:]] if same else calls)

    def told(self, call: Call, step: Any) -> Call:
        assert self.first is not None
        return Call(call.index, step, call.group, self.first.attrs, call.blocks)


class OneProgramForAllGroups(Troubled):
    """What the first group asks for is traced, compiled and run by every rank: all are taken to run one program."""

    breaks = "liveness.C3"
    meeting = _OneForAll


class _Halves(Meeting):
    def _asked(self, rank: int, index: int) -> Call:
        call = super()._asked(rank, index)
        came = tuple(member for member in call.group if member in (call.step.ranks or call.group))
        return Call(call.index, call.step, came, call.attrs, call.blocks)


class WhoComesTogetherMeets(Troubled):
    """Ranks meet at a line of the program, as lanes of a warp do: those on another line are not waited for."""

    breaks = "liveness.C4"
    meeting = _Halves


class _AnyOperation(Agrees):
    about = "operation"


class TheFirstMembersCallIsMade(Troubled):
    """Calls are matched by their number alone, and the whole group does what its first member asked for."""

    breaks = "liveness.C5"
    meeting = _AnyOperation


class _AnyAttributes(Agrees):
    about = "attributes"


class TheFirstMembersRootCounts(Troubled):
    """Attributes are read on the first member, and nobody compares them: with two roots, one of them is right."""

    breaks = "liveness.C6"
    meeting = _AnyAttributes


class _AnyDtype(Agrees):
    about = "dtype"

    def mend(self, block: Any, first: Any) -> Any:
        return block.astype(first.dtype)


class BytesAreBytes(Troubled):
    """A message is so many bytes, whatever dtype its sender had in mind."""

    breaks = "liveness.C7"
    meeting = _AnyDtype


class _AnyShape(Agrees):
    about = "shape"

    def mend(self, block: Any, first: Any) -> Any:
        return np.resize(block, first.shape)


class TheFirstMembersCountIsTaken(Troubled):
    """As many elements are exchanged as the first member has, from wherever the others' memory begins."""

    breaks = "liveness.C8"
    meeting = _AnyShape


class OneRankIsTold(Troubled):
    """Whoever finds that the order of calls differs raises alone; the others are given their buffers back."""

    breaks = "liveness.C9"

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        if why.clause != self.breaks or not why.ranks:
            return seen
        errors = tuple(error if rank == why.ranks[0] else None for rank, error in enumerate(seen.errors))
        return replace(seen, errors=errors)


class NobodyLooksAtTheOrder(Troubled):
    """pytorch#189228: two calls come in another order on another rank, and each spins until the other is served."""

    breaks = "liveness.C9"
    corpus = ("pytorch#189228",)

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        hang = RankError(kind="Hang", message="no answer", category="no_answer")
        return replace(seen, errors=(hang,) * case.program.world) if why.clause == self.breaks else seen


class ATimeoutIsALine(Swallows):
    """A watchdog notices that two groups wait for each other, writes a line to the log and lets everybody go on."""

    breaks = "liveness.C10"


class _Sets(Meeting):
    def _asked(self, rank: int, index: int) -> Call:
        call = super()._asked(rank, index)
        return Call(call.index, call.step, tuple(sorted(call.group)), call.attrs, call.blocks)


class AGroupIsASet(Troubled):
    """Communicators are kept by the set of their members, so that two orders of the same members are one group."""

    breaks = "liveness.C11"
    meeting = _Sets


class WhoIsDoneJoinsIn(Swallows):
    """A rank that has run out of steps answers for the rest of the program with zeros, as joining ranks do."""

    breaks = "liveness.C12"


class TheDeadCountAsZero(Troubled):
    """A closed connection reads as the end of the data, and what was not received stays as it was allocated."""

    breaks = "liveness.C13"

    def execute(self, case: Case) -> Observation:
        inputs = {
            name: replace(
                operand, blocks=tuple(empty(x) if r in case.dying else x for r, x in enumerate(operand.blocks))
            )
            for name, operand in case.inputs.items()
        }
        return super().execute(replace(case, inputs=inputs, faults=()) if case.dying else case)


class WhoReturnedGetsTheErrorsBytes(Troubled):
    """An abort clears the receive buffers of everybody, of those too whose collectives were done long ago."""

    breaks = "liveness.C14"

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        errors = tuple(error if rank in (why.ranks or ()) else None for rank, error in enumerate(seen.errors))
        return replace(seen, errors=errors, results=self.cleared(case, why))


class WhoCouldGoOnIsForgotten(Troubled):
    """When a job has failed, only the error is collected; what ranks that never met the failed one made is dropped."""

    breaks = "liveness.C14"

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        errors = tuple(error if rank in (why.ranks or ()) else None for rank, error in enumerate(seen.errors))
        dropped = {name: tuple(None for _ in blocks) for name, blocks in seen.results.items()}
        return replace(seen, errors=errors, results=dropped)


class NumbersOfCallsStayApart(Reference):
    """pytorch#174844: after a timeout the group is used again, and its members' sequence numbers are not alike."""

    breaks = "liveness.C15"
    ops: ClassVar[tuple[str, ...]] = Troubled.ops
    shaken = False

    def execute(self, case: Case) -> Observation:
        shaken, self.shaken = self.shaken, case.troubled
        seen = super().execute(case)
        stale = {name: tuple(block and empty(block) for block in blocks) for name, blocks in seen.results.items()}
        return replace(seen, results=stale) if shaken else seen


class AnAnswerIsLeftInTheQueue(Reference):
    """What comes after trouble reads the first answer in a queue, where its last reader found one answer too many."""

    breaks = "liveness.C15"
    ops: ClassVar[tuple[str, ...]] = Troubled.ops
    shaken = False
    last: Mapping[str, tuple[Tensor | None, ...]] = {}

    def execute(self, case: Case) -> Observation:
        shaken, self.shaken = self.shaken, case.troubled
        seen = super().execute(case)
        if not shaken:
            return seen
        last, self.last = self.last, seen.results
        fits = [(name, len(blocks)) for name, blocks in last.items()] == [
            (name, len(blocks)) for name, blocks in seen.results.items()
        ]
        return replace(seen, results=last) if fits else seen


class AGroupIsMendedByItsNextCall(Troubled):
    """An aborted communicator is made anew by the call that finds it so and reduces nothing; the world is well."""

    breaks = "liveness.C15"
    aborted: frozenset[Group] = frozenset()

    def execute(self, case: Case) -> Observation:
        aborted, self.aborted = self.aborted, frozenset()
        seen, results = super().execute(case), {}
        for step in case.program.steps if aborted else ():
            bad = {rank for group in aborted & _met(case, step) for rank in group}
            name = step.outputs[0]
            results[name] = tuple(
                block and empty(block) if rank in bad else block for rank, block in enumerate(seen.results[name])
            )
        return replace(seen, results=results) if aborted else seen

    def afterwards(self, case: Case, why: Rejected, seen: Observation) -> Observation:
        groups = frozenset(group for step in case.program.steps if why.ranks for group in _met(case, step))
        self.aborted = frozenset(group for group in groups if len(group) < case.program.world)
        return seen


def _met(case: Case, step: Step) -> frozenset[Group]:
    return frozenset(rank_groups(case.program.mesh, step.axes, step.groups))


class OneRankSwapsItsCalls(Troubled):
    """PyTorch#189454: a pass raises calls that need nothing of each other, on one rank and not on those it meets."""

    breaks = "liveness.C1"
    outcome = "errored"

    def execute(self, case: Case) -> Observation:
        seen, swapped = super().execute(case), _swapped(case) if case.divergent else None
        why = None if swapped is None or reason(case) is not None else reason(swapped)
        if why is None:
            return seen
        hang = RankError(kind="Hang", message="no answer", category="no_answer")
        stuck = why.ranks or ()
        errors = tuple(hang if rank in stuck else None for rank in range(case.program.world))
        dropped = {name: tuple(None for _ in blocks) for name, blocks in seen.results.items()}
        return replace(seen, errors=errors, results=dropped)


def _swapped(case: Case) -> Case | None:
    """Return the case in which some rank makes two calls that follow each other there in the other order.

    Nothing takes what the second of them gives, which has another name for that rank.
    """
    steps = case.program.steps
    taken = {name for each in steps for name in each.inputs}
    for rank in range(case.program.world):
        own = [n for n, each in enumerate(steps) if each.ranks is None or rank in each.ranks]
        for one, two in pairwise(own):
            first, second = steps[one], steps[two]
            alike = (first.op, first.attrs) == (second.op, second.attrs)
            if alike or taken & set(second.outputs) or {first.op, second.op} & set(NO_COLLECTIVES):
                continue
            rest = tuple(r for r in range(case.program.world) if r != rank and r in (second.ranks or (r,)))
            names = tuple(f"{name} early" for name in second.outputs)
            late = (replace(second, ranks=rest),) if rest else ()
            early = (replace(second, ranks=(rank,), outputs=names), *steps[one:two], *late)
            return replace(case, program=replace(case.program, steps=(*steps[:one], *early, *steps[two + 1 :])))
    return None
