"""One case on one backend, with everything that was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.cases.case_error import CaseError
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.schedule.schedule import Schedule
from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.conversation import Told, alone, asked, excused
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of, trial
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.worker.answers import Answer, Broken
from conformance.runner.worker.interface import Judgeable


@dataclass(frozen=True)
class Replay:
    """A verdict and the answers it judges, in order; none for a case outside the backend's claims.

    ``clauses`` are all there are, by id, as the backend is held to them.
    """

    verdict: Verdict
    answers: tuple[Answer, ...]
    clauses: Mapping[str, AnyClause]

    @property
    def answer(self) -> Answer | None:
        """Return the last answer."""
        return self.answers[-1] if self.answers else None

    @property
    def observation(self) -> Observation | None:
        """Return what the backend did, unless it broke or was not asked."""
        result = self.answer.result if self.answer else None
        return result if isinstance(result, Observation) else None

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """Return the schedules that came, in the order in which they were asked for."""
        seen = [answer.result for answer in self.answers]
        return tuple(each.schedule for each in seen if isinstance(each, Observation) and each.schedule is not None)

    @property
    def stderr(self) -> str:
        """Return the last a broken backend wrote."""
        result = self.answer.result if self.answer else None
        return result.stderr_tail if isinstance(result, Broken) else ""

    @property
    def status(self) -> int:
        """Return the exit status: 0 no *must* is broken, 1 one is, 3 nothing was judged."""
        if self.verdict.outcome in UNJUDGED:
            return 3
        return int(self.verdict.blame is not None and self.verdict.blame.requirement == "must")


def replay(case: Any, worker: Judgeable, before: Sequence[Any] = ()) -> Replay:
    """Ask ``worker`` for the case, after the cases ``before`` it in the same process.

    Raise ``StartError`` when it does not start, ``ValueError`` for a malformed case.
    """
    one, terms, claims = known_trial(case), worker.ready.terms, worker.ready.claims
    clauses = {clause.id: clause for clause in one.dialect.clauses(one.facts.op, terms)}
    outside = one.outside(claims)
    if outside is not None:
        return Replay(Verdict(outcome="unsupported", clauses={}, detail=outside), (), clauses)
    judged, answers = _told(one, [known_trial(each) for each in before], worker, terms)
    return Replay(excused(judged) if judged.refusal else judged, tuple(answers), clauses)


def known_trial(case: Any) -> Trial:
    """Return a case with what it means; raise ``ValueError`` where it is malformed, or none of its dialect."""
    one = trial(case)
    if one is None:
        raise CaseError(f"{name_of(case)} is no case that anything could be asked about")
    return one


def _told(one: Trial, before: Sequence[Trial], worker: Judgeable, terms: Terms) -> Told:
    found = alone([*before, one], worker, terms) if before else None
    if found is None:
        return [asked(each.dialect.dialogue(each.subject, terms), worker) for each in (*before, one)][-1]
    judged, answers = found[-1]
    last = answers[-1].broken if answers else None
    if len(found) <= len(before) and last is not None:
        told = f"case {len(found)} of {len(before) + 1} ended the process: {last.outcome}, {last.detail}"
        answer = Answer(Broken("not_run", told, last.stderr_tail))
        return Verdict(outcome="not_run", clauses={}, detail=told), [answer]
    return judged, answers
