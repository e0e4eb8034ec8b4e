"""One backend's side of a run: its worker, its claims, and the verdicts it has so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.backends.base import Claims
from conformance.backends.claimed import supported, unasked
from conformance.cases.case import Case, case_id
from conformance.cases.observation import Observation
from conformance.judging.clause import Outcome, Subject
from conformance.judging.verdict import Verdict
from conformance.runner.clock import Clock
from conformance.runner.known.entry import Expected
from conformance.runner.log.log import CaseRecord
from conformance.runner.meaning import meaning, verdict
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.judgeable import Judgeable
from conformance.runner.worker.served import Served

LATE: Final = Verdict(outcome="not_run", clauses={}, detail="the time budget was spent")

PROBES: Final = 2
"""Cases outside a claim that are run all the same, to see whether the claim is too small."""


@dataclass(frozen=True)
class _Pending:
    """A case that was handed over; ``outside`` is the claim that leaves it out, where it is asked to probe that.

    It is asked ``again`` where an earlier run said what it came to.
    """

    name: str
    outside: str | None = None
    again: bool = False


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
        self.served = Served()
        self.confirmed: set[str] = set()
        """The failing cases of the run that failed alike alone in a fresh process."""
        self.poisoned = False
        """Whether a case was seen that fails after others and passes alone."""
        self.dependent: dict[str, Verdict] = {}
        """What such cases came to after others."""
        self.again: set[str] = set()
        """Cases of an earlier run that are to be asked again."""
        self.asked_again = 0
        self.differing: list[str] = []
        """Those of them that came out otherwise."""
        self._write = write
        self._pending: dict[int, _Pending] = {}
        self._probed: Counter[str] = Counter()
        self._recorded: set[str] = set()
        self.covered: dict[str, Expected] = {}
        """Cases of the run that known failures stand for."""
        self._asked: dict[str, Verdict] = {}
        self._tainted: int | None = None

    def resume(self, record: CaseRecord, known: Verdict) -> None:
        """Take over the verdict of an earlier, unfinished run instead of asking again."""
        self._recorded.add(record.case)
        self.verdicts[record.case] = known

    def offer(self, name: str, subject: Subject, suite: str = "collectives") -> None:
        """Hand over a case, unless it is known already or outside the claims."""
        self.subjects[name] = subject
        self.suites[name] = suite
        if name in self._recorded:
            if name in self.again:
                self._pending[self.worker.submit(subject.case)] = _Pending(name, again=True)
            return
        outside = self.outside(subject)
        if outside is None:
            self._pending[self.worker.submit(subject.case)] = _Pending(name)
        elif (
            subject.legal
            and self._probed[outside] < PROBES
            and not unasked(self.claims, _ops(subject), subject.features)
        ):
            self._probed[outside] += 1
            self._pending[self.worker.submit(subject.case)] = _Pending(name, outside)
        else:
            self._record(name, Verdict(outcome="unsupported", clauses={}, detail=outside))

    def skip(self, name: str, subject: Subject, suite: str = "collectives") -> None:
        """Record a case that the time budget left no time for."""
        self.subjects[name] = subject
        self.suites[name] = suite
        if name not in self._recorded:
            self._record(name, LATE)

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
            self._take(self._pending.pop(ticket), answer)

    def abandon(self) -> None:
        """Give up what was handed over and not answered: the time budget is spent."""
        self.worker.cancel()
        pending, self._pending = self._pending, {}
        for one in pending.values():
            if one.name not in self._recorded:
                self._record(one.name, LATE)

    def _take(self, pending: _Pending, answer: Answer) -> None:
        name = pending.name
        with self.clock.phase("judging"):
            judged = verdict(self.subjects[name], answer, self.terms)
        seconds = answer.result.seconds if isinstance(answer.result, Observation) else 0.0
        self.seconds += seconds
        self.served.add(name, answer)
        if pending.again:
            self._compare(name, judged, seconds)
            return
        if pending.outside is not None:
            works = judged.outcome == "passed"
            judged = Verdict(outcome="unsupported", clauses={}, detail=pending.outside)
            self._record(name, judged, seconds, answer.note, under_claimed=works)
            return
        if judged.blame is not None and answer.alone:
            self.confirmed.add(name)
        if answer.unrepeated is None:
            self._record(name, judged, seconds, answer.note)
        else:
            self.poisoned = True
            self.dependent[name] = once = verdict(self.subjects[name], answer.unrepeated, self.terms)
            self._record(name, judged, seconds, answer.note, unrepeated=once.outcome)

    def _compare(self, name: str, judged: Verdict, seconds: float) -> None:
        """Hold what a case came to now against what an earlier run said; where it differs, what is seen now counts."""
        earlier = self.verdicts[name]
        self.asked_again += 1
        if (judged.outcome, judged.clauses) != (earlier.outcome, earlier.clauses):
            self.differing.append(name)
            self._record(name, judged, seconds, f"the record of the earlier run said {earlier.outcome}")

    def unjudged(self, ops: Iterable[str]) -> tuple[str, ...]:
        """Return those of ``ops`` of which no case was judged."""
        judged = {s.step.op for name, s in self.subjects.items() if self.verdicts[name].outcome not in UNJUDGED}
        return tuple(op for op in ops if op not in judged)

    def ask(self, case: Case, *, careful: bool = False) -> Verdict:
        """Return the verdict on one case now, from memory where it is known.

        When ``careful``, what the run found is not taken for known, and a process that gave a failing answer is asked
        nothing more.
        """
        name = case_id(case)
        known = self._asked.get(name) or (None if careful else self.verdicts.get(name))
        if known is None:
            known = self._asked[name] = self._ask(case, careful=careful)
        return known

    def _ask(self, case: Case, *, careful: bool) -> Verdict:
        subject = meaning(case)
        outside = self.outside(subject)
        if outside is not None:
            return Verdict(outcome="unsupported", clauses={}, detail=outside)
        if careful and self._tainted is not None:
            self.worker.renew()
            self._tainted = None
        answer = self.worker.ask(case)
        judged = verdict(subject, answer, self.terms)
        if judged.blame is not None:
            self._tainted = answer.process
        return judged

    def forget(self) -> None:
        """Forget what was asked beside the run, and end the process that it was asked of."""
        self._asked.clear()
        self.worker.renew()
        self._tainted = None

    def alone(self, cases: Sequence[Case], late: Callable[[], bool] = lambda: False) -> Verdict | None:
        """Return the verdict on the last of ``cases``, run in order in a process of their own.

        It is ``None`` where none can be run so, or one before the last ended that process.
        """
        answers = self.worker.alone(cases, late)
        if answers is None or len(answers) < len(cases):
            return None
        judged = verdict(meaning(cases[-1]), answers[-1], self.terms)
        return None if judged.outcome == "not_run" else judged

    def settle_alone(self, name: str, judged: Verdict) -> None:
        """Record what a case comes to alone in place of what it came to after others in one process."""
        once = self.verdicts[name]
        self.poisoned = True
        self.dependent[name] = once
        note = f"this is what it does alone in a fresh process; after other cases: {once.outcome}, {once.detail}"
        self._record(name, judged, note=note, unrepeated=once.outcome)

    def failing(self, op: str | None = None) -> Iterator[str]:
        """Yield the ids of the run's cases, of ``op`` or all, that failed and that no known failure covers."""
        for name, subject in self.subjects.items():
            mine = op is None or subject.step.op == op
            if mine and self.verdicts[name].blame is not None and name not in self.covered:
                yield name

    def cover(self, names: Iterable[str], known: Expected) -> None:
        """Take cases for those of a known failure."""
        self.covered.update(dict.fromkeys(names, known))

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
        unrepeated: Outcome | None = None,
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
                unrepeated=unrepeated,
                under_claimed=under_claimed,
                expected=expected,
                classes=judged.classes,
                shown=judged.shown,
            )
        )


def outside(claims: Claims, subject: Subject) -> str | None:
    """Return the claim that leaves a case out, if one does: each operation's is held against what that one meets."""
    told = (supported(claims, [op], facts) for op, facts in subject.features_by_op.items())
    return next((claim for claim in told if claim is not None), None)


def _ops(subject: Subject) -> list[str]:
    return [step.op for step in subject.case.program.collectives]
