"""One backend's side of a run: its worker, its claims, and what came of the cases that it was asked about."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from conformance.judging.clause import Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.asking import alone, asked, seconds_of, unrepeated
from conformance.runner.case_record import case_record, failed_of
from conformance.runner.clock import Clock
from conformance.runner.dialect import Ask, Dialogue, Trial
from conformance.runner.dialects import trial
from conformance.runner.failing import Failed, Failing
from conformance.runner.ids import Ids
from conformance.runner.known.entry import Expected
from conformance.runner.log.log import CaseRecord
from conformance.runner.origins import Origins
from conformance.runner.refusals import Refusals
from conformance.runner.seen import Seen
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.judgeable import Judgeable
from conformance.runner.worker.served import Served
from conformance.runner.worker.waiting import wait

LATE: Final = Verdict(outcome="not_run", clauses={}, detail="the time budget was spent")

PROBES: Final = 2
"""Cases outside a claim that are run all the same, to see whether the claim is too small."""

MOST_OPEN: Final = 2048
"""Cases handed over and not judged, of one backend, above which nothing more is drawn: four windows of a worker."""


@dataclass
class _Pending:
    """A case that was handed over; ``outside`` is the claim that leaves it out, where it is asked to probe that.

    It is asked ``again`` where an earlier run said what it came to.
    """

    trial: Trial
    origin: int
    dialogue: Dialogue
    outside: str | None = None
    again: bool = False
    answers: list[Answer] = field(default_factory=list)


class Lane:
    """Hands cases to one worker and turns its answers into records. What passed is written, counted and forgotten."""

    def __init__(
        self,
        name: str,
        worker: Judgeable,
        write: Callable[[CaseRecord], None],
        clock: Clock | None = None,
        origins: Origins | None = None,
    ) -> None:
        """Judge ``worker`` under ``name``; ``write`` receives each record once, as it is known."""
        self.name = name
        self.worker = worker
        self.clock = clock or Clock()
        self.origins = origins or Origins()
        self.claims = worker.ready.claims
        self.terms = worker.ready.terms
        self.found = Failing()
        self.seen = Seen()
        self.seconds = 0.0
        self.served = Served()
        self.confirmed: set[str] = set()
        """The failing cases of the run that failed alike alone in a fresh process."""
        self.poisoned = False
        """Whether a case was seen that fails after others and passes alone."""
        self.dependent: dict[str, Verdict] = {}
        """What such cases came to after others."""
        self.again: dict[str, Verdict] = {}
        """Cases of an earlier run that are to be asked again, and what it said of them."""
        self.asked_again = 0
        self.differing: list[CaseRecord] = []
        """Those of them that came out otherwise."""
        self.covered: dict[str, Expected] = {}
        """Cases of the run that known failures stand for."""
        self._write = write
        self._pending: dict[tuple[bool, int], _Pending] = {}
        self._held: deque[_Pending] = deque()
        self._open: Counter[str] = Counter()
        self._probed: Counter[str] = Counter()
        self._earlier = Ids()
        self._settled: dict[str, CaseRecord] = {}
        self._refusals = Refusals()
        self._asked: dict[str, Verdict] = {}
        self._tainted: int | None = None

    @property
    def workers(self) -> tuple[Judgeable, ...]:
        """Return the worker, and the other one of the same backend where something was asked of that."""
        return (self.worker, self.worker.sibling()) if any(other for other, _ in self._pending) else (self.worker,)

    @property
    def outstanding(self) -> int:
        """Return how many cases were handed over and are not judged."""
        return len(self._pending) + len(self._held)

    def resume(self, record: CaseRecord, known: Verdict, *, again: bool) -> None:
        """Take over the verdict of an earlier, unfinished run, and ask ``again`` where that is said."""
        self._earlier.add(record.case)
        self.seen.add(record)
        if again:
            self.again[record.case] = known
            self._settled[record.case] = record
        if known.blame is not None:
            self.found.add(Failed(record, known))

    def offer(self, one: Trial, origin: int | None = None) -> None:
        """Hand over a case, unless it is known already or outside the claims; ``origin`` says where it came from."""
        if self._is_known(one, origin) and one.name not in self.again:
            return
        origin = self.origins.keep(one.case, one.suite) if origin is None else origin
        if one.name in self.again:
            self._begin(_Pending(one, origin, self._dialogue(one), again=True))
            return
        outside = self.outside(one)
        if outside is None:
            self._begin(_Pending(one, origin, self._dialogue(one)))
        elif one.facts.legal and self._probed[outside] < PROBES and one.dialect.probed(self.claims, one.subject):
            self._probed[outside] += 1
            self._begin(_Pending(one, origin, self._dialogue(one), outside))
        else:
            self._record(one, Verdict(outcome="unsupported", clauses={}, detail=outside), origin)

    def skip(self, one: Trial) -> None:
        """Record a case that the time budget left no time for."""
        if not self._is_known(one, None):
            self._record(one, LATE, None)

    def _is_known(self, one: Trial, origin: int | None) -> bool:
        """Return whether an earlier run said what a case comes to; where it failed, keep where it came from."""
        if not len(self._earlier) or one.name not in self._earlier:
            return False
        failed = self.found.kept.get(one.name)
        if failed is not None and failed.origin is None:
            failed.origin = self.origins.keep(one.case, one.suite) if origin is None else origin
            failed.empty, failed.size = one.dialect.empty(one.case), one.dialect.size(one.case)
        return True

    def outside(self, one: Trial) -> str | None:
        """Return the claim that leaves the case out, if one does."""
        return one.dialect.outside(self.claims, one.subject)

    def standing(self, one: Trial) -> bool | None:
        """Return whether the case is within the claims; ``None`` where nothing of its kind is ever asked for."""
        if self.outside(one) is None:
            return True
        wanted = not set(one.facts.ops) - self.claims.keys() and one.dialect.probed(self.claims, one.subject)
        return False if wanted else None

    def collect(self, timeout: float = 0.0) -> None:
        """Judge every answer that has come."""
        several = self.workers
        wait(several, timeout if self.outstanding else 0.0)
        for number, worker in enumerate(several):
            for ticket, answer in worker.poll(0.0):
                self._go_on(self._pending.pop((bool(number), ticket)), answer)

    def abandon(self) -> None:
        """Give up what was handed over and not answered: the time budget is spent."""
        for worker in self.workers:
            worker.cancel()
        left = [*self._pending.values(), *self._held]
        self._pending, self._held = {}, deque()
        self._open.clear()
        for pending in left:
            if not pending.again:
                self._record(pending.trial, LATE, pending.origin)

    def _dialogue(self, one: Trial) -> Dialogue:
        return one.dialect.dialogue(one.subject, self.terms)

    def _begin(self, pending: _Pending) -> None:
        """Ask the first about a case, or hold it back while as many of its dialect are asked about as may be."""
        dialect = pending.trial.dialect
        if dialect.at_once is not None and self._open[dialect.name] >= dialect.at_once:
            self._held.append(pending)
            return
        self._open[dialect.name] += 1
        self._submit(pending, next(pending.dialogue))

    def _submit(self, pending: _Pending, ask: Ask) -> None:
        worker = self.worker.sibling() if ask.elsewhere else self.worker
        self._pending[worker is not self.worker, worker.submit(ask.request)] = pending

    def _go_on(self, pending: _Pending, answer: Answer) -> None:
        """Go on asking about a case, or record what it came to and begin with the next one that was held back."""
        pending.answers.append(answer)
        with self.clock.phase("judging"):
            try:
                ask: Ask | None = pending.dialogue.send(answer)
            except StopIteration as end:
                ask, judged = None, end.value
        if ask is not None:
            self._submit(pending, ask)
            return
        self._open[pending.trial.dialect.name] -= 1
        self._take(pending, judged)
        if self._held:
            self._begin(self._held.popleft())

    def _take(self, pending: _Pending, judged: Verdict) -> None:
        one, origin, answers = pending.trial, pending.origin, pending.answers
        seconds = seconds_of(answers)
        note = "; ".join(answer.note for answer in answers if answer.note) or judged.note
        self.seconds += seconds
        failed = judged.blame is not None
        self.served.add(one.name, origin, answers[-1], failed=failed)
        if pending.again:
            self._compare(one, judged, origin, seconds)
            return
        if pending.outside is not None:
            works = judged.outcome == "passed"
            judged = Verdict(outcome="unsupported", clauses={}, detail=pending.outside)
            self._record(one, judged, origin, seconds, note, under_claimed=works)
            return
        judged = self._taken(one, judged, origin)
        if judged.blame is not None and all(answer.alone for answer in answers):
            self.confirmed.add(one.name)
        if all(answer.unrepeated is None for answer in answers):
            self._record(one, judged, origin, seconds, note)
        else:
            self.poisoned = True
            self.dependent[one.name] = once = unrepeated(self._dialogue(one), answers)
            self._record(one, judged, origin, seconds, note, unrepeated=once.outcome)

    def _taken(self, one: Trial, judged: Verdict, origin: int) -> Verdict:
        """Return the verdict, a refusal excused until the backend answers a case of the operation."""
        op = one.facts.op
        weighed = self._refusals.weighed(op, judged)
        if weighed is not judged and self._refusals.room(op):
            self._refusals.keep(op, failed_of(one, case_record(self.name, one, judged), judged, origin))
        for failed in self._refusals.counted_by(op, judged):
            self._settled[failed.record.case] = replace(failed.record, outcome="unsupported", clauses={})
            self._note(failed)
        return weighed

    def answered(self, op: str) -> bool:
        """Return whether the backend ever gave an answer to a case of the operation that was no refusal."""
        return op in self._refusals.answered

    def _compare(self, one: Trial, judged: Verdict, origin: int, seconds: float) -> None:
        """Hold what a case came to now against what an earlier run said; where it differs, what is seen now counts."""
        earlier = self.again[one.name]
        self.asked_again += 1
        if (judged.outcome, judged.clauses) != (earlier.outcome, earlier.clauses):
            told = f"the record of the earlier run said {earlier.outcome}"
            self._record(one, judged, origin, seconds, told)
            self.differing.append(case_record(self.name, one, judged, seconds, told))

    def unjudged(self, ops: Iterable[str]) -> tuple[str, ...]:
        """Return those of ``ops`` of which no case was judged."""
        return tuple(op for op in ops if op not in self.seen.ops)

    def ask(self, case: Any, *, careful: bool = False) -> Verdict:
        """Return the verdict on one case now, from memory where it is known.

        When ``careful``, what the run found is not taken for known, and a process that gave a failing answer is asked
        nothing more. Raise ``ValueError`` for a case that is malformed.
        """
        one = trial(case)
        if one is None:
            raise ValueError("it is no case of its dialect")
        failed = None if careful else self.found.kept.get(one.name)
        known = self._asked.get(one.name) or (failed.verdict if failed is not None else None)
        if known is None:
            known = self._asked[one.name] = self._ask(one, careful=careful)
        return known

    def _ask(self, one: Trial, *, careful: bool) -> Verdict:
        outside = self.outside(one)
        if outside is not None:
            return Verdict(outcome="unsupported", clauses={}, detail=outside)
        if careful and self._tainted is not None:
            self.worker.renew()
            self._tainted = None
        judged, answers = asked(self._dialogue(one), self.worker)
        judged = self._refusals.weighed(one.facts.op, judged)
        if judged.blame is not None:
            self._tainted = answers[-1].process
        return judged

    def forget(self) -> None:
        """Forget what was asked beside the run, and end the process that it was asked of."""
        self._asked.clear()
        self.worker.renew()
        self._tainted = None

    def alone(self, one: Trial, late: Callable[[], bool] = lambda: False, before: Sequence[int] = ()) -> Verdict | None:
        """Return the verdict on a case in a process of its own, after the cases of the origins ``before``, in order.

        It is ``None`` where none can be run so, or one before it ended that process.
        """
        found = alone(chain(map(self.origins.again, before), [one]), self.worker, self.terms, late)
        if found is None or len(found) <= len(before):
            return None
        judged, _ = found[-1]
        judged = self._refusals.weighed(one.facts.op, judged)
        return None if judged.outcome == "not_run" else judged

    def settle_alone(self, name: str, judged: Verdict) -> None:
        """Record what a case comes to alone in place of what it came to after others in one process."""
        failed = self.found.kept[name]
        once = failed.verdict
        self.poisoned = True
        self.dependent[name] = once
        note = f"this is what it does alone in a fresh process; after other cases: {once.outcome}, {once.detail}"
        self._record(self.trial(name), judged, failed.origin, note=note, unrepeated=once.outcome)

    def failing(self, op: str | None = None) -> Iterator[str]:
        """Yield the ids of the run's cases, of ``op`` or all, that failed and that no known failure covers."""
        for name, failed in list(self.found.kept.items()):
            mine = op is None or failed.record.op == op
            known = failed.origin is not None and failed.verdict.blame is not None
            if mine and known and name not in self.covered:
                yield name

    def trial(self, name: str) -> Trial:
        """Return a failing case of the run, drawn again."""
        origin = self.found.kept[name].origin
        assert origin is not None  # ``failing`` names no others
        return self.origins.again(origin)

    def verdict_of(self, name: str) -> Verdict:
        """Return the verdict on a failing case of the run, or on one that failed until it was run alone."""
        return self.found.kept[name].verdict

    def cover(self, names: Iterable[str], known: Expected) -> None:
        """Take cases for those of a known failure."""
        self.covered.update(dict.fromkeys(names, known))

    def replayed(
        self, one: Trial, judged: Verdict, expected: Expected, seconds: float = 0.0, note: str | None = None
    ) -> None:
        """Record a known failure. One that fails in another way than it should is left among the failing cases."""
        self.seconds += seconds
        self._earlier.add(one.name)
        origin = self.origins.keep(one.case, one.suite)
        self._record(one, judged, origin, seconds, note, expected=expected)

    def _record(
        self,
        one: Trial,
        judged: Verdict,
        origin: int | None,
        seconds: float = 0.0,
        note: str | None = None,
        *,
        under_claimed: bool = False,
        unrepeated: Outcome | None = None,
        expected: Expected | None = None,
    ) -> None:
        line = case_record(
            self.name,
            one,
            judged,
            seconds,
            note,
            under_claimed=under_claimed,
            unrepeated=unrepeated,
            expected=expected,
        )
        self._note(failed_of(one, line, judged, origin))

    def _note(self, found: Failed) -> None:
        """Write a record, in place of an earlier one of the same case, and remember what failed."""
        record = found.record
        earlier = self.found.kept.get(record.case)
        self.seen.add(record, instead=earlier.record if earlier is not None else self._settled.pop(record.case, None))
        unexpected = record.expected is None or record.expected.state == "changed"
        if (record.blame is not None and unexpected) or record.unrepeated is not None or earlier is not None:
            self.found.add(found)
        self._write(record)
