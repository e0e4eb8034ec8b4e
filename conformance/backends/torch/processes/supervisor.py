"""One pool of one world, forked anew whenever it cannot go on, and the cases it is at.

A rank that raises would end its process in any real job, and then the ranks that wait for it see the
connection close. So does it here: when some ranks raised and others have not answered, those that raised
are killed, and every other rank soon gives its own answer. The pool goes on when all have answered by
themselves, and all are fine or raised alike in the only collective; else it is forked anew.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from conformance.backends.shares import merged, share
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.child import Child
from conformance.backends.torch.processes.job import Job
from conformance.backends.torch.processes.pool import Pool, Rank
from conformance.backends.torch.processes.rank_answers import Arrivals, RankAnswers
from conformance.backends.torch.processes.shares import GLOO_TIMEOUT, aligned, doubtful, groups_of
from conformance.backends.torch.processes.store import Store
from conformance.cases.case import Case
from conformance.cases.observation import Observation, RankError

DEADLINE: Final = 4.0
"""Seconds a case may take before its ranks are killed: past Gloo's own timeouts, which name the operation."""

START: Final = 60.0
"""Seconds forked ranks may take to meet; measured 60 ms for 8."""

STARTS: Final = 5
"""Starts that may fail, through no fault of the case that waits for them, before it is given the failure."""

AGAIN: Final = 2.5
"""Times Gloo's timeout that a case has which is tried again, for a machine with much else to do: still below
``DEADLINE``, with the second more that some of Gloo's waits take."""

GRACE: Final = 0.1
"""Seconds between the first rank that raised and the last when all raise; measured below 10 ms for 8 ranks alone, and
now and then above 50 on two busy cores."""

STALL: Final = 0.2
"""Seconds after which a case that is not done is taken to wait rather than to compute."""

GROUPS: Final = 48
"""Process groups a pool may hold: each costs 3 threads and 3 descriptors a rank, and closing one takes 10 ms,
forking 8 ranks anew 60."""


@dataclass
class Alarms:
    """When the work under way began, when it must be done, and when ranks that raised are killed for the others.

    All in seconds of ``time.monotonic``.
    """

    since: float = 0.0
    deadline: float = math.inf
    leave_at: float = math.inf

    def begin(self, limit: float) -> None:
        """Begin what may take ``limit`` seconds."""
        self.since = time.monotonic()
        self.deadline = self.since + limit
        self.leave_at = math.inf

    def rest(self) -> None:
        """Wait for nothing."""
        self.deadline = self.leave_at = math.inf


@dataclass
class Outcomes:
    """What came of jobs, for the owner of a supervisor to take.

    Observations in ``done`` by the key of the job, in ``back`` jobs that were not begun, in order, and in ``broke``
    those after which the ranks could not go on.
    """

    done: dict[int, Observation] = field(default_factory=dict)
    back: list[Job] = field(default_factory=list)
    broke: list[Job] = field(default_factory=list)

    def clear(self) -> None:
        """Forget all."""
        self.done.clear()
        self.back.clear()
        self.broke.clear()


