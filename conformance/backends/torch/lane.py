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
from typing import Final

from conformance.backends.shares import merged, share
from conformance.backends.torch import wire
from conformance.backends.torch.child import Child
from conformance.backends.torch.job import Job
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.pool import Pool, Rank
from conformance.backends.torch.shares import GLOO_TIMEOUT, aligned, doubtful, groups_of
from conformance.backends.torch.store import Store
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


class Lane:
    """Cases of one world, in turn.

    What came of them is for the owner to take: observations in ``done`` by the key of the job, in ``back`` jobs that
    were not begun, in order, and in ``broke`` those after which the ranks could not go on.
    """

    def __init__(
        self,
        world: int,
        operations: Mapping[str, Operation],
        selector: selectors.BaseSelector,
        store: Store,
        *,
        checked: bool = False,
    ) -> None:
        """Start nothing yet; later register the channels of ranks in ``selector``, with ``(lane, number, rank)``."""
        self.world = world
        self.done: dict[int, Observation] = {}
        self.back: list[Job] = []
        self.broke: list[Job] = []
        self._operations = operations
        self._checked = checked
        self._selector = selector
        self._store = store
        self._pool: Pool | None = None
        self._killed: list[Child] = []
        self._waiting: deque[Job] = deque()
        self._sent: deque[Job] = deque()
        self._again: Job | None = None
        self._failed_starts = 0
        self._served = 0
        self._met = 0
        self._answers: list[deque[tuple[float, Observation]]] = []
        self._ended: dict[int, str] = {}
        self._left: set[int] = set()
        self._since = 0.0
        self._deadline = math.inf
        self._leave_at = math.inf

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
        return math.inf if self.idle else self._since + STALL

    @property
    def alarm(self) -> float:
        """Return when ``tick`` is due, in seconds of ``time.monotonic``."""
        return min(self._deadline, self._leave_at)

    def take(self, jobs: Iterable[Job]) -> None:
        """Run jobs, once idle."""
        self._waiting.extend(jobs)
        self._since = time.monotonic()
        self._go()

    def read(self, number: int, rank: Rank) -> None:
        """Take what ``rank``, which is ``number`` of its pool, has sent."""
        if rank.channel.fileno() < 0:
            return  # Of a pool that was killed after its channel was found readable.
        messages = rank.inbox.read()
        if messages is None:
            self._selector.unregister(rank.channel)
            self._ended[number] = rank.end()
            if self._met < self.world:
                self._start_failed(f"rank {number} {self._ended[number]} before the ranks had met")
            elif not self._sent:
                self.stop()
        for message in messages or ():
            observation = wire.decode_answer(message).observation
            if observation is None:
                self._met += 1
            else:
                self._answers[number].append((time.monotonic(), observation))
        self._advance()

    def tick(self) -> None:
        """Act on whatever is overdue."""
        now = time.monotonic()
        if now >= self._leave_at and self._pool is not None:
            self._leave_at = math.inf
            for rank in self._raised():
                self._left.add(rank)
                self._pool.ranks[rank].child.kill()
        if now >= self._deadline:
            if self._met < self.world:
                self._start_failed(f"the ranks had not met within {START} s")
            elif self._sent:
                hang = RankError(kind="Hang", message=f"no answer within {DEADLINE} s", category="no_answer")
                self._finish([self._answer(rank) or Observation(errors=(hang,)) for rank in range(self.world)])
        self._advance()

    def stop(self) -> None:
        """Kill the ranks; the jobs they had not begun go back."""
        if self._pool is not None:
            for rank in self._pool.ranks:
                if rank.channel.fileno() >= 0:
                    self._selector.unregister(rank.channel)
            self._killed += self._pool.kill()
        self._pool = None
        self._deadline = self._leave_at = math.inf
        self.back += self._sent
        self._sent.clear()

    def drop(self) -> None:
        """Kill the ranks, wait until they have ended and forget every job."""
        self.stop()
        for child in self._killed:
            child.end()
        self._killed.clear()
        self._waiting.clear()
        self.back.clear()
        self.broke.clear()
        self.done.clear()
        self._again = None

    def _go(self) -> None:
        """Send the jobs that wait when the ranks have met and nothing is under way; fork them when there are none."""
        if self._sent:
            return
        if not self._waiting:
            if self._pool is not None and self._met == self.world:
                self._pool.pause()
            return
        if self._pool is not None and len(self._pool.groups | groups_of(self._waiting[0].case)) > GROUPS:
            self.stop()
        if self._pool is None:
            self._fork()
        elif self._met == self.world:
            self._send(self._pool)

    def _fork(self) -> None:
        self._killed = [child for child in self._killed if not child.ended()]
        timeout = GLOO_TIMEOUT * (1.0 if self._again is None else AGAIN)
        self._pool = Pool(self.world, timeout, self._operations, self._store.meeting(), checked=self._checked)
        self._met = self._served = 0
        self._answers = [deque() for _ in self._pool.ranks]
        self._ended, self._left = {}, set()
        self._since = time.monotonic()
        self._deadline = self._since + START
        for number, rank in enumerate(self._pool.ranks):
            self._selector.register(rank.channel, selectors.EVENT_READ, (self, number, rank))

    def _start_failed(self, message: str) -> None:
        self.stop()
        self._failed_starts += 1
        if self._failed_starts >= STARTS and self._waiting:
            job = self._waiting.popleft()
            crash = RankError(kind="Crash", message=message, category="no_answer")
            self.done[job.key] = Observation(errors=(crash,) * self.world)

    def _send(self, pool: Pool) -> None:
        self._failed_starts = 0
        pool.resume()
        while self._waiting:
            groups = pool.groups | groups_of(self._waiting[0].case)
            if self._sent and (len(groups) > GROUPS or self._sent[0] is self._again):
                break
            pool.groups = groups
            self._sent.append(self._waiting.popleft())
        self.back += self._waiting
        self._waiting.clear()
        self._since = time.monotonic()
        self._deadline = self._since + DEADLINE
        self._tell(pool, range(self.world), [job.case for job in self._sent])

    def _tell(self, pool: Pool, ranks: Iterable[int], cases: Sequence[Case]) -> None:
        """Send ``ranks`` cases; none at all bids one that raised go on."""
        for rank in ranks:
            # A rank that has ended meanwhile is noticed when its channel is read.
            with contextlib.suppress(OSError):
                wire.send(pool.ranks[rank].channel, wire.encode_cases([share(case, rank) for case in cases]))

    def _advance(self) -> None:
        """Finish every case that all ranks have answered."""
        while self._sent:
            answers = [self._answer(rank) for rank in range(self.world)]
            if None in answers:
                if self._leave_at == math.inf and self._raised():
                    self._leave_at = time.monotonic() + GRACE
                return
            self._finish([answer for answer in answers if answer is not None])
        self._go()

    def _answer(self, rank: int) -> Observation | None:
        """Return what ``rank`` did with the first case sent, or ``None`` when that is still open."""
        if self._answers[rank]:
            return self._answers[rank][0][1]
        if rank in self._ended:
            crash = RankError(kind="Crash", message=f"rank {rank} {self._ended[rank]}", category="no_answer")
            return Observation(errors=(crash,))
        return None

    def _raised(self) -> list[int]:
        """Return the ranks that raised in the first case sent and still stand by."""
        ranks = set(range(self.world)) - set(self._ended) - self._left
        return [rank for rank in sorted(ranks) if self._answers[rank] and self._answers[rank][0][1].raised]

    def _finish(self, answers: list[Observation]) -> None:
        job = self._sent.popleft()
        ahead = any(self._answers[rank] and rank not in self._left for rank in self._ended)
        # Nor need its end have been noticed, where some were done with this case already.
        ahead = ahead or (bool(self._sent) and len({answer.raised for answer in answers}) > 1)
        answered = all(self._answers)
        arrivals = [queue[0][0] if queue else time.monotonic() for queue in self._answers]
        for queue in self._answers:
            if queue:
                queue.popleft()
        self._leave_at = math.inf
        self._since = time.monotonic()
        self._deadline = self._since + DEADLINE
        observation = merged(job.case, answers)
        alive = [rank for rank in range(self.world) if rank not in job.case.dying]
        crashed = any(error and error.kind == "Crash" for rank in alive for error in answers[rank].errors)
        echo = self._served > 0 and crashed
        late = doubtful([arrivals[rank] for rank in alive], [answers[rank] for rank in alive])
        self._served += 1
        if observation.raised and job is not self._again and (ahead or echo or late):
            # A rank that died in a later case took its connections along, an earlier case may have left it with broken
            # memory, and a slow machine looks like a hang.
            self.broke.append(job)
            self.stop()
            self._again = job
            self._waiting.append(job)
            return
        self._again = None
        self.done[job.key] = observation
        if observation.raised and self._pool is not None:
            if not answered or self._ended or self._left or not aligned(job.case, answers):
                self.broke.append(job)
                self.stop()
            elif self._sent:
                self._tell(self._pool, (rank for rank, answer in enumerate(answers) if answer.raised), ())
        if not self._sent:
            self._deadline = math.inf
