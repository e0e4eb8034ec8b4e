"""The dialogues under way with one backend: each case is asked about until its verdict is known."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.cases.case import Case
from conformance.judging.verdict import Verdict
from conformance.runner.clock import Clock
from conformance.runner.dialect import Ask, Dialogue, Trial
from conformance.runner.released_memory import ReleasedMemory
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.judgeable import Judgeable


@dataclass
class Inquiry:
    """A case that was handed over; ``outside`` is the claim that leaves it out, where it is asked to probe that.

    It is asked ``again`` where an earlier run said what it came to.
    """

    trial: Trial
    origin: int
    dialogue: Dialogue
    outside: str | None = None
    again: bool = False
    answers: list[Answer] = field(default_factory=list)


class Dialogues:
    """Hands requests to a worker, and to another one of the same backend, and answers back to who asked."""

    def __init__(self, worker: Judgeable, clock: Clock) -> None:
        """Ask ``worker``; ``clock`` is told when answers are judged."""
        self._worker, self._clock = worker, clock
        self._asked: dict[tuple[bool, int], Inquiry] = {}
        self._held: deque[Inquiry] = deque()
        self._open: Counter[str] = Counter()
        self._bytes = 0
        self._freed = ReleasedMemory()

    @property
    def workers(self) -> tuple[Judgeable, ...]:
        """Return the worker, and the other one of the same backend where something was asked of that."""
        if any(other for other, _ in self._asked):
            return (self._worker, self._worker.sibling())
        return (self._worker,)

    @property
    def outstanding(self) -> int:
        """Return how many cases were handed over and have no verdict."""
        return len(self._asked) + len(self._held)

    @property
    def bytes(self) -> int:
        """Return the bytes of blocks that the cases without a verdict have."""
        return self._bytes if self.outstanding else 0

    def begin(self, inquiry: Inquiry) -> None:
        """Ask the first about a case, or hold it back while as many of its dialect are asked about as may be."""
        self._bytes += _bytes_of(inquiry.trial.case)
        self._begin(inquiry)

    def _begin(self, inquiry: Inquiry) -> None:
        dialect = inquiry.trial.dialect
        if dialect.at_once is not None and self._open[dialect.name] >= dialect.at_once:
            self._held.append(inquiry)
            return
        self._open[dialect.name] += 1
        self._submit(inquiry, next(inquiry.dialogue))

    def finished(self) -> Iterator[tuple[Inquiry, Verdict]]:
        """Hand on every answer that has come; yield the cases whose verdicts are known by it."""
        for number, worker in enumerate(self.workers):
            for ticket, answer in worker.poll(0.0):
                inquiry = self._asked.pop((bool(number), ticket))
                judged = self._told(inquiry, answer)
                if judged is not None:
                    size = _bytes_of(inquiry.trial.case)
                    self._bytes -= size
                    yield inquiry, judged
                    del inquiry, answer
                    self._freed.add(size)
                    if self._held:
                        self._begin(self._held.popleft())

    def cancel(self) -> list[Inquiry]:
        """Give up what has no verdict, and return it."""
        for worker in self.workers:
            worker.cancel()
        left = [*self._asked.values(), *self._held]
        self._asked, self._held = {}, deque()
        self._open.clear()
        self._bytes = 0
        return left

    def _submit(self, inquiry: Inquiry, ask: Ask) -> None:
        worker = self._worker.sibling() if ask.elsewhere else self._worker
        self._asked[worker is not self._worker, worker.submit(ask.request)] = inquiry

    def _told(self, inquiry: Inquiry, answer: Answer) -> Verdict | None:
        """Tell a dialogue the answer; return its verdict, or ask what it wants to know next."""
        inquiry.answers.append(answer)
        try:
            with self._clock.phase("judging"):
                ask = inquiry.dialogue.send(answer)
        except StopIteration as end:
            self._open[inquiry.trial.dialect.name] -= 1
            judged: Verdict = end.value
            return judged
        self._submit(inquiry, ask)
        return None


def _bytes_of(case: Any) -> int:
    """Return the bytes of the blocks of a program; those of other dialects are small."""
    if not isinstance(case, Case):
        return 0
    return sum(len(block.bits) // 2 for operand in case.inputs.values() for block in operand.blocks)
