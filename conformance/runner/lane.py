"""One backend's side of a run: its worker, its claims, and the verdicts it has so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from conformance.backends.base import Claims
from conformance.backends.claimed import supported, unasked
from conformance.backends.protocol import Ready
from conformance.cases.case import Case, case_id
from conformance.cases.observation import Observation
from conformance.judging.clause import Subject
from conformance.judging.verdict import Verdict
from conformance.runner.answers import Answer, Question
from conformance.runner.clock import Clock
from conformance.runner.known_entry import Expected
from conformance.runner.log import CaseRecord
from conformance.runner.meaning import meaning, verdict
from conformance.runner.waiting import Waitable

PROBES: Final = 2
"""Cases outside a claim that are run all the same, to see whether the claim is too small."""


class Judgeable(Waitable, Protocol):
    """A worker, in its own process or in this one."""

    @property
    def ready(self) -> Ready:
        """Return how the backend introduced itself; raise ``StartError`` when it does not start."""

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""

    def submit(self, case: Case | Question) -> int:
        """Queue a case, or the question for a schedule, and return its ticket."""

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return the answers that arrived, by ticket, waiting up to ``timeout`` seconds for the first."""

    def ask(self, case: Case | Question) -> Answer:
        """Return the answer to one case or question."""

    def alone(self, cases: Sequence[Case], late: Callable[[], bool] = ...) -> list[Answer] | None:
        """Return the answers to cases run one after the other in a process of their own; ``None`` where none can be."""

    def renew(self) -> None:
        """End the process, so that the next case begins with a fresh one."""

    def cancel(self) -> None:
        """Give up what was submitted and not answered."""

    def close(self) -> None:
        """End the backend."""


class Lane:
    """Hands cases to one worker and turns its answers into records."""

    def __init__(
        self, name: str, worker: Judgeable, write: Callable[[CaseRecord], None], clock: Clock | None = None
    ) -> None:
        """Judge ``worker`` under ``name``; ``write`` receives each record once, as it is known."""
        self.name = name
        self.worker = worker
        self.clock = clock or Clock()
        self.claims = worker.ready.claims
        self.terms = worker.ready.terms
        self.subjects: dict[str, Subject] = {}
        self.suites: dict[str, str] = {}
        self.verdicts: dict[str, Verdict] = {}
        self.seconds = 0.0
        self._write = write
        self._pending: dict[int, tuple[str, str | None]] = {}
        self._probed: Counter[str] = Counter()
        self._recorded: set[str] = set()
        self._covered: set[str] = set()

    def resume(self, record: CaseRecord, known: Verdict) -> None:
        """Take over the verdict of an earlier, unfinished run instead of asking again."""
        self._recorded.add(record.case)
        self.verdicts[record.case] = known

    def offer(self, name: str, subject: Subject, suite: str = "collectives") -> None:
        """Hand over a case, unless it is known already or outside the claims."""
        self.subjects[name] = subject
        self.suites[name] = suite
        if name in self._recorded:
            return
        outside = self.outside(subject)
        if outside is None:
            self._pending[self.worker.submit(subject.case)] = (name, None)
        elif (
            subject.legal
            and self._probed[outside] < PROBES
            and not unasked(self.claims, _ops(subject), subject.features)
        ):
            self._probed[outside] += 1
            self._pending[self.worker.submit(subject.case)] = (name, outside)
        else:
            self._record(name, Verdict(outcome="unsupported", clauses={}, detail=outside))

    def skip(self, name: str, subject: Subject, suite: str = "collectives") -> None:
        """Record a case that the time budget left no time for."""
        self.subjects[name] = subject
        self.suites[name] = suite
        if name not in self._recorded:
            self._record(name, Verdict(outcome="not_run", clauses={}, detail="the time budget was spent"))

    def outside(self, subject: Subject) -> str | None:
        """Return the claim that leaves the case out, if one does."""
        return outside(self.claims, subject)

    def standing(self, subject: Subject) -> bool | None:
        """Return whether the case is within the claims; ``None`` where nothing of its kind is ever asked for."""
        if self.outside(subject) is None:
            return True
        ops = _ops(subject)
        return None if set(ops) - self.claims.keys() or unasked(self.claims, ops, subject.features) else False

    def collect(self, timeout: float = 0.0) -> None:
        """Judge every answer that has come."""
        for ticket, answer in self.worker.poll(timeout):
            name, outside = self._pending.pop(ticket)
            with self.clock.phase("judging"):
                judged = verdict(self.subjects[name], answer, self.terms)
            seconds = answer.result.seconds if isinstance(answer.result, Observation) else 0.0
            self.seconds += seconds
            if outside is not None:
                works = judged.outcome == "passed"
                judged = Verdict(outcome="unsupported", clauses={}, detail=outside)
                self._record(name, judged, seconds, answer.note, under_claimed=works)
            else:
                self._record(name, judged, seconds, answer.note)

    def ask(self, case: Case) -> Verdict:
        """Return the verdict on one case now, from memory where it is known."""
        name = case_id(case)
        if name not in self.verdicts:
            subject = meaning(case)
            outside = self.outside(subject)
            if outside is not None:
                self.verdicts[name] = Verdict(outcome="unsupported", clauses={}, detail=outside)
            else:
                self.verdicts[name] = verdict(subject, self.worker.ask(case), self.terms)
        return self.verdicts[name]

    def failing(self, op: str) -> Iterator[str]:
        """Yield the ids of the run's cases of ``op`` that failed in any way and that no known failure covers."""
        for name, subject in self.subjects.items():
            if subject.step.op == op and self.verdicts[name].blame is not None and name not in self._covered:
                yield name

    def cover(self, names: Iterable[str]) -> None:
        """Take cases for those of a known failure."""
        self._covered.update(names)

    def replayed(
        self,
        subject: Subject,
        suite: str,
        judged: Verdict,
        expected: Expected,
        seconds: float = 0.0,
        note: str | None = None,
    ) -> None:
        """Record a known failure. One that fails in another way than it should is left among the failing cases."""
        name = case_id(subject.case)
        self.suites[name] = suite
        if expected.state == "changed":
            self.subjects[name] = subject
        self.seconds += seconds
        self._record(name, judged, seconds, note, subject=subject, expected=expected)

    def _record(
        self,
        name: str,
        judged: Verdict,
        seconds: float = 0.0,
        note: str | None = None,
        *,
        subject: Subject | None = None,
        under_claimed: bool = False,
        expected: Expected | None = None,
    ) -> None:
        subject = subject or self.subjects[name]
        self.verdicts[name] = judged
        self._recorded.add(name)
        self._write(
            CaseRecord(
                backend=self.name,
                case=name,
                op=subject.step.op,
                suite=self.suites[name],
                dtype="+".join(sorted(subject.features["dtype"])),
                world=subject.case.program.world,
                outcome=judged.outcome,
                clauses=judged.clauses,
                seconds=round(seconds, 6),
                blame=judged.blame.id if judged.blame else None,
                requirement=judged.blame.requirement if judged.blame else None,
                detail=judged.detail,
                error=judged.error,
                note=note,
                under_claimed=under_claimed,
                expected=expected,
                classes=judged.classes,
            )
        )


def outside(claims: Claims, subject: Subject) -> str | None:
    """Return the claim that leaves a case out, if one does: each operation's is held against what that one meets."""
    told = (supported(claims, [op], facts) for op, facts in subject.features_by_op.items())
    return next((claim for claim in told if claim is not None), None)


def _ops(subject: Subject) -> list[str]:
    return [step.op for step in subject.case.program.collectives]
