"""A backend as it runs here: cases are replayed alone, and what was observed is judged by other terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from conformance.cases.declarations.terms import Terms
from conformance.history.causes.facts import Result
from conformance.history.outline import SEVERITY, BackendOutline, HeaderOutline
from conformance.judging.verdict import Verdict
from conformance.runner.backend.conversation import asked
from conformance.runner.backend.observation_digest import observation_digest
from conformance.runner.log.backend_sources import backend_sources
from conformance.runner.log.environment import digests, environment
from conformance.runner.log.header import CASE_LIMIT, NO_SANDBOX, SANDBOX
from conformance.runner.outcomes import FAILING
from conformance.runner.replay import known_trial
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.interface import Judgeable

Opening = Callable[[float], AbstractContextManager[Judgeable]]
"""Opens a worker of the backend with a limit in seconds for each case."""


class LiveLaboratory:
    """Replays cases on one worker, which is renewed before each."""

    def __init__(
        self, name: str, worker: Judgeable, case_limit: float, opening: Opening, *, sandbox: bool = False
    ) -> None:
        """Ask ``worker``; where another limit is to be tried, ``opening`` gives one that has it."""
        self.name, self._worker, self._limit, self._opening = name, worker, case_limit, opening
        self._sandbox = "bubblewrap" if sandbox else NO_SANDBOX
        self._answers: dict[str, Sequence[Answer]] = {}

    @property
    def entry(self) -> BackendOutline:
        """Return what the backend says of itself here."""
        ready = self._worker.ready
        return BackendOutline(
            self.name,
            ready.description,
            {op: {name: list(words) for name, words in limits.items()} for op, limits in ready.claims.items()},
            tuple(ready.guarantees),
            tuple(ready.follows),
            dict(ready.number_model),
        )

    @property
    def head(self) -> HeaderOutline:
        """Return the header that a run would have here."""
        spec, reference = digests()
        here = environment() | backend_sources([self.name]) | {CASE_LIMIT: f"{self._limit:g} s", SANDBOX: self._sandbox}
        return HeaderOutline(spec, reference, "", (self.entry,), environment=here)

    def replays(self, case: Any, times: int, *, case_limit: float | None = None) -> Sequence[Result]:
        """Return what a case comes to, so many times, each alone in a fresh process."""
        if case_limit is not None and case_limit != self._limit:
            with self._opening(case_limit) as worker:
                return [self._replayed(case, worker) for _ in range(times)]
        return [self._replayed(case, self._worker) for _ in range(times)]

    def judged(self, case: Any, terms: Terms) -> Result | None:
        """Return what the last observation of a case comes to by other terms; ``None`` where there is none."""
        one = known_trial(case)
        answers = self._answers.get(one.name)
        if answers is None:
            return None
        dialogue = one.dialect.dialogue(one.subject, terms)
        try:
            next(dialogue)
            for answer in answers:
                dialogue.send(answer)
        except StopIteration as end:
            return result_of(end.value, answers)
        return None

    def _replayed(self, case: Any, worker: Judgeable) -> Result:
        one = known_trial(case)
        worker.renew()
        judged, answers = asked(one.dialect.dialogue(one.subject, worker.ready.terms), worker)
        self._answers[one.name] = answers
        return result_of(judged, answers)


def result_of(judged: Verdict, answers: Sequence[Answer]) -> Result:
    """Return a verdict as records are held against it."""
    blame = judged.blame
    severity = SEVERITY.get(blame.requirement if blame else "must", 3) if judged.outcome in FAILING else 0
    return Result(judged.outcome, severity, observation_digest(answers), blame.id if blame else None)
