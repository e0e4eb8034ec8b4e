"""Known failures in a run: replayed from their stored cases, never shrunk again, and strict.

A known failure covers its case, and every failing case of the run that ends in the same outcome and breaks all the
clauses that the known case breaks: the rule by which a smallest case stands for others (see ``minimise``). It covers as
well what has such a case, or the known case itself, as its smallest: a long program may break other clauses than the
mistake in it. A known flake is run as often as its evidence was. It must fail in the entry's way at least once and pass
at least once, and no more often than the evidence can explain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import comb
from typing import Any, Final

from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.failure_equivalence import blamable, explains
from conformance.runner.backend.observation_digest import observation_digest
from conformance.runner.dialects import operations
from conformance.runner.known.file import KnownCase
from conformance.runner.outcomes import OWED
from conformance.runner.plan import Plan
from conformance.runner.records.known import STANDING, Expected, Flaky, Known, State
from conformance.runner.records.record import Failure
from conformance.runner.replay import replay

CHANCE: Final = 1000
"""A flake that fails more often than evidence and run together make one time in so many is another failure."""


_Asked = tuple[Verdict, int, float, str | None, str | None]
"""A verdict, how many runs failed as the entry says, seconds, a note, and the digest of what was observed."""


@dataclass(frozen=True)
class ReplayedFailure:
    """A known failure, the verdict on its case, and whether that is as expected; ``covered`` are cases of the run."""

    known: KnownCase
    verdict: Verdict
    expected: Expected
    covered: list[str] = field(default_factory=list)

    @property
    def op(self) -> str:
        """Return the operation of its case."""
        return self.known.trial.facts.op

    @property
    def stands(self) -> bool:
        """Return whether its case still fails as the entry says."""
        return self.expected.state in STANDING

    def explains(self, case: str, judged: Verdict, clauses: Sequence[AnyClause]) -> bool:
        """Return whether a failing case is its own, or fails as its own does."""
        return case == self.known.entry.case or explains(self.verdict, judged, clauses)


def replay_known(
    known: Sequence[KnownCase], backend: BackendRun, plan: Plan, today: date, late: Callable[[], bool]
) -> list[ReplayedFailure]:
    """Replay and record the known failures of a backend and the operations of ``plan``; when ``late``, none.

    The suite of an entry is that of its clause, but cases of any suite may break a clause that all share.
    """
    found = []
    for one in known:
        suite = plan.suite_of(one.trial.facts.op, one.suite)
        if one.entry.backend != backend.name or suite is None:
            continue
        judged, failed, seconds, note, seen = _asked(one, backend, late)
        expected = _expectation(one, judged, failed, today, backend)
        if expected.state == "changed" and one.entry.flaky is None and not late():
            # An earlier one may have left the process with what spoils it.
            backend.worker.renew()
            judged, failed, seconds, note, seen = _asked(one, backend, late)
            expected = _expectation(one, judged, failed, today, backend)
        backend.replayed(replace(one.trial, suite=suite), judged, expected, seconds, note, seen)
        found.append(ReplayedFailure(one, judged, expected))
    if found:
        backend.worker.renew()
    return found


def cover_drawn(replayed: Sequence[ReplayedFailure], backend: BackendRun) -> None:
    """Take the failing cases of the run for those of the known failures of their operation that explain them."""
    for one in sorted(_standing_of(replayed), key=lambda one: list(one.verdict.clauses.values()).count("broken")):
        clauses = operations()[one.op].clauses(one.op, backend.terms)
        verdict_of = backend.failures.verdict_of
        left = [name for name in backend.failures.left(one.op) if name != one.known.entry.case]
        _cover(one, backend, [name for name in left if explains(one.verdict, verdict_of(name), clauses)])


def cover_smallest(
    replayed: Sequence[ReplayedFailure], backend: BackendRun, case: str, judged: Verdict, names: Sequence[str]
) -> bool:
    """Take the cases ``names`` for those of a known failure that their smallest ``case`` shows, if there is one."""
    for one in _standing_of(replayed):
        if one.explains(case, judged, operations()[one.op].clauses(one.op, backend.terms)):
            _cover(one, backend, names)
            return True
    return False


def _standing_of(replayed: Sequence[ReplayedFailure]) -> list[ReplayedFailure]:
    return [one for one in replayed if one.stands]


def _cover(one: ReplayedFailure, backend: BackendRun, names: Sequence[str]) -> None:
    one.covered.extend(names)
    backend.failures.cover([one.known.entry.case, *names], one.expected)


def known_failures(
    replayed: Sequence[ReplayedFailure], backend: BackendRun, save: Callable[[str, Any], str]
) -> Iterator[Failure]:
    """Yield the known failures that still fail, each with the cases of the run it covers."""
    for one in _standing_of(replayed):
        entry, clauses = one.known.entry, operations()[one.op].clauses(one.op, backend.terms)
        yield Failure(
            backend=backend.name,
            op=one.op,
            clause=entry.clause,
            requirement=next(c.requirement for c in blamable(one.verdict, clauses) if c.id == entry.clause),
            outcome=one.verdict.outcome,
            case=entry.case,
            file=save(entry.case, one.known.trial.case),
            detail=one.verdict.detail or "",
            minimal=False,
            explains=(entry.case, *one.covered),
            error=one.verdict.error,
            known=one.expected,
        )


def too_often(failed: int, flaky: Flaky) -> bool:
    """Return whether a flake failed so often that its evidence does not explain it.

    Of all failures, the evidence's and these, the chance that so many would fall on the second of two equal
    series of runs is below one in ``CHANCE`` (the one-sided exact test of Fisher, in whole numbers); or it
    never passed.
    """
    runs, total = flaky.of, failed + flaky.failed
    ways = sum(comb(runs, k) * comb(runs, total - k) for k in range(failed, min(runs, total) + 1))
    return failed == runs or CHANCE * ways < comb(2 * runs, total)


def _asked(one: KnownCase, backend: BackendRun, late: Callable[[], bool]) -> _Asked:
    """Return the verdict that counts, the runs that failed as the entry says, and what else a record says.

    The first failure in another way counts before those in the entry's way, and these before a pass.
    """
    verdicts: list[tuple[Verdict, str | None]] = []
    seconds, note = 0.0, None
    for _ in range(one.entry.flaky.of if one.entry.flaky else 1):
        if late():
            return Verdict(outcome="not_run", clauses={}, detail="the time budget was spent"), 0, seconds, None, None
        shown = replay(one.trial.case, backend.worker)
        verdicts.append((shown.verdict, observation_digest(shown.answers)))
        seconds += shown.observation.seconds if shown.observation else 0.0
        note = note or (shown.answer.note if shown.answer else None)
        if shown.verdict.outcome in OWED:
            return shown.verdict, 0, seconds, note, None
    alike = [each for each in verdicts if _as_entered(one, each[0], backend)]
    others = [each for each in verdicts if each[0].outcome != "passed" and not _as_entered(one, each[0], backend)]
    judged, seen = (others or alike or verdicts)[0]
    return judged, len(alike), seconds, note, seen


def _as_entered(one: KnownCase, judged: Verdict, backend: BackendRun) -> bool:
    """Return whether a case fails as its entry says: with its outcome, and its clause can be to blame."""
    if judged.blame is None or judged.outcome != one.entry.outcome:
        return False
    op = one.trial.facts.op
    return one.entry.clause in {clause.id for clause in blamable(judged, operations()[op].clauses(op, backend.terms))}


def _expectation(one: KnownCase, judged: Verdict, failed: int, today: date, backend: BackendRun) -> Expected:
    entry = one.entry
    state, says = _standing(entry, failed, today) if _as_entered(one, judged, backend) else _otherwise(entry, judged)
    return Expected(
        kind=entry.kind,
        known=entry,
        where=one.expiry_where if state == "expired" else one.where,
        state=state,
        failed=failed if entry.flaky else None,
        says=says,
    )


def _standing(entry: Known, failed: int, today: date) -> tuple[State, str | None]:
    """Return the state of an entry whose case fails as it says."""
    if entry.flaky and too_often(failed, entry.flaky):
        return "too_often", (
            f"failed in {failed} of {entry.flaky.of} runs where the evidence is {entry.flaky.failed} of "
            f"{entry.flaky.of}: it is no such flake any more; leave out flaky if it always fails"
        )
    if today > entry.expiry:
        day = entry.expiry.isoformat()
        return (
            "expired",
            f"has an entry that expired on {day}; mend {entry.issue}, or agree on a later day with {entry.owner}",
        )
    return "as_expected", None


def _otherwise(entry: Known, judged: Verdict) -> tuple[State, str]:
    """Return the state of an entry whose case passed, failed in another way, or was not run."""
    if judged.outcome in OWED:
        return "not_run", f"was not run: {judged.detail}"
    if judged.outcome != "passed":
        blame = f" by {judged.blame.id}" if judged.blame else ""
        return "changed", (
            f"is {judged.outcome}{blame} where the entry expects {entry.outcome} by {entry.clause}; "
            f"look into it, and mend the entry or delete it ({judged.detail})"
        )
    if entry.flaky is None:
        return "unexpected_pass", f"passes although it is known to fail; if {entry.issue} is mended, delete the entry"
    runs, times = entry.flaky.of, entry.flaky.failed
    return "unexpected_pass", (
        f"failed in none of {runs} runs although it is a known flake; if {entry.issue} is mended, delete the entry. "
        f"By its evidence, {times} of {runs}, chance alone does this in {(1 - times / runs) ** runs:.1%} of all cases: "
        "evidence of more runs makes that rarer"
    )
