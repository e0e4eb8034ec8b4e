"""One process of a backend, from its start to its end: what it was sent, what it answered, and how it broke."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psutil

from conformance.backends import protocol
from conformance.backends.discovery import DeclarationError
from conformance.cases.observation import Observation
from conformance.runner.worker import request_lines, wire
from conformance.runner.worker.answers import Broken, BrokenOutcome, Company, Limits, Request
from conformance.runner.worker.process import Process, ending, ending_word
from conformance.runner.worker.seconds import WorkerSeconds

ABSENT: Final = 1.0
"""Seconds between two calls above which nobody listened; a backend that waits for its reader is not hanging."""

SAMPLE: Final = 0.25
"""Seconds between looks at memory and exit status: 2 ms for one process, 4 ms for 36, 32 ms if pages are shared."""

REAP: Final = 5.0
"""Seconds a process may take to exit after the end of its replies: writing a core file is slow."""

STOP: Final = 3.0
"""Seconds for an orderly exit: closing a pool of 36 rank processes takes about one."""

SPENT: Final = "the time budget was spent"

COMPANIONS: Final = 16
"""Cases of a company that are given the time of one more: of 64 JAX takes 2 s of processor time, where 20 s are
allowed for one case."""

PATIENCE: Final = 600.0
"""Seconds of a backend's patience, and of its limit for a case, that are waited at most: a hang must end."""


@dataclass(frozen=True)
class Item:
    """A case or question, and the ticket that its answer goes by."""

    ticket: int
    asked: Request


