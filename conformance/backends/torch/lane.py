"""One world: its pool, the cases that wait for it and the one it is at.

A rank that raises would end its process in any real job, and then the ranks that wait for it see the
connection close. So does it here: when some ranks raised and others have not answered, those that raised
are killed, and every other rank soon gives its own answer. The pool goes on when all have answered by
themselves and each group is of one mind (all fine, or all raised alike); else it is forked anew.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.backends.torch import wire
from conformance.backends.torch.operation import POINT_TO_POINT, Operation, idle, leaves_posted
from conformance.backends.torch.pool import Pool, Rank
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError
from conformance.cases.program import rank_groups

GLOO_TIMEOUT: Final = 0.95
"""Seconds Gloo waits for a peer: ten times the slowest case measured (0.09 s, eight worlds at once on two busy cores;
12 ms alone). Some of its waits take whole seconds and one more, which is 1 for this."""

DEADLINE: Final = 4.0
"""Seconds a case may take before its ranks are killed: past Gloo's own timeouts, which name the operation."""

START: Final = 60.0
"""Seconds forked ranks may take to meet; measured 60 ms for 8."""

GRACE: Final = 0.05
"""Seconds between the first rank that raised and the last when all raise; measured below 10 ms for 8 ranks."""

MESSAGE: Final = 8
"""Cases sent at once: more hardly saves any time, and what follows an error is sent again."""

GROUPS: Final = 48
"""Process groups a pool may hold: each costs 3 threads and 3 descriptors a rank, and closing one takes 10 ms,
forking 8 ranks anew 60."""

Job = tuple[int, Case]


class Lane:
    """The cases of one world, in turn. Observations appear in ``done`` under the key the case was added with."""

    def __init__(self, world: int, operations: Mapping[str, Operation], selector: selectors.BaseSelector) -> None:
        """Start nothing yet; later register the channels of ranks in ``selector``, with ``(lane, number, rank)``."""
        self.done: dict[int, Observation] = {}
        self._world = world
        self._operations = operations
        self._selector = selector
        self._pool: Pool | None = None
        self._waiting: deque[Job] = deque()
        self._sent: deque[Job] = deque()
        self._again: set[int] = set()
        self._failed_starts = 0
        self._served = 0
        self._met = 0
        self._answers: list[deque[tuple[float, Observation]]] = []
        self._ended: dict[int, str] = {}
        self._left: set[int] = set()
        self._deadline = math.inf
        self._leave_at = math.inf

    @property
    def idle(self) -> bool:
        """Return whether every case added is done."""
        return not self._waiting and not self._sent

    @property
    def alarm(self) -> float:
        """Return when ``tick`` is due, in seconds of ``time.monotonic``."""
        return min(self._deadline, self._leave_at)

    def add(self, key: int, case: Case) -> None:
        """Queue a case."""
        self._waiting.append((key, case))

    def go(self) -> None:
        """Send the next cases when the ranks have met and nothing is under way; fork them when there are none."""
        if self._sent or not self._waiting:
            return
        if self._pool is not None and len(self._pool.groups | groups_of(self._waiting[0][1])) > GROUPS:
            self.stop()
        if self._pool is None:
            self._fork()
        elif self._met == self._world:
            self._send(self._pool)

    def read(self, number: int, rank: Rank) -> None:
        """Take what ``rank``, which is ``number`` of its pool, has sent."""
        if rank.channel.fileno() < 0:
            return  # Of a pool that was killed after its channel was found readable.
        messages = rank.inbox.read()
        if messages is None:
            self._selector.unregister(rank.channel)
            self._ended[number] = rank.reap()
            if self._met < self._world:
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
                self._pool.ranks[rank].kill()
        if now >= self._deadline:
            if self._met < self._world:
                self._start_failed(f"the ranks had not met within {START} s")
            elif self._sent:
                hang = RankError(kind="Hang", message=f"no answer within {DEADLINE} s", category="internal")
                self._finish([self._answer(rank) or Observation(errors=(hang,)) for rank in range(self._world)])
        self._advance()

    def stop(self) -> None:
        """Kill the ranks and put the cases they had not finished back in the queue."""
        if self._pool is not None:
            for rank in self._pool.ranks:
                if rank.channel.fileno() >= 0:
                    self._selector.unregister(rank.channel)
            self._pool.kill()
        self._pool = None
        self._deadline = self._leave_at = math.inf
        self._waiting.extendleft(reversed(self._sent))
        self._sent.clear()

    def drop(self) -> None:
        """Kill the ranks and forget every case."""
        self.stop()
        self._again.clear()
        self._waiting.clear()

    def _fork(self) -> None:
        self._pool = Pool(self._world, GLOO_TIMEOUT, self._operations)
        self._met = self._served = 0
        self._answers = [deque() for _ in self._pool.ranks]
        self._ended, self._left = {}, set()
        self._deadline = time.monotonic() + START
        for number, rank in enumerate(self._pool.ranks):
            self._selector.register(rank.channel, selectors.EVENT_READ, (self, number, rank))

    def _start_failed(self, message: str) -> None:
        self.stop()
        self._failed_starts += 1
        if self._failed_starts > 1 and self._waiting:
            key, case = self._waiting.popleft()
            crash = RankError(kind="Crash", message=message, category="internal")
            self.done[key] = Observation(errors=(crash,) * case.program.world)

    def _send(self, pool: Pool) -> None:
        self._failed_starts = 0
        while self._waiting and len(self._sent) < MESSAGE:
            groups = pool.groups | groups_of(self._waiting[0][1])
            alone = self._again and not self._again.isdisjoint({self._waiting[0][0], *(key for key, _ in self._sent)})
            if self._sent and (alone or len(groups) > GROUPS):
                break
            pool.groups = groups
            self._sent.append(self._waiting.popleft())
        self._deadline = time.monotonic() + DEADLINE
        self._tell(pool, range(self._world))

    def _tell(self, pool: Pool, ranks: Iterable[int]) -> None:
        """Send ``ranks`` all cases under way."""
        for rank in ranks:
            # A rank that has ended meanwhile is noticed when its channel is read.
            with contextlib.suppress(OSError):
                wire.send(pool.ranks[rank].channel, wire.encode_cases([share(case, rank) for _, case in self._sent]))

    def _advance(self) -> None:
        """Finish every case that all ranks have answered."""
        while self._sent:
            answers = [self._answer(rank) for rank in range(self._world)]
            if None in answers:
                if self._leave_at == math.inf and self._raised():
                    self._leave_at = time.monotonic() + GRACE
                return
            self._finish([answer for answer in answers if answer is not None])
        self.go()

    def _answer(self, rank: int) -> Observation | None:
        """Return what ``rank`` did with the first case sent, or ``None`` when that is still open."""
        if self._answers[rank]:
            return self._answers[rank][0][1]
        if rank in self._ended:
            crash = RankError(kind="Crash", message=f"rank {rank} {self._ended[rank]}", category="internal")
            return Observation(errors=(crash,))
        return None

    def _raised(self) -> list[int]:
        """Return the ranks that raised in the first case sent and still stand by."""
        ranks = set(range(self._world)) - set(self._ended) - self._left
        return [rank for rank in sorted(ranks) if self._answers[rank] and self._answers[rank][0][1].raised]

    def _finish(self, answers: list[Observation]) -> None:
        key, case = self._sent.popleft()
        ahead = any(self._answers[rank] and rank not in self._left for rank in self._ended)
        answered = all(self._answers)
        arrivals = [queue[0][0] if queue else time.monotonic() for queue in self._answers]
        for queue in self._answers:
            if queue:
                queue.popleft()
        self._leave_at = math.inf
        self._deadline = time.monotonic() + DEADLINE
        observation = merged(case, answers)
        echo = self._served > 0 and any(error and error.kind == "Crash" for error in observation.errors)
        self._served += 1
        if observation.raised and key not in self._again and (ahead or echo or doubtful(arrivals, answers)):
            # A rank that died in a later case took its connections along, an earlier case may have left it with broken
            # memory, and a slow machine looks like a hang.
            self._sent.appendleft((key, case))
            self._again.add(key)
            self.stop()
            return
        self._again.discard(key)
        self.done[key] = observation
        if observation.raised and self._pool is not None:
            if not answered or self._ended or self._left or not aligned(case, answers):
                self.stop()
            elif self._sent:
                self._tell(self._pool, (rank for rank, answer in enumerate(answers) if answer.raised))
        if not self._sent:
            self._deadline = math.inf


