"""The interface of a worker without a process: for debugging and for qualification, never for certification."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import psutil

from conformance.backends import protocol, spent_seconds
from conformance.backends.base import Backend
from conformance.backends.companies import joint
from conformance.backends.discovery import BackendError, BackendSpec, DeclarationError, load
from conformance.backends.introduction import introduce
from conformance.backends.observing import graph_observation, observations, sharded_observation, typed
from conformance.backends.scheduled import scheduled
from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.program.health import followed
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase
from conformance.runner.claims import introduced
from conformance.runner.worker.answers import Answer, Broken, Company, Limits, Question, Request, StartError
from conformance.runner.worker.interface import Closing
from conformance.runner.worker.misfits import misfit
from conformance.runner.worker.seconds import WorkerSeconds


class InProcess(Closing):
    """A backend that executes in this process when polled; what kills it kills the runner."""

    def __init__(self, spec: BackendSpec, limits: Limits | None = None, *, backend: Backend | None = None) -> None:
        """Prepare the backend of ``spec``, or an already constructed one; only ``limits.window`` matters here."""
        self.spec = spec
        self.limits = limits or Limits()
        self._backend = backend
        self._given = backend is not None
        self._sibling: InProcess | None = None
        self._ready: protocol.Ready | None = None
        self._tickets = 0
        self._seconds = WorkerSeconds()
        self._queue: deque[tuple[int, Request]] = deque()
        self._answers: list[tuple[int, Answer]] = []

    @property
    def ready(self) -> protocol.Ready:
        """Return how the backend introduces itself, loading it if need be; raise ``StartError`` if it cannot.

        Raise ``DeclarationError`` where what it says of itself is wrong.
        """
        if self._ready is None:
            try:
                self._backend = self._backend or load(self.spec)
                self._ready = introduced(introduce(self._backend))
            except DeclarationError as error:
                raise DeclarationError(f"backend {self.spec.name!r}: {error}") from error
            except BackendError as error:
                raise StartError(str(error)) from error
            except Exception as error:
                raise StartError(f"{self.spec.name} did not start: {type(error).__name__}: {error}") from error
        return self._ready

    @property
    def seconds(self) -> WorkerSeconds:
        """Return what the backend spent, which had no way to go."""
        return self._seconds

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""
        return len(self._queue) + len(self._answers)

    @property
    def answered(self) -> bool:
        """Return whether ``poll(0)`` has something to return."""
        return bool(self._answers)

    def submit(self, case: Request) -> int:
        """Queue a case and return its ticket."""
        self._tickets += 1
        self._queue.append((self._tickets, case))
        return self._tickets

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Execute one window of cases and return their answers; ``timeout`` bounds nothing here."""
        self.advance()
        answers, self._answers = self._answers, []
        return answers

    def ask(self, case: Request) -> Answer:
        """Execute one case now, ahead of the queued ones."""
        (answer,) = self._execute([case])
        return answer

    def sibling(self) -> InProcess:
        """Return another worker of the same backend; where the backend was given, it is this one."""
        if self._given:
            return self
        self._sibling = self._sibling or InProcess(self.spec, self.limits)
        return self._sibling

    def apart(self) -> None:
        """Return that nothing can be run alone here: there is no other process."""

    def processes(self) -> list[psutil.Process]:
        """Return that there is no other process."""
        return []

    def renew(self) -> None:
        """Leave the backend as it is: there is no other process."""

    def withdraw(self, ticket: int) -> bool:
        """Give up a case that was not executed yet; return whether it was such."""
        waiting = len(self._queue)
        self._queue = deque(each for each in self._queue if each[0] != ticket)
        return len(self._queue) < waiting

    def cancel(self) -> None:
        """Give up what was submitted and not answered."""
        self._queue.clear()

    def close(self) -> None:
        """Close the backend; unanswered cases stay unanswered."""
        self._queue.clear()
        if self._backend is not None:
            self._backend.close()
        if self._sibling is not None:
            self._sibling.close()

    def descriptors(self) -> list[tuple[int, int]]:
        """Return nothing to wait for."""
        return []

    def due(self) -> float:
        """Return 0 when cases are queued."""
        return 0.0 if self._queue else 3600.0

    def advance(self) -> None:
        """Execute one window of queued cases."""
        batch = [self._queue.popleft() for _ in range(min(len(self._queue), self.limits.window))]
        answers = self._execute([case for _, case in batch])
        self._answers += [(ticket, answer) for (ticket, _), answer in zip(batch, answers, strict=True)]

    def _execute(self, cases: Sequence[Request]) -> list[Answer]:
        try:
            self.ready  # noqa: B018 - loads the backend
        except (StartError, DeclarationError) as error:
            return [Answer(Broken("not_run", str(error)))] * len(cases)
        assert self._backend is not None
        seen = observations(self._backend, [followed(case) for case in cases if isinstance(case, Case)])
        return [
            self._answer(case, next(seen) if isinstance(case, Case) else _other(self._backend, case)) for case in cases
        ]

    def _answer(self, case: Request, observation: Observation) -> Answer:
        self._seconds.hear(observation.seconds, spent_seconds.taken())
        wrong = misfit(case, observation)
        return Answer(Broken("protocol_error", wrong) if wrong else observation)


def _other(backend: Backend, question: Question | TypedCase | GraphCase | ShardedCase | Company) -> Observation:
    if isinstance(question, Company):
        return joint(backend, question.cases)
    if isinstance(question, ShardedCase):
        return sharded_observation(backend, question)
    if isinstance(question, TypedCase):
        return typed(backend, question)
    if isinstance(question, GraphCase):
        return graph_observation(backend, question)
    return scheduled(
        backend,
        question.asked,
        planned=question.planned,
        after=question.after,
        iteration=question.iteration,
        switched=question.switched,
        costs=question.costs,
    )
