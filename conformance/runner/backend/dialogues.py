"""The dialogues under way with one backend: each case is asked about until its verdict is known."""

from __future__ import annotations

from collections import deque
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

    It is asked ``again`` where an earlier run said what it came to. Its questions go to the other worker of the backend
    where it is ``beside`` another case; ``judged`` is the verdict once it is known.
    """

    trial: Trial
    origin: int
    dialogue: Dialogue
    outside: str | None = None
    again: bool = False
    beside: bool = False
    judged: Verdict | None = None
    answers: list[Answer] = field(default_factory=list)


class Dialogues:
    """Hands requests to a worker, and to another one of the same backend, and answers back to who asked.

    Of a dialect of which a process is asked about one case at a time the other worker takes every second case, once it
    has answered anything: one is judged while the backend works on the other. Their verdicts come in the order of the
    cases all the same.
    """

    def __init__(self, worker: Judgeable, clock: Clock) -> None:
        """Ask ``worker``; ``clock`` is told when answers are judged."""
        self._worker, self._clock = worker, clock
        self._asked: dict[tuple[bool, int], Inquiry] = {}
        self._held: deque[Inquiry] = deque()
        self._open: dict[str, deque[Inquiry]] = {}
        """Of such dialects what is under way, in order."""
        self._both = False
        """Whether the other worker answers."""
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
        behind = self._held and inquiry.trial.dialect.one_at_a_time
        if behind or not self._begin(inquiry):
            self._held.append(inquiry)

    def _begin(self, inquiry: Inquiry) -> bool:
        """Ask the first about a case, if there is a process that may be asked about it."""
        if inquiry.trial.dialect.one_at_a_time:
            under_way = self._open.setdefault(inquiry.trial.dialect.name, deque())
            taken = {each.beside for each in under_way if each.judged is None}
            free = [beside for beside in (False, True)[: 1 + self._both] if beside not in taken]
            if not free:
                return False
            inquiry.beside = free[0]
            under_way.append(inquiry)
        self._submit(inquiry, next(inquiry.dialogue))
        return True

    def finished(self) -> Iterator[tuple[Inquiry, Verdict]]:
        """Hand on every answer that has come; yield the cases whose verdicts are known by it."""
        for number, worker in enumerate(self.workers):
            for ticket, answer in worker.poll(0.0):
                inquiry = self._asked.pop((bool(number), ticket))
                if number:
                    self._both = answer.broken is None
                inquiry.judged = self._told(inquiry, answer)
                if inquiry.judged is not None:
                    yield from self._settled(inquiry)
                del inquiry, answer
                while self._held and self._begin(self._held[0]):
                    self._held.popleft()

    def _settled(self, inquiry: Inquiry) -> Iterator[tuple[Inquiry, Verdict]]:
        """Yield a case with its verdict, or, where their order matters, all whose turn has come."""
        under_way = self._open.get(inquiry.trial.dialect.name, deque([inquiry]))
        while under_way and under_way[0].judged is not None:
            inquiry = under_way.popleft()
            size = _bytes_of(inquiry.trial.case)
            self._bytes -= size
            assert inquiry.judged is not None
            yield inquiry, inquiry.judged
            del inquiry
            self._freed.add(size)

    def cancel(self) -> list[Inquiry]:
        """Give up what has no verdict, and return it."""
        for worker in self.workers:
            worker.cancel()
        judged = [each for under_way in self._open.values() for each in under_way if each.judged is not None]
        left = [*judged, *self._asked.values(), *self._held]
        self._asked, self._held = {}, deque()
        self._open.clear()
        self._bytes = 0
        return left

    def _submit(self, inquiry: Inquiry, ask: Ask) -> None:
        worker = self._worker.sibling() if ask.elsewhere != inquiry.beside else self._worker
        self._asked[worker is not self._worker, worker.submit(ask.request)] = inquiry

    def _told(self, inquiry: Inquiry, answer: Answer) -> Verdict | None:
        """Tell a dialogue the answer; return its verdict, or ask what it wants to know next."""
        inquiry.answers.append(answer)
        try:
            with self._clock.phase("judging"):
                ask = inquiry.dialogue.send(answer)
        except StopIteration as end:
            judged: Verdict = end.value
            return judged
        self._submit(inquiry, ask)
        return None


def _bytes_of(case: Any) -> int:
    """Return the bytes of the blocks of a program; those of other dialects are small."""
    if not isinstance(case, Case):
        return 0
    return sum(len(block.bits) // 2 for operand in case.inputs.values() for block in operand.blocks)
