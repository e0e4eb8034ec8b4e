"""Cases in, answers out, whatever the backend does: it runs in its own process, which this module restarts."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import psutil

from conformance.backends import protocol
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case
from conformance.runner.worker.answers import Answer, Broken, Company, Limits, Request
from conformance.runner.worker.interface import Closing
from conformance.runner.worker.seconds import WorkerSeconds
from conformance.runner.worker.session import Item, Session
from conformance.runner.worker.starts import Common, EndOfBackend, Starts
from conformance.runner.worker.suspect_case import SuspectCase
from conformance.runner.worker.waiting_thread import listen, wait


class Worker(Closing):
    """A backend behind the worker protocol, across as many processes as its crashes need.

    Single-threaded: nothing happens between calls, and no call but ``ready``, ``ask``, ``poll``, ``alone`` and
    ``close`` waits. A break with several cases in flight (or in a process that has already served some)
    does not say whose fault it was: the oldest unanswered case is run again alone in a fresh process, once. Where
    one hung there too, the next of its operation that hangs is believed to, for each time costs a whole limit.
    """

    def __init__(self, spec: BackendSpec, limits: Limits | None = None, *, common: Common | None = None) -> None:
        """Prepare a worker; its first process starts when it is needed. ``common`` is that of others of the backend."""
        self.spec = spec
        self.limits = limits or Limits()
        self._starts = Starts(spec, self.limits, common)
        self._session: Session | None = None
        self._end: EndOfBackend | None = None
        self._tickets = 0
        self._queue: deque[Item] = deque()
        self._suspect: SuspectCase | None = None
        self._hanging: set[object] = set()
        """What hung alone in a fresh process, by operation or kind of request."""
        self._answers: list[tuple[int, Answer]] = []
        self._sibling: Worker | None = None
        self.disorder = ""
        """How the last process that had nothing to do ended when it was told to, where that was not in order."""

    @property
    def ready(self) -> protocol.Ready:
        """Return how the backend introduced itself, starting it if need be; raise ``StartError`` if it does not.

        Raise ``DeclarationError`` where what it says of itself is wrong.
        """
        if self._session is None and self._starts.ready is None:
            self._start()
        while self._starts.ready is None and self._end is None:
            listen([self], self.due())
            self.advance()
        if self._starts.ready is None:
            assert self._end is not None
            raise self._end.error
        return self._starts.ready

    @property
    def seconds(self) -> WorkerSeconds:
        """Return what all processes of the backend spent."""
        return self._starts.common.seconds

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""
        sent = len(self._session.sent) if self._session else 0
        return len(self._queue) + sent + (self._suspect is not None and not sent) + len(self._answers)

    @property
    def answered(self) -> bool:
        """Return whether ``poll(0)`` has something to return."""
        return bool(self._answers)

    def submit(self, case: Request) -> int:
        """Queue a case or the question for a schedule, send it when the window has room, and return its ticket."""
        self._tickets += 1
        self._queue.append(Item(self._tickets, case))
        self._feed()
        return self._tickets

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return the answers that arrived, waiting up to ``timeout`` seconds for the first; never raises."""
        wait([self], timeout if self.outstanding else 0.0)
        answers, self._answers = self._answers, []
        return answers

    def ask(self, case: Request) -> Answer:
        """Return the answer to one case or question; answers to others stay for ``poll``."""
        ticket = self.submit(case)
        while True:
            self.advance()
            for at, (answered, answer) in enumerate(self._answers):
                if answered == ticket:
                    del self._answers[at]
                    return answer
            listen([self], self.due())

    def sibling(self) -> Worker:
        """Return another worker of the same backend, always the same one; it is closed with this one."""
        if self._sibling is None:
            self._sibling = Worker(self.spec, self._further, common=self._starts.common)
        return self._sibling

    def apart(self) -> Worker:
        """Return a worker of the same backend whose first process is its last, to be closed by who asked for it."""
        return Worker(self.spec, replace(self._further, restarts=0, window=1), common=self._starts.common)

    @property
    def _further(self) -> Limits:
        """Return the limits of further processes: they are not waited for longer than a case is."""
        return replace(self.limits, until=min(self.limits.until, self.limits.spent))

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the backend that are there now."""
        own = self._session.processes() if self._session is not None else []
        return [*own, *(self._sibling.processes() if self._sibling is not None else ())]

    def renew(self) -> None:
        """End the process, unless something is under way in it; the next case starts another."""
        if self._session is not None and not self._session.sent and self._session.served:
            self._stop(self._session)

    def withdraw(self, ticket: int) -> bool:
        """Give up a case that no process was sent yet; return whether it was such."""
        waiting = len(self._queue)
        self._queue = deque(item for item in self._queue if item.ticket != ticket)
        return len(self._queue) < waiting

    def cancel(self) -> None:
        """Give up what was submitted and not answered, and end the process if something is under way in it."""
        self._queue.clear()
        self._suspect = None
        if self._session is not None and self._session.sent:
            self._stop(self._session)

    def close(self) -> None:
        """Let the backend exit in order, then end whatever is left of it; unanswered cases stay unanswered."""
        if self._session is not None:
            self._stop(self._session)
        self._queue.clear()
        self._suspect = None
        self._end = self._end or self._starts.ended("the worker was closed")
        if self._sibling is not None:
            self._sibling.close()
            self.disorder = self.disorder or self._sibling.disorder

    def descriptors(self) -> list[tuple[int, int]]:
        """Return descriptors and their ``selectors`` events."""
        return self._session.descriptors() if self._session else []

    def due(self) -> float:
        """Return the seconds until ``advance`` must be called although no descriptor is ready."""
        if self._session is None:
            return 0.0 if self._queue or self._suspect else 3600.0
        return self._session.due()

    def advance(self) -> None:
        """Start, feed, hear and judge the process, as far as that goes without waiting."""
        if self._end is None and self._session is None and (self._queue or self._suspect):
            self._start()
        if self._session is not None:
            self._hear(self._session)
        if self._end is not None:
            self._answers += [(item.ticket, Answer(self._end.broken)) for item in self._queue]
            self._queue.clear()
        else:
            self._feed()

    def _start(self) -> None:
        started = self._starts.start()
        if isinstance(started, EndOfBackend):
            self._give_up(started)
        else:
            self._session = started

    def _stop(self, session: Session) -> None:
        self.disorder = session.close() or self.disorder
        self._session = None

    def _feed(self) -> None:
        session = self._session
        if session is None or session.ready is None:
            return
        if self._suspect is not None:
            if not session.sent and not session.served:
                session.send(self._suspect.item)
            return
        while self._queue and len(session.sent) < self.limits.window and _joins(self._queue[0], session.sent):
            session.send(self._queue.popleft())

    def _hear(self, session: Session) -> None:
        """Take how a process introduced itself, what it answered, and how it broke."""
        fresh = session.ready is None
        for item, observation in session.advance():
            self._settle(item, Answer(observation, process=session.number, alone=session.taken == 1))
        changed = self._starts.introduced(session.ready) if fresh and session.ready is not None else None
        if changed is not None:
            self._stop(session)
            self._give_up(changed)
        elif session.unfit is not None:
            self._session = None
            self._give_up(self._starts.unfit(session.unfit))
        elif session.broken is not None:
            self._session = None
            self._broke(session, session.broken)

    def _settle(self, item: Item, answer: Answer) -> None:
        """Record the answer to ``item``; a suspect's carries the break that made it one."""
        if self._suspect is not None and item is self._suspect.item:
            answer, self._suspect = self._suspect.alone(answer), None
        self._answers.append((item.ticket, answer))

    def _broke(self, session: Session, broken: Broken) -> None:
        """Find out whose fault it was that a process ended."""
        spent = self._starts.spent
        end = self._starts.broke(session, broken)
        if session.ready is not None or end is None:
            self._suspected(session, broken, spent=spent)
        if end is not None:
            self._give_up(end)

    def _suspected(self, session: Session, broken: Broken, *, spent: bool) -> None:
        """Answer the oldest case of a process that broke, or have it run again alone; the others wait."""
        if not session.sent:
            return
        alone, head = session.taken == 1, session.sent.popleft()
        self._queue.extendleft(reversed(session.sent))
        session.sent.clear()
        answer = Answer(broken, process=session.number, alone=alone)
        hung = broken.outcome == "timeout"
        if hung and alone and not isinstance(head.asked, Company):
            self._hanging.add(_kind(head.asked))
        final = alone or spent or isinstance(head.asked, Company)  # a company is for who asked to take apart
        if final or broken.outcome == "not_run" or (hung and _kind(head.asked) in self._hanging):
            self._settle(head, answer)
        else:
            self._suspect = SuspectCase(head, answer)

    def _give_up(self, end: EndOfBackend) -> None:
        self._end = end
        if self._suspect is not None:
            suspect, self._suspect = self._suspect, None
            self._answers.append((suspect.item.ticket, suspect.untried(end.why)))


def _kind(asked: Request) -> object:
    """Return what hangs together: the last operation of a program, else the kind of request."""
    return asked.program.collectives[-1].op if isinstance(asked, Case) else type(asked)


def _joins(item: Item, sent: Sequence[Item]) -> bool:
    """Return whether an item may be sent after others: requests of one kind are under way at a time."""
    return not sent or type(sent[-1].asked) is type(item.asked)