def groups_of(case: Case) -> set[tuple[int, ...]]:
    """Return every group of ranks the case speaks of; none for a program whose axes make no sense."""
    program = case.program
    with contextlib.suppress(ValueError):
        steps = [step for step in program.steps if not idle(step)]
        return {group for step in steps for group in rank_groups(program.mesh, step.axes, step.groups)}
    return set()


def share(case: Case, rank: int) -> Case:
    """Return the case with the blocks of ``rank`` alone."""
    mine = slice(rank, rank + 1)
    inputs = {
        name: Operand(blocks=operand.blocks[mine], layouts=operand.layouts[mine])
        for name, operand in case.inputs.items()
    }
    return Case(program=case.program, inputs=inputs)


def merged(case: Case, answers: Sequence[Observation]) -> Observation:
    """Return what the ranks did, each with its own block, as one observation."""
    errors = tuple(answer.errors[0] if answer.errors else None for answer in answers)
    results = {
        name: tuple(answer.results[name][0] if name in answer.results else None for answer in answers)
        for name in case.program.results
    }
    return Observation(
        results=results,
        errors=errors if any(errors) else (),
        touched=tuple(change for answer in answers for change in answer.touched),
        seconds=max(answer.seconds for answer in answers),
    )


def doubtful(arrivals: Sequence[float], answers: Sequence[Observation]) -> bool:
    """Return whether a timeout of Gloo may be the machine's fault.

    It is not when some ranks answered promptly and all others waited in vain themselves: one that got no time to run
    would have begun late, or have found what it waited for. ``arrivals`` are the times of the answers, in seconds.
    """
    waited = [answer.seconds > GLOO_TIMEOUT / 2 for answer in answers]
    late = [at > min(arrivals) + GLOO_TIMEOUT / 2 for at in arrivals]
    ranks = zip(waited, late, answers, strict=True)
    vain = all((long and answer.raised) or not (long or behind) for long, behind, answer in ranks)
    return any(waited) and (all(waited) or not vain)


def aligned(case: Case, answers: Sequence[Observation]) -> bool:
    """Return whether the ranks, all of which answered, can go on together: none waited in vain, nothing is posted."""
    if max(answer.seconds for answer in answers) > GLOO_TIMEOUT / 2:
        return False
    kinds = [answer.errors[0].kind if answer.errors and answer.errors[0] else None for answer in answers]
    program = case.program
    for number, step in enumerate(program.steps):
        if step.op == "send" and number and len(set(kinds)) > 1:
            return False  # Not all ranks have counted it, and a send's number is its tag.
        for group in rank_groups(program.mesh, step.axes, step.groups):
            if step.op in POINT_TO_POINT:
                if any(kinds[rank] and leaves_posted(step, position) for position, rank in enumerate(group)):
                    return False
            elif len({kinds[rank] for rank in group}) > 1:
                return False
    return True
