"""The meaning of a program in which ranks run different steps, are late or die.

Each rank runs its own steps in list order. Members of a group meet when the next step of every one of them is a
collective of that same group; if they agree on what it is, the group computes it as a world of its own. Members
that disagree never go on, nor does who waits for a rank that has finished or waits elsewhere, or misses a block of one
that has died. Being late changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from msgspec.structs import replace as changed

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.program.operations import row
from conformance.cases.program.program import Attr, Groups, Step
from conformance.reference.dead_ranks import stopped
from conformance.reference.groups import partition
from conformance.reference.rejection import Rejected

Group = tuple[int, ...]
Compute = Callable[[Step, dict[str, Attr], list[list[Any]], int], list[list[Any]]]
"""Take a step, its attributes, a list of blocks for each operand and the number of members; return the results."""

DEAD: Final = "liveness.C13"
CLAUSES: Final = {
    "order": "liveness.C9",
    "crossing": "liveness.C10",
    "group": "liveness.C11",
    "count": "liveness.C12",
    "operation": "liveness.C5",
    "attributes": "liveness.C6",
    "dtype": "liveness.C7",
    "shape": "liveness.C8",
}
"""What ranks can disagree on and the clause that breaks, the most particular first: who waits for a rank that
disagrees with a third waits for one that has finished, or is elsewhere."""


@dataclass(frozen=True)
class Call:
    """What one rank asks of its group: which members it means, what they are to do, and with which blocks."""

    index: int
    step: Step
    group: Group
    attrs: dict[str, Attr]
    blocks: tuple[Any, ...]

    @property
    def name(self) -> Hashable:
        """Return what all members must agree on but the blocks."""
        return self.group, self.step.op, len(self.step.inputs), str(sorted(self.attrs.items()))


@dataclass
class Meeting:
    """A program under way: how far each rank has come, and the blocks it holds by name.

    ``attributes`` completes and checks a step's attributes, ``groups`` are those of a step, ``compute`` does a
    collective in one group.
    """

    case: Case
    attributes: Callable[[Step], dict[str, Attr]]
    groups: Callable[[Step], Groups]
    compute: Compute
    held: list[dict[str, Any]] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    problem: Rejected | None = None

    def results(self, inputs: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
        """Return every result, ``None`` on ranks that have none; raise ``Rejected`` unless every rank can go on."""
        world = self.case.program.world
        for step in self.case.program.steps:
            partition(self.groups(step), world)
        self.held = [{name: blocks[rank] for name, blocks in inputs.items()} for rank in range(world)]
        self.at = [self._next(rank, 0) for rank in range(world)]
        while self._meet():
            pass
        calls = {rank: call for rank in range(world) if (call := self._call(rank)) is not None}
        if not calls and not self.case.dying:
            return self._found(range(world))
        others = [rank for rank in range(world) if rank not in calls and rank not in self.case.dying]
        clause, message = self._why(calls)
        waiting = Rejected(clause, message, tuple(sorted(calls)), self._found(others))
        raise waiting if self.case.divergent or not self.case.dying else self._stopped_by_death(inputs) or waiting

    def _stopped_by_death(self, inputs: Mapping[str, list[Any]]) -> Rejected | None:
        """Return who misses a block of a dead rank; all others have what they would have if nobody had died.

        ``None`` where the program has no meaning either if nobody dies.
        """
        steps = [(step, self.groups(step)) for step in self.case.program.steps]
        deaths = sorted((fault.before, fault.rank) for fault in self.case.faults if fault.delay is None)
        dead = {rank: before for before, rank in reversed(deaths)}
        try:
            found = replace(self, case=changed(self.case, faults=())).results(inputs)
        except Rejected:
            return None
        missing = stopped(steps, dead)
        results = {
            name: [None if rank in missing or rank in dead else block for rank, block in enumerate(blocks)]
            for name, blocks in found.items()
        }
        need = f"ranks {sorted(missing)} need a block that it never gives" if missing else "nobody needs a block of it"
        return Rejected(DEAD, f"rank {min(dead)} dies, and {need}", tuple(sorted(missing)), results)

    def _found(self, ranks: Any) -> dict[str, list[Any]]:
        world = range(self.case.program.world)
        return {
            name: [self.held[r].get(name) if r in ranks else None for r in world] for name in self.case.program.results
        }

    def _next(self, rank: int, start: int) -> int:
        """Return the index of the first step from ``start`` on that is for ``rank``; their number when it is done."""
        steps = self.case.program.steps
        found = (at for at in range(start, len(steps)) if steps[at].ranks is None or rank in (steps[at].ranks or ()))
        return next(found, len(steps))

    def _gone(self, rank: int) -> bool:
        """Return whether ``rank`` has died by now."""
        deaths = [fault.before for fault in self.case.faults if fault.rank == rank and fault.delay is None]
        return bool(deaths) and min(deaths) <= self.at[rank]

    def _call(self, rank: int) -> Call | None:
        """Return what ``rank`` waits for, or ``None`` when it has finished or died."""
        steps = self.case.program.steps
        return None if self._gone(rank) or self.at[rank] == len(steps) else self._asked(rank, self.at[rank])

    def _asked(self, rank: int, index: int) -> Call:
        step = self.case.program.steps[index]
        group = next(group for group in self.groups(step) if rank in group)
        blocks = tuple(self.held[rank].get(name) for name in step.inputs)
        return Call(index, step, group, self.attributes(step), blocks)

    def _meet(self) -> bool:
        """Let every group go on whose members have all come and agree; return whether one has."""
        world = range(self.case.program.world)
        calls = {rank: call for rank in world if (call := self._call(rank)) is not None}
        went = False
        for group in dict.fromkeys(call.group for call in calls.values()):
            members = [calls.get(rank) for rank in group]
            came = [call for call in members if call is not None and call.group == group]
            if len(came) == len(group) and self._difference(came) is None:
                went = self._go(group, came) or went
        return went

    def _go(self, group: Group, calls: list[Call]) -> bool:
        """Compute, and return whether that has a meaning."""
        for call in calls:
            for name, block in zip(call.step.inputs, call.blocks, strict=True):
                if block is None:
                    raise CaseError(
                        f"step {call.index} ({call.step.op}) takes {name!r}, of which a member has no block"
                    )
        operands = [list(blocks) for blocks in zip(*(call.blocks for call in calls), strict=True)]
        try:
            made = self.compute(calls[0].step, calls[0].attrs, operands, len(group))
        except Rejected as problem:
            self.problem = problem
            return False
        for position, (rank, call) in enumerate(zip(group, calls, strict=True)):
            self.held[rank] |= {name: ranks[position] for name, ranks in zip(call.step.outputs, made, strict=False)}
            self.at[rank] = self._next(rank, self.at[rank] + 1)
        return True

    def _difference(self, calls: list[Call]) -> str | None:
        """Return what the members of a group disagree on, the most particular thing first."""
        first = calls[0]
        if any((call.step.op, len(call.blocks)) != (first.step.op, len(first.blocks)) for call in calls):
            return "operation"
        if any(call.attrs != first.attrs for call in calls):
            return "attributes"
        differ = row(first.step.op).differ
        for blocks in zip(*(call.blocks for call in calls), strict=True) if differ != "all" else ():
            if len({str(block.dtype) for block in blocks if block is not None}) > 1:
                return "dtype"
            shapes = {
                block.shape if differ == "nothing" else (block.ndim, *block.shape[1:])
                for block in blocks
                if block is not None
            }
            if len(shapes) > 1:
                return "shape"
        return None

    def _why(self, calls: Mapping[int, Call]) -> tuple[str, str]:
        """Return the clause that is broken, and what happened, in words."""
        if self.case.dying:
            waiting = f"ranks {sorted(calls)} wait for it" if calls else "nobody waits for it"
            return DEAD, f"rank {min(self.case.dying)} dies, and {waiting}"
        if self.problem is not None:
            return self.problem.clause, str(self.problem)
        kinds = {self._kind(rank, call, calls) for rank, call in calls.items()}
        kind = next(kind for kind in CLAUSES if kind in kinds)
        asked = [f"rank {rank} comes to step {call.index} ({call.step.op})" for rank, call in calls.items()]
        gone = [f"rank {rank} has finished" for rank in range(self.case.program.world) if rank not in calls]
        return CLAUSES[kind], f"ranks disagree ({kind}): {'; '.join([*asked, *gone])}"

    def _kind(self, rank: int, call: Call, calls: Mapping[int, Call]) -> str:
        """Return what ``rank`` and who it waits for disagree on."""
        members = [calls.get(member) for member in call.group]
        rest = {member: self._rest(member) for member in call.group}
        mine = Counter(asked.name for asked in rest[rank])
        others = [Counter(asked.name for asked in rest[member]) for member in call.group]
        if all(other == mine for other in others) and any(rest[m] and rest[m][0].name != call.name for m in rest):
            groups = {asked.group for asked in rest[rank]}
            return "order" if len(groups) == 1 else "crossing"
        if len({sum(other.values()) for other in others}) > 1:
            return "count"
        came = [other for other in members if other is not None and other.group == call.group]
        difference = self._difference(came)
        return difference if difference is not None else "group"

    def _rest(self, rank: int) -> list[Call]:
        """Return all that ``rank`` has still to ask."""
        steps = self.case.program.steps
        left = [i for i in range(self.at[rank], len(steps)) if steps[i].ranks is None or rank in (steps[i].ranks or ())]
        return [] if self._gone(rank) else [self._asked(rank, index) for index in left]
