"""What the ranks of one pool have answered, case by case, and how those that ended did."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from conformance.cases.observation import Observation, RankError


@dataclass(frozen=True)
class Arrivals:
    """When each rank's answer to one case came, in seconds of ``time.monotonic``; now for one that gave none.

    ``whole`` says that all answered by themselves, ``ahead`` that a rank ended of itself after it had answered.
    """

    times: list[float]
    whole: bool
    ahead: bool


class RankAnswers:
    """Answers that wait for those of the other ranks; ``met`` counts the ranks that met at the start."""

    def __init__(self, world: int) -> None:
        """Begin with ranks that have neither met nor answered."""
        self.met = 0
        self.ended: dict[int, str] = {}
        self.left: set[int] = set()
        """Ranks that were killed because they had raised and others wait for them."""
        self._queues: list[deque[tuple[float, Observation]]] = [deque() for _ in range(world)]

    @property
    def all_met(self) -> bool:
        """Return whether every rank has met the others."""
        return self.met == len(self._queues)

    @property
    def broken(self) -> bool:
        """Return whether a rank has ended or was killed."""
        return bool(self.ended or self.left)

    def add(self, rank: int, observation: Observation) -> None:
        """Take the next answer of a rank."""
        self._queues[rank].append((time.monotonic(), observation))

    def of(self, rank: int) -> Observation | None:
        """Return what ``rank`` did with the first case, or ``None`` when that is still open."""
        if self._queues[rank]:
            return self._queues[rank][0][1]
        if rank in self.ended:
            crash = RankError(kind="Crash", message=f"rank {rank} {self.ended[rank]}", category="no_answer")
            return Observation(errors=(crash,))
        return None

    def first(self) -> list[Observation] | None:
        """Return what all ranks did with the first case, or ``None`` when some have not answered."""
        answers = [self.of(rank) for rank in range(len(self._queues))]
        known = [answer for answer in answers if answer is not None]
        return known if len(known) == len(answers) else None

    def raised(self) -> list[int]:
        """Return the ranks that raised in the first case and still stand by."""
        standing = (rank for rank in range(len(self._queues)) if rank not in self.ended and rank not in self.left)
        return [rank for rank in standing if self._queues[rank] and self._queues[rank][0][1].raised]

    def take(self) -> Arrivals:
        """Go on to the next case; return when the answers to the first came."""
        ahead = any(self._queues[rank] and rank not in self.left for rank in self.ended)
        times = [queue[0][0] if queue else time.monotonic() for queue in self._queues]
        found = Arrivals(times, all(self._queues), ahead)
        for queue in self._queues:
            if queue:
                queue.popleft()
        return found
