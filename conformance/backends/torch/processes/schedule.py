"""Cases in, observations out, in order, while pools of all worlds work at the same time.

Gloo on one machine mostly waits (measured on two cores: an all_reduce over 8 ranks takes 12 ms, of which
both cores together compute 7), so several pools at once fill the time. A world with much to do gets a second, and
cases that look like one that broke its ranks go one by one to ranks that have served nobody, if there are any: there a
crash costs and a hang holds up no other case.
"""

from __future__ import annotations

import heapq
import math
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.backends.base import Unsupported
from conformance.backends.exceptions import rank_error
from conformance.backends.shares import ungrouped
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.processes import huge_pages
from conformance.backends.torch.processes.job import TROUBLED, Job, Looks, looks
from conformance.backends.torch.processes.store import Store
from conformance.backends.torch.processes.supervisor import Supervisor
from conformance.cases.case import Case
from conformance.cases.observation import Observation

MESSAGE: Final = 16
"""Cases sent at once: ranks that have to wait for the next message cost processor time."""

COMPUTING: Final = 16
"""Ranks that may compute at a time. On two cores 16 answered 79 cases a second, 36 (one pool of each world) 65, 12 70:
more of them get slower and are no sooner done, and what is slow might be taken for a hang."""

POOLS: Final = 2
"""Pools of one world."""

MUCH: Final = 12
"""Cases that must wait before another pool is worth its start."""

Kind = tuple[int, bool]
"""A world, and whether its cases look like one that broke its ranks."""


class Schedule:
    """The jobs that wait, by kind, and the supervisors of each world."""

    def __init__(self, operations: Mapping[str, Operation], *, checked: bool = False) -> None:
        """Start nothing yet; ranks run ``operations``, and Torch has them ``checked`` for being alike if told to."""
        self._operations = operations
        self._checked = checked
        self._selector = selectors.DefaultSelector()
        self._store = Store()
        self._waiting: dict[Kind, list[Job]] = {}
        self._supervisors: dict[int, list[Supervisor]] = {}
        self._breaking: set[Looks] = {TROUBLED}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Yield one observation a case, in the order of the cases, which may become more meanwhile."""
        found: dict[int, Observation] = {}
        taken = 0
        try:
            for key, _ in enumerate(cases):
                for new in range(taken, len(cases)):
                    self._take(new, cases[new], found)
                taken = len(cases)
                while key not in found:
                    self._work(found)
                yield found.pop(key)
        finally:
            self._waiting.clear()
            for supervisor in self._all():
                if not supervisor.idle:
                    supervisor.drop()

    def close(self) -> None:
        """Kill every rank process."""
        for supervisor in self._all():
            supervisor.drop()
        self._supervisors.clear()
        self._store.close()

    def _all(self) -> list[Supervisor]:
        return [supervisor for supervisors in self._supervisors.values() for supervisor in supervisors]

    def _take(self, key: int, case: Case, found: dict[int, Observation]) -> None:
        """Queue a case, or refuse it."""
        reason = refusal(case, self._operations)
        if reason:
            found[key] = Observation(errors=(rank_error(Unsupported(reason)),) * case.program.world)
        else:
            self._queue(Job(key, case, looks(case)))

    def _queue(self, job: Job) -> None:
        """Add a job to the heap of its kind, whose first has waited longest."""
        kind = (job.case.program.world, job.looks in self._breaking)
        heapq.heappush(self._waiting.setdefault(kind, []), job)

    def _work(self, found: dict[int, Observation]) -> None:
        """Hand out jobs, wait for any supervisor, let it go on and collect what came of it."""
        self._hand_out()
        alarm = min((supervisor.alarm for supervisor in self._all()), default=math.inf)
        if self._waiting:
            now = time.monotonic()
            alarm = min([alarm, *(supervisor.stalls_at for supervisor in self._all() if supervisor.stalls_at > now)])
        for ready, _ in self._selector.select(None if alarm == math.inf else max(alarm - time.monotonic(), 0)):
            supervisor, number, rank = ready.data
            supervisor.read(number, rank)
        for supervisor in self._all():
            if time.monotonic() >= supervisor.alarm:
                supervisor.tick()
            found.update(supervisor.outcomes.done)
            supervisor.outcomes.done.clear()
            for job in supervisor.outcomes.back:
                self._queue(job)
            supervisor.outcomes.back.clear()
        self._learn()

    def _hand_out(self) -> None:
        """Give the jobs that have waited longest to idle supervisors, as long as not too many ranks compute."""
        now = time.monotonic()
        computing = sum(
            supervisor.world for supervisor in self._all() if not supervisor.idle and supervisor.stalls_at > now
        )
        for world, breaking in sorted(self._waiting, key=lambda kind: self._waiting[kind][0]):
            queue = self._waiting[world, breaking]
            while queue:
                if computing and computing + world > COMPUTING:
                    return  # Not on to the next, which may be of a smaller world: this one would wait for ever.
                supervisor = self._free(world, breaking=breaking, much=len(queue) >= MUCH)
                if supervisor is None:
                    break
                supervisor.take([heapq.heappop(queue) for _ in range(min(len(queue), 1 if breaking else MESSAGE))])
                computing += world
            else:
                del self._waiting[world, breaking]

    def _free(self, world: int, *, breaking: bool, much: bool) -> Supervisor | None:
        """Return an idle one, a new one, or none: for ``breaking`` jobs rather one whose ranks have served nobody."""
        if not self._supervisors:
            huge_pages.collapse()
        supervisors = self._supervisors.setdefault(world, [])
        idle = [supervisor for supervisor in supervisors if supervisor.idle]
        wanted = [supervisor for supervisor in idle if supervisor.forked != breaking]
        stalled = all(supervisor.stalls_at < time.monotonic() for supervisor in supervisors)
        if not wanted and len(supervisors) < POOLS and (breaking or stalled or (much and not idle)):
            supervisors.append(Supervisor(world, self._operations, self._selector, self._store, checked=self._checked))
            return supervisors[-1]
        return next(iter(wanted or idle), None)

    def _learn(self) -> None:
        """Move what waits among others and looks like a case that broke its ranks."""
        new = {job.looks for supervisor in self._all() for job in supervisor.outcomes.broke} - self._breaking
        for supervisor in self._all():
            supervisor.outcomes.broke.clear()
        if new:
            self._breaking |= new
            waiting, self._waiting = self._waiting, {}
            for queue in waiting.values():
                for job in queue:
                    self._queue(job)


def refusal(case: Case, operations: Mapping[str, Operation]) -> str | None:
    """Return why Torch cannot be asked to run ``case``, or ``None``."""
    if any("flipped" in operand.layouts for operand in case.inputs.values()):
        return "torch.from_numpy takes no negative strides"
    if any(block.dtype in ("int4", "uint4") for operand in case.inputs.values() for block in operand.blocks):
        return "Torch has no tensors of 4-bit integers"
    program = case.program
    for step in program.collectives:
        if step.op not in operations:
            return f"Torch has no carrier for {step.op}; it has {', '.join(sorted(operations))}"
        world = program.world
        reason = ungrouped(
            program, step, f"process groups {{groups}} do not give each of the {world} ranks exactly one group"
        )
        if reason:
            return reason
    return None