class Session:
    """A process that was greeted, is sent items and answers them in order, until it breaks or is ended.

    Single-threaded: nothing happens between calls. ``broken`` says how it broke; it is ended then, and what it was sent
    and had not answered is left in ``sent``. ``taken`` counts what it was sent, ``served`` its answers.
    """

    def __init__(self, command: Sequence[str], limits: Limits, number: int, seconds: WorkerSeconds) -> None:
        """Start ``command`` as process ``number`` of its worker; raise ``OSError`` when that fails.

        ``seconds`` are added to as it answers.
        """
        self.number, self._seconds = number, seconds
        self.limits = limits
        self.ready: protocol.Ready | None = None
        self.sent: deque[Item] = deque()
        self.served = self.taken = 0
        self.broken: Broken | None = None
        self.unfit: DeclarationError | None = None
        """What is wrong in what it said of itself; it is ended then."""
        self._end: float | None = None
        self._progress = self._listened = now = time.monotonic()
        self._sample = now + SAMPLE
        self._process = Process(command, sandboxed=limits.sandboxed)
        self._process.send(request_lines.HELLO)

    def send(self, item: Item) -> None:
        """Send an item to a process that introduced itself."""
        if not self.sent:
            self._progress = self._listened = time.monotonic()
            self._sample = max(self._sample, self._progress + SAMPLE)
        self.sent.append(item)
        self.taken += 1
        with self._seconds.transporting():
            self._process.send(request_lines.run_line(item.ticket, item.asked, self._process.folder))

    def advance(self) -> list[tuple[Item, Observation]]:
        """Write, hear and watch, as far as that goes without waiting; return what was answered."""
        now = time.monotonic()
        if now - self._listened > ABSENT:
            self._progress += now - self._listened
        self._listened = now
        self._process.write()
        answered = self._hear()
        if self.broken is None and self.unfit is None:
            answered += self._watch()
        return answered

    def close(self) -> str:
        """Let the process exit in order, unless it is in the middle of something, and end whatever is left of it.

        Return how one with nothing to do ended where that was not in order, else ``""``.
        """
        idle = self.ready is not None and not self.sent and self.broken is None
        self._process.send(request_lines.STOP)
        ended = self._process.stop(STOP if not self.sent else 0.0)
        return ended if idle else ""

    def processes(self) -> list[psutil.Process]:
        """Return what it has started that is there now."""
        return self._process.members()

    def descriptors(self) -> list[tuple[int, int]]:
        """Return descriptors and their ``selectors`` events."""
        return self._process.descriptors()

    def due(self) -> float:
        """Return the seconds until ``advance`` must be called although no descriptor is ready."""
        if self._end is not None:
            return 0.02
        if self._busy():
            return max(0.0, min(self._sample, self._deadline(), self._listened + ABSENT / 2) - time.monotonic())
        return 3600.0

    def _hear(self) -> list[tuple[Item, Observation]]:
        answered: list[tuple[Item, Observation]] = []
        try:
            for line in self._process.read():
                answered += self._take(line)
        except DeclarationError as error:
            self.unfit = error
            self._process.kill()
            return answered
        except (wire.ProtocolError, OverflowError) as error:
            self._break("protocol_error", str(error))
            return answered
        if self._process.ended and self._end is None:
            self._end = time.monotonic()
        return answered

    def _take(self, line: bytes) -> list[tuple[Item, Observation]]:
        self._progress = time.monotonic()
        if self.ready is None:
            self.ready = wire.introduction(line)
            return []
        if not self.sent:
            raise wire.ProtocolError(f"a reply came when none was due: {wire.shown(line)}")
        head = self.sent[0]
        with self._seconds.transporting():
            observation, spent = wire.answered(line, head.ticket, head.asked, self._process.folder)
        self._seconds.hear(observation.seconds, spent)
        self.served += 1
        return [(self.sent.popleft(), observation)]

    def _watch(self) -> list[tuple[Item, Observation]]:
        now = time.monotonic()
        if self._end is not None or (self._busy() and now >= self._sample):
            if (status := self._process.exit_status()) is not None:
                return self._hear_last(status)
            if self._end is not None:
                if now > self._end + REAP:
                    self._break("protocol_error", "closed its reply descriptor without exiting")
                return []
        if not self._busy():
            return []
        if now >= self.limits.spent and self.ready is not None:
            self._break("not_run", SPENT)
        elif now >= self._deadline():
            self._break("timeout", self._overdue())
        elif now >= self._sample:
            self._weigh()
        return []

    def _hear_last(self, status: int) -> list[tuple[Item, Observation]]:
        """Take what was written before the exit (a surviving child may hold the pipe open), then blame the exit."""
        answered = self._hear()
        if self.unfit is None and self.broken is None and self.ready is None and status == 0:
            self.unfit = DeclarationError(
                "it ended in order, with status 0, and never introduced itself; a backend is a program that speaks the "
                "worker protocol (docs/vendors-guide.md, Another language)"
            )
            self._process.kill()
        elif self.unfit is None and self.broken is None:
            never = self._process.unstarted
            told = f"its program cannot be started: {never}" if never else f"{ending(status)} before answering"
            self._break("crashed", told, ending_word(status))
        return answered

    def _weigh(self) -> None:
        start = time.monotonic()
        limit = self.limits.memory
        if (used := self._process.memory(limit)) > limit:
            told = f"used {used / 2**30:.2f} GiB of memory, over the limit of {limit / 2**30:.2f} GiB"
            self._break("crashed", told, "memory")
        now = time.monotonic()
        self._sample = now + max(SAMPLE, 20 * (now - start))  # At most a twentieth of the time goes into looking.

    def _busy(self) -> bool:
        return bool(self.sent) or self.ready is None

    def _overdue(self) -> str:
        if self.ready is None and self._deadline() == self.limits.until:
            return "no answer when the time budget was spent"
        return f"no answer within {self._limit():g} s, the limit for {self._under_way}"

    @property
    def _under_way(self) -> str:
        if self.ready is None:
            return "the start"
        asked = self.sent[0].asked
        return f"a company of {len(asked.cases)} cases" if isinstance(asked, Company) else "a case"

    def _deadline(self) -> float:
        deadline = self._progress + self._limit()
        return min(deadline, self.limits.spent if self.ready else self.limits.until)

    def _limit(self) -> float:
        """Return the seconds for what is under way: the run's limit or the backend's own, whichever is greater.

        A program that cannot go on is given the backend's patience too.
        """
        if self.ready is None:
            return self.limits.start
        troubled = bool(self.sent) and self.sent[0].asked.troubled
        limit = max(self.limits.case, min(self.ready.case_limit, PATIENCE))
        if self.sent and isinstance(self.sent[0].asked, Company):
            limit *= 1 + (len(self.sent[0].asked.cases) - 1) / COMPANIONS
        return limit + (min(self.ready.patience, PATIENCE) if troubled else 0.0)

    def _break(self, outcome: BrokenOutcome, detail: str, error: str | None = None) -> None:
        self.broken = Broken(outcome, detail, self._process.kill(), error)
