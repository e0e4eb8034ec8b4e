"""One backend in a run: cases are offered to it, and what its answers come to is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.judging.verdict import Verdict
from conformance.runner.backend.case_record import case_record, failed_of
from conformance.runner.backend.conversation import seconds_of, unrepeated
from conformance.runner.backend.dialogues import Dialogues
from conformance.runner.backend.earlier_run import EarlierRun
from conformance.runner.backend.failing_cases import Failed
from conformance.runner.backend.failures import Failures
from conformance.runner.backend.given_up import GivenUp
from conformance.runner.backend.inquiry import Inquiry
from conformance.runner.backend.observation_digest import observation_digest
from conformance.runner.backend.processes import Processes
from conformance.runner.backend.promises import Promises
from conformance.runner.backend.queries import Queries
from conformance.runner.backend.records import Records
from conformance.runner.backend.refusals import Refusals
from conformance.runner.backend.scope import Scope
from conformance.runner.clock import Clock
from conformance.runner.dialect import Dialogue, Trial
from conformance.runner.origins import Origins
from conformance.runner.outcomes import ENDING, UNJUDGED
from conformance.runner.records.known import STANDING, Expected
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.interface import Judgeable
from conformance.runner.worker.waiting_thread import wait

LATE: Final = Verdict(outcome="not_run", clauses={}, detail="the time budget was spent")


class BackendRun:
    """A backend behind a worker, under a name, and what is known of it in the run."""

    def __init__(
        self,
        name: str,
        worker: Judgeable,
        write: Callable[[CaseRecord], None],
        clock: Clock | None = None,
        origins: Origins | None = None,
        stop_after: int = 0,
    ) -> None:
        """Judge ``worker`` under ``name``; ``write`` receives each record once, as it is known.

        An operation is given up after so many hangs or crashes; with 0 none is.
        """
        self.name, self.worker = name, worker
        self.terms = worker.ready.terms
        self.examples = worker.ready.examples
        self.origins = origins or Origins()
        self.scope = Scope(worker.ready.claims)
        self.dialogues = Dialogues(worker, clock or Clock(), name, worker.ready.together, self.origins.seed)
        self.earlier = EarlierRun()
        self.refusals = Refusals()
        self.given_up = GivenUp(stop_after)
        self.records = Records(name, write, Promises(worker.ready.claims), self.origins.name)
        self.failures = Failures(self.records, self.origins)
        self.queries = Queries(worker, self.scope, self.records.failing, self.refusals, self.origins)
        self.processes = Processes()
        self.seconds = 0.0
        """What the backend took for its answers."""
        self.transported: float | None = None
        """What it took to talk to its processes until the search for smaller cases began."""

    def offer(self, one: Trial, origin: int | None = None, *, owed: bool = True) -> None:
        """Hand over a case, unless it is known already or outside the claims; ``origin`` says where it came from.

        One that is not ``owed`` to anybody leaves nothing where there is no time for it. A case that is known counts
        among those by which others outside the claims are tried, so that a resumed run tries the same ones.
        """
        outside = self.scope.outside(one)
        self.scope.asked += outside is None
        tried = outside is not None and self.scope.probe(one, outside)
        if lost := self.earlier.lost.get(one.name):
            self.scope.probed(lost)
        again = one.name in self.earlier.again
        if self._is_known(one, origin) and not again and not self._refused(one):
            return
        origin = self.origins.keep(one.case, one.suite) if origin is None else origin
        if self.given_up.has(one.facts.op):
            if not again:
                self.records.add(one, self.given_up.why(one.facts.op), origin)
            return
        if outside is not None and not tried and not again:
            self.records.add(one, Verdict(outcome="unsupported", clauses={}, detail=outside), origin)
            return
        self.dialogues.begin(Inquiry(one, origin, self._dialogue(one), None if again else outside, again, owed))

    def skip(self, one: Trial) -> None:
        """Record a case that the time budget left no time for."""
        if not self._is_known(one, None):
            self.records.add(one, LATE, None)

    def collect(self, timeout: float = 0.0) -> None:
        """Judge and record every answer that has come; wait up to ``timeout`` seconds for the first."""
        if timeout:
            self.dialogues.waited()
        wait(self.dialogues.workers, timeout if self.dialogues.outstanding else 0.0)
        for inquiry, judged in self.dialogues.finished():
            self._take(inquiry, judged)

    def abandon(self) -> None:
        """Give up what was handed over and not answered: the time budget is spent."""
        for left in self.dialogues.cancel():
            if left.owed and not left.again:
                self.records.add(left.trial, LATE, left.origin)

    @property
    def pace(self) -> float:
        """Return the seconds that the backend takes for a case, so far."""
        return self.seconds / max(1, sum(self.records.tally.judged.values()))

    def resume(self, record: CaseRecord, known: Verdict, *, again: bool) -> None:
        """Take over the verdict of an earlier, unfinished run, and ask ``again`` where that is said.

        What that run did not come to stands until this one does.
        """
        self.records.tally.add(record)
        if record.outcome == "not_run":
            self.records.replaceable(record)
            return
        self.earlier.add(record.case)
        if record.outcome == "unsupported":
            self.earlier.unsupported.add(record.case)
            if record.came_to:
                self.earlier.lost[record.case] = next(iter(record.came_to))
        elif record.outcome not in UNJUDGED:
            self.refusals.answered.add(record.op)
        self.given_up.add(record.op, known)
        if again:
            self.earlier.again[record.case] = known
            self.records.replaceable(record)
        if known.blame is not None or record.unrepeated is not None:
            self.records.failing.add(Failed(record, known))

    def replayed(
        self,
        one: Trial,
        judged: Verdict,
        expected: Expected,
        seconds: float = 0.0,
        note: str | None = None,
        observation: str | None = None,
    ) -> None:
        """Record a known failure. One that fails in another way than it should is left among the failing cases."""
        self.seconds += seconds
        self.earlier.add(one.name)
        origin = self.origins.keep(one.case, one.suite)
        self.records.add(one, judged, origin, seconds, note, expected=expected, observation=observation)
        if expected.state in STANDING:
            self.given_up.expect(one.facts.op, judged)

    def _dialogue(self, one: Trial) -> Dialogue:
        return one.dialect.dialogue(one.subject, self.terms)

    def _is_known(self, one: Trial, origin: int | None) -> bool:
        """Return whether an earlier run said what a case comes to; where it failed, keep where it came from."""
        if not self.earlier.has(one.name):
            return False
        failed = self.records.failing.kept.get(one.name)
        if failed is not None and failed.origin is None:
            failed.origin = self.origins.keep(one.case, one.suite) if origin is None else origin
            failed.empty, failed.size = one.dialect.empty(one.case), one.dialect.size(one.case)
        return True

    def _refused(self, one: Trial) -> bool:
        """Return whether an earlier run was refused a case within the claims, which excused it until it is answered.

        Nothing of such a refusal is in the log, so that the case is asked again.
        """
        if one.name not in self.earlier.unsupported or self.scope.outside(one) is not None:
            return False
        excused = Verdict(outcome="unsupported", clauses={})
        self.records.replaceable(case_record(self.name, one, excused))
        return True

    def _take(self, inquiry: Inquiry, judged: Verdict) -> None:
        """Record what a case came to, for the reason that it was asked for."""
        one, origin, answers = inquiry.trial, inquiry.origin, inquiry.answers
        seconds = seconds_of(answers)
        note = "; ".join(answer.note for answer in answers if answer.note) or judged.note
        self.seconds += seconds
        self.processes.add(one.name, origin, answers[-1], failed=judged.blame is not None)
        if inquiry.again:
            self._compare(inquiry, judged, seconds)
        elif inquiry.outside is not None:
            self.scope.probed(judged.outcome)
            left_out = Verdict(outcome="unsupported", clauses={}, detail=inquiry.outside)
            worked, seen = judged.outcome == "passed", observation_digest(answers)
            lost = {judged.outcome: 1} if judged.outcome in ENDING else None
            self.records.add(one, left_out, origin, seconds, note, under_claimed=worked, came_to=lost, observation=seen)
        else:
            self._judge(inquiry, self._weighed(one, judged, origin), seconds, note)
            self._stop(one.facts.op, judged)

    def _stop(self, op: str, judged: Verdict) -> None:
        """Take note of how a case of an operation ended; once that is given up, nothing of it is left waiting."""
        before = self.given_up.has(op)
        self.given_up.add(op, judged)
        if not before and self.given_up.has(op):
            for left in self.dialogues.withdraw(op):
                if not left.again:
                    self.records.add(left.trial, self.given_up.why(op), left.origin)

    def _judge(self, inquiry: Inquiry, judged: Verdict, seconds: float, note: str | None) -> None:
        """Record a verdict within the claims, and whether it is known to be that of the case alone."""
        one, answers = inquiry.trial, inquiry.answers
        if judged.blame is not None and all(answer.alone for answer in answers):
            self.failures.confirmed.add(one.name)
        once: Verdict | None = None
        if any(answer.unrepeated is not None for answer in answers):
            once = self.failures.dependent[one.name] = unrepeated(self._dialogue(one), answers)
        # The first of several schedules is judged; those that are asked for after it may be refused.
        decisive = answers[0 if one.dialect.answered else -1].result
        record = self.records.add(
            one,
            judged,
            inquiry.origin,
            seconds,
            note,
            unrepeated=once.outcome if once else None,
            refused=isinstance(decisive, Observation) and decisive.raised,
            observation=observation_digest(answers),
            company=inquiry.company,
        )
        if inquiry.company is not None and inquiry.company.outcome is not None and judged.outcome == "passed":
            self.failures.in_company[inquiry.origin] = record

    def _weighed(self, one: Trial, judged: Verdict, origin: int) -> Verdict:
        """Return the verdict, a refusal excused until the backend answers a case of the operation."""
        op = one.facts.op
        if judged.refusal and not self.refusals.excusing:
            self.refusals.told.append(one.name)
        weighed = self.refusals.weighed(op, judged)
        if weighed is not judged and self.refusals.room(op):
            self.refusals.keep(op, failed_of(one, case_record(self.name, one, judged), judged, origin))
        for failed in self.refusals.counted_by(op, judged):
            self.records.replaceable(replace(failed.record, outcome="unsupported", clauses={}))
            self.records.write(failed)
        return weighed

    def _compare(self, inquiry: Inquiry, judged: Verdict, seconds: float) -> None:
        """Hold what a case came to now against what an earlier run said; where it differs, what is seen now counts."""
        one, origin, seen = inquiry.trial, inquiry.origin, observation_digest(inquiry.answers)
        told = self.earlier.differs(one.name, judged)
        if told is not None:
            self.records.add(one, judged, origin, seconds, told, observation=seen)
            self.earlier.differing.append(case_record(self.name, one, judged, seconds, told))