class Supervisor:
    """Runs the cases of one world in turn on a pool of its ranks; ``outcomes`` has what came of them."""

    def __init__(
        self,
        world: int,
        operations: Mapping[str, Operation],
        selector: selectors.BaseSelector,
        store: Store,
        *,
        checked: bool = False,
    ) -> None:
        """Start nothing yet; later register the channels of ranks in ``selector``: ``(supervisor, number, rank)``."""
        self.world = world
        self.outcomes = Outcomes()
        self._forking = partial(Pool, world, operations=operations, checked=checked)
        self._selector = selector
        self._store = store
        self._pool: Pool | None = None
        self._killed: list[Child] = []
        self._answers = RankAnswers(world)
        self._alarms = Alarms()
        self._waiting: deque[Job] = deque()
        self._sent: deque[Job] = deque()
        self._again: Job | None = None
        self._failed_starts = 0
        self._served = 0

    @property
    def idle(self) -> bool:
        """Return whether every job taken is done or given back."""
        return not self._waiting and not self._sent

    @property
    def forked(self) -> bool:
        """Return whether there are ranks, who may have served already."""
        return self._pool is not None

    @property
    def stalls_at(self) -> float:
        """Return when the case under way will have taken so long that it hardly computes; infinity if there is none."""
        return math.inf if self.idle else self._alarms.since + STALL

    @property
    def alarm(self) -> float:
        """Return when ``tick`` is due, in seconds of ``time.monotonic``."""
        return min(self._alarms.deadline, self._alarms.leave_at)

    def take(self, jobs: Iterable[Job]) -> None:
        """Run jobs, once idle."""
        self._waiting.extend(jobs)
        self._alarms.since = time.monotonic()
        self._go()

    def read(self, number: int, rank: Rank) -> None:
        """Take what ``rank``, which is ``number`` of its pool, has sent."""
        if rank.channel.fileno() < 0:
            return  # Of a pool that was killed after its channel was found readable.
        messages = rank.inbox.read()
        if messages is None:
            self._selector.unregister(rank.channel)
            self._ended(number, rank.end())
        for message in messages or ():
            observation = wire.decode_answer(message).observation
            if observation is None:
                self._answers.met += 1
            else:
                self._answers.add(number, observation)
        self._advance()

    def tick(self) -> None:
        """Act on whatever is overdue."""
        now = time.monotonic()
        if now >= self._alarms.leave_at and self._pool is not None:
            self._leave(self._pool)
        if now >= self._alarms.deadline:
            if not self._answers.all_met:
                self._start_failed(f"the ranks had not met within {START} s")
            elif self._sent:
                hang = RankError(kind="Hang", message=f"no answer within {DEADLINE} s", category="no_answer")
                self._finish([self._answers.of(rank) or Observation(errors=(hang,)) for rank in range(self.world)])
        self._advance()

    def stop(self) -> None:
        """Kill the ranks; the jobs they had not begun go back."""
        if self._pool is not None:
            for rank in self._pool.ranks:
                if rank.channel.fileno() >= 0:
                    self._selector.unregister(rank.channel)
            self._killed += self._pool.kill()
        self._pool = None
        self._alarms.rest()
        self.outcomes.back += self._sent
        self._sent.clear()

    def drop(self) -> None:
        """Kill the ranks, wait until they have ended and forget every job."""
        self.stop()
        for child in self._killed:
            child.end()
        self._killed.clear()
        self._waiting.clear()
        self.outcomes.clear()
        self._again = None

    def _go(self) -> None:
        """Send the jobs that wait when the ranks have met and nothing is under way; fork them when there are none."""
        if self._sent:
            return
        if not self._waiting:
            if self._pool is not None and self._answers.all_met:
                self._pool.pause()
            return
        if self._pool is not None and len(self._pool.groups | groups_of(self._waiting[0].case)) > GROUPS:
            self.stop()
        if self._pool is None:
            self._fork()
        elif self._answers.all_met:
            self._send(self._pool)

    def _fork(self) -> None:
        self._killed = [child for child in self._killed if not child.ended()]
        timeout = GLOO_TIMEOUT * (1.0 if self._again is None else AGAIN)
        self._pool = self._forking(timeout=timeout, meeting=self._store.meeting())
        self._served = 0
        self._answers = RankAnswers(self.world)
        self._alarms.begin(START)
        for number, rank in enumerate(self._pool.ranks):
            self._selector.register(rank.channel, selectors.EVENT_READ, (self, number, rank))

    def _ended(self, number: int, how: str) -> None:
        """Take note of a rank that ended: before all had met, while nothing was under way, or in a case."""
        self._answers.ended[number] = how
        if not self._answers.all_met:
            self._start_failed(f"rank {number} {how} before the ranks had met")
        elif not self._sent:
            self.stop()

    def _start_failed(self, message: str) -> None:
        self.stop()
        self._failed_starts += 1
        if self._failed_starts >= STARTS and self._waiting:
            job = self._waiting.popleft()
            crash = RankError(kind="Crash", message=message, category="no_answer")
            self.outcomes.done[job.key] = Observation(errors=(crash,) * self.world)

    def _leave(self, pool: Pool) -> None:
        """Kill the ranks that raised, so that those who wait for them see them go."""
        self._alarms.leave_at = math.inf
        for rank in self._answers.raised():
            self._answers.left.add(rank)
            pool.ranks[rank].child.kill()

    def _send(self, pool: Pool) -> None:
        self._failed_starts = 0
        pool.resume()
        while self._waiting:
            groups = pool.groups | groups_of(self._waiting[0].case)
            if self._sent and (len(groups) > GROUPS or self._sent[0] is self._again):
                break
            pool.groups = groups
            self._sent.append(self._waiting.popleft())
        self.outcomes.back += self._waiting
        self._waiting.clear()
        self._alarms.begin(DEADLINE)
        _tell(pool, range(self.world), [job.case for job in self._sent])

    def _advance(self) -> None:
        """Finish every case that all ranks have answered."""
        while self._sent:
            answers = self._answers.first()
            if answers is None:
                if self._alarms.leave_at == math.inf and self._answers.raised():
                    self._alarms.leave_at = time.monotonic() + GRACE
                return
            self._finish(answers)
        self._go()

    def _finish(self, answers: list[Observation]) -> None:
        """Take what all ranks did with the first case sent, or run it again where it may not be to blame."""
        job, arrivals = self._sent.popleft(), self._answers.take()
        self._alarms.begin(DEADLINE)
        observation = merged(job.case, answers)
        excused = observation.raised and job is not self._again and self._excused(job, answers, arrivals)
        self._served += 1
        if excused:
            self.outcomes.broke.append(job)
            self.stop()
            self._again = job
            self._waiting.append(job)
            return
        self._again = None
        self.outcomes.done[job.key] = observation
        if observation.raised and self._pool is not None:
            self._after_errors(self._pool, job, answers, whole=arrivals.whole)
        if not self._sent:
            self._alarms.deadline = math.inf

    def _excused(self, job: Job, answers: list[Observation], arrivals: Arrivals) -> bool:
        """Return whether an error may be that of another case, or of a slow machine.

        A rank that died in a later case took its connections along, an earlier case may have left it with broken
        memory, and a slow machine looks like a hang.
        """
        # Nor need the end of a rank have been noticed, where some were done with this case already.
        ahead = arrivals.ahead or (bool(self._sent) and len({answer.raised for answer in answers}) > 1)
        alive = [rank for rank in range(self.world) if rank not in job.case.dying]
        crashed = any(error and error.kind == "Crash" for rank in alive for error in answers[rank].errors)
        late = doubtful([arrivals.times[rank] for rank in alive], [answers[rank] for rank in alive])
        return ahead or (self._served > 0 and crashed) or late

    def _after_errors(self, pool: Pool, job: Job, answers: list[Observation], *, whole: bool) -> None:
        """Bid the ranks that raised go on, or end them all where they cannot."""
        if not whole or self._answers.broken or not aligned(job.case, answers):
            self.outcomes.broke.append(job)
            self.stop()
        elif self._sent:
            _tell(pool, (rank for rank, answer in enumerate(answers) if answer.raised), ())


def _tell(pool: Pool, ranks: Iterable[int], cases: Sequence[Case]) -> None:
    """Send ``ranks`` cases; none at all bids one that raised go on."""
    for rank in ranks:
        # A rank that has ended meanwhile is noticed when its channel is read.
        with contextlib.suppress(OSError):
            wire.send(pool.ranks[rank].channel, wire.encode_cases([share(case, rank) for case in cases]))
