"""Cases in, answers out, whatever the backend does: it runs in its own process, which this module restarts."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Final, Self

from conformance.backends import protocol
from conformance.backends.discovery import BackendSpec, DeclarationError
from conformance.cases.case import Case
from conformance.runner import wire
from conformance.runner.answers import Answer, Broken, BrokenOutcome, Limits, Question, StartError
from conformance.runner.process import Process, ending
from conformance.runner.waiting import listen, wait

ABSENT: Final = 1.0
"""Seconds between two calls above which nobody listened; a backend that waits for its reader is not hanging."""

SAMPLE: Final = 0.25
"""Seconds between looks at memory and exit status: 2 ms for one process, 4 ms for 36, 32 ms if pages are shared."""

REAP: Final = 5.0
"""Seconds a process may take to exit after the end of its replies: writing a core file is slow."""

STOP: Final = 3.0
"""Seconds for an orderly exit: closing a pool of 36 rank processes takes about one."""


@dataclass(frozen=True)
class _Item:
    ticket: int
    case: Case | Question


class Worker:
    """A backend behind the worker protocol, across as many processes as its crashes need.

    Single-threaded: nothing happens between calls, and no call but ``ready``, ``ask``, ``poll`` and
    ``close`` waits. A break with several cases in flight (or in a process that has already served some)
    does not say whose fault it was: the oldest unanswered case is run again alone in a fresh process.
    """

    def __init__(self, spec: BackendSpec, limits: Limits | None = None) -> None:
        """Prepare a worker; its first process starts when it is needed."""
        self.spec = spec
        self.limits = limits or Limits()
        self._tickets = 0
        self._queue: deque[_Item] = deque()
        self._sent: deque[_Item] = deque()
        self._answers: list[tuple[int, Answer]] = []
        self._suspect: _Item | None = None
        self._evidence: Broken | None = None
        self._process: Process | None = None
        self._ready: protocol.Ready | None = None
        self._greeted = False
        self._served = 0
        self._restarts = self._failed_starts = 0
        self._given_up: Broken | None = None
        self._unfit: DeclarationError | None = None
        self._progress = self._listened = self._sample = 0.0
        self._end: float | None = None

    def __enter__(self) -> Self:
        """Return the worker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the worker."""
        self.close()

    @property
    def ready(self) -> protocol.Ready:
        """Return how the backend introduced itself, starting it if need be; raise ``StartError`` if it does not.

        Raise ``DeclarationError`` where what it says of itself is wrong.
        """
        if self._process is None and self._ready is None:
            self._start()
        while self._ready is None and self._given_up is None:
            listen([self], self.due())
            self.advance()
        if self._unfit is not None:
            raise self._unfit
        if self._ready is None:
            assert self._given_up is not None
            raise StartError(self._given_up.detail)
        return self._ready

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""
        return len(self._queue) + len(self._sent) + (self._suspect is not None and not self._sent) + len(self._answers)

    @property
    def answered(self) -> bool:
        """Return whether ``poll(0)`` has something to return."""
        return bool(self._answers)

    def submit(self, case: Case | Question) -> int:
        """Queue a case or the question for a schedule, send it when the window has room, and return its ticket."""
        self._tickets += 1
        self._queue.append(_Item(self._tickets, case))
        if self._process is not None and self._greeted:
            self._feed()
        return self._tickets

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return the answers that arrived, waiting up to ``timeout`` seconds for the first; never raises."""
        wait([self], timeout if self.outstanding else 0.0)
        answers, self._answers = self._answers, []
        return answers

    def ask(self, case: Case | Question) -> Answer:
        """Return the answer to one case or question; answers to others stay for ``poll``."""
        ticket = self.submit(case)
        while True:
            self.advance()
            for at, (answered, answer) in enumerate(self._answers):
                if answered == ticket:
                    del self._answers[at]
                    return answer
            listen([self], self.due())

    def close(self) -> None:
        """Let the backend exit in order, then end whatever is left of it; unanswered cases stay unanswered."""
        if self._process is not None:
            self._process.send(wire.STOP)
            self._process.stop(STOP if not self._sent else 0.0)
            self._process = None
        self._queue.clear()
        self._sent.clear()
        self._suspect = self._evidence = None
        self._given_up = self._given_up or Broken("not_run", "the worker was closed")

    def descriptors(self) -> list[tuple[int, int]]:
        """Return descriptors and their ``selectors`` events."""
        return self._process.descriptors() if self._process else []

    def due(self) -> float:
        """Return the seconds until ``advance`` must be called although no descriptor is ready."""
        if self._process is None:
            return 0.0 if self._queue or self._suspect else 3600.0
        if self._end is not None:
            return 0.02
        if self._busy():
            return max(0.0, min(self._sample, self._deadline(), self._listened + ABSENT / 2) - time.monotonic())
        return 3600.0

    def advance(self) -> None:
        """Start, feed, hear and judge the process, as far as that goes without waiting."""
        if self._given_up is None and self._process is None and (self._queue or self._suspect):
            self._start()
        now = time.monotonic()
        if now - self._listened > ABSENT:
            self._progress += now - self._listened
        self._listened = now
        if self._process is not None:
            self._process.write()
            self._hear(self._process)
        if self._process is not None:
            self._watch(self._process)
        if self._given_up is not None:
            self._answers += [(item.ticket, Answer(self._given_up)) for item in self._queue]
            self._queue.clear()
        elif self._process is not None and self._greeted:
            self._feed()

    def _start(self) -> None:
        self._greeted, self._served, self._end = False, 0, None
        self._progress = self._listened = now = time.monotonic()
        self._sample = now + SAMPLE
        try:
            self._process = Process(self.spec.command)
        except OSError as error:
            self._give_up(f"{self.spec.name} cannot be started: {error}", "")
            return
        self._process.send(wire.HELLO)

    def _feed(self) -> None:
        assert self._process is not None
        if self._suspect is not None:
            if not self._sent and not self._served:
                self._send(self._suspect)
            return
        while self._queue and len(self._sent) < self.limits.window:
            self._send(self._queue.popleft())

    def _send(self, item: _Item) -> None:
        assert self._process is not None
        if not self._sent:
            self._progress = self._listened = time.monotonic()
            self._sample = max(self._sample, self._progress + SAMPLE)
        self._sent.append(item)
        self._process.send(wire.run_line(item.ticket, item.case, self._process.folder))

    def _hear(self, process: Process) -> None:
        try:
            lines = process.read()
            for line in lines:
                self._take(process, line)
        except DeclarationError as error:
            self._unfit = DeclarationError(f"backend {self.spec.name!r}: {error}")
            self._process, tail = None, process.kill()
            self._give_up(str(self._unfit), tail)
            return
        except (wire.ProtocolError, OverflowError) as error:
            self._break("protocol_error", str(error))
            return
        if process.ended and self._end is None:
            self._end = time.monotonic()

    def _take(self, process: Process, line: bytes) -> None:
        if not self._greeted:
            self._ready = wire.introduction(line)
            self._greeted, self._failed_starts = True, 0
            return
        if not self._sent:
            raise wire.ProtocolError(f"a reply came when none was due: {wire.shown(line)}")
        head = self._sent[0]
        observation = wire.observation(line, head.ticket, head.case, process.folder)
        self._settle(self._sent.popleft(), Answer(observation))

    def _watch(self, process: Process) -> None:
        now = time.monotonic()
        if self._end is not None or (self._busy() and now >= self._sample):
            if (status := process.exit_status()) is not None:
                self._hear_last(process, status)
                return
            if self._end is not None:
                if now > self._end + REAP:
                    self._break("protocol_error", "closed its reply descriptor without exiting")
                return
        if not self._busy():
            return
        if now >= self._deadline():
            phase = "a case" if self._greeted else "the start"
            self._break("timeout", f"no answer within {self._limit():g} s, the limit for {phase}")
        elif now >= self._sample:
            self._weigh(process)

    def _hear_last(self, process: Process, status: int) -> None:
        """Take what was written before the exit (a surviving child may hold the pipe open), then blame the exit."""
        self._hear(process)
        if self._process is process:
            self._break("crashed", f"{ending(status)} before answering")

    def _weigh(self, process: Process) -> None:
        start = time.monotonic()
        limit = self.limits.memory
        if (used := process.memory(limit)) > limit:
            self._break("crashed", f"used {used / 2**30:.2f} GiB of memory, over the limit of {limit / 2**30:.2f} GiB")
        now = time.monotonic()
        self._sample = now + max(SAMPLE, 20 * (now - start))  # At most a twentieth of the time goes into looking.

    def _busy(self) -> bool:
        return bool(self._sent) or not self._greeted

    def _deadline(self) -> float:
        return self._progress + self._limit()

    def _limit(self) -> float:
        """Return the seconds for what is under way: a program that cannot go on is given the backend's patience too."""
        if not self._greeted:
            return self.limits.start
        patience = self._ready.patience if self._ready and self._sent and self._sent[0].case.troubled else 0.0
        return self.limits.case + patience

    def _settle(self, item: _Item, answer: Answer) -> None:
        """Record the answer to ``item``; a suspect's carries the break that made it one."""
        self._served += 1
        self._progress = time.monotonic()
        if item is self._suspect:
            evidence, self._suspect, self._evidence = self._evidence, None, None
            if evidence is not None and not isinstance(answer.result, Broken):
                note = f"alone in a fresh process it ran; among other cases: {evidence.outcome}, {evidence.detail}"
                answer = Answer(answer.result, note)
        self._answers.append((item.ticket, answer))

    def _break(self, outcome: BrokenOutcome, detail: str) -> None:
        """End the process and find out whose fault that was."""
        assert self._process is not None
        tail = self._process.kill()
        self._process = None
        broken = Broken(outcome, detail, tail)
        if not self._greeted:
            self._failed_starts += 1
            if self._ready is None or self._failed_starts > 1:
                self._give_up(f"{self.spec.name} did not start: {detail}", tail)
                return
        self._greeted = False
        if self._sent:
            alone, head = len(self._sent) == 1 and not self._served, self._sent.popleft()
            self._queue.extendleft(reversed(self._sent))
            self._sent.clear()
            if alone or self._restarts >= self.limits.restarts:
                self._settle(head, Answer(broken))
            else:
                self._suspect, self._evidence = head, broken
        if self._restarts >= self.limits.restarts:
            spent = f"the budget of {self.limits.restarts} restarts is spent"
            self._give_up(f"{spent}; the last: {outcome}, {detail}", tail)
        self._restarts += 1

    def _give_up(self, detail: str, tail: str) -> None:
        last = tail.splitlines()[-1] if tail else ""
        self._given_up = Broken("not_run", f"{detail}{': ' + last if last else ''}", tail)
        if self._suspect is not None and self._evidence is not None:
            self._settle(self._suspect, Answer(self._evidence, "not run again alone: " + detail))
