"""One case on one backend, with everything that was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.judging.clause import Clause
from conformance.judging.verdict import Verdict
from conformance.runner.backend_run import Lane
from conformance.runner.meaning import all_binding, meaning, verdict
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.worker.answers import Answer, Broken
from conformance.runner.worker.judgeable import Judgeable


@dataclass(frozen=True)
class Replay:
    """A verdict and the answer it judges; ``answer`` is ``None`` for a case outside the backend's claims.

    ``clauses`` are all there are, by id, as the backend is held to them.
    """

    verdict: Verdict
    answer: Answer | None
    clauses: Mapping[str, Clause]

    @property
    def observation(self) -> Observation | None:
        """Return what the backend did, unless it broke or was not asked."""
        result = self.answer.result if self.answer else None
        return result if isinstance(result, Observation) else None

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


def replay(case: Case, worker: Judgeable, before: Sequence[Case] = ()) -> Replay:
    """Ask ``worker`` for the case, after the cases ``before`` it in the same process.

    Raise ``StartError`` when it does not start, ``ValueError`` for a malformed case.
    """
    subject = meaning(case)
    lane = Lane("", worker, lambda record: None)
    clauses = {clause.id: clause for clause in all_binding(subject.step.op, lane.terms)}
    outside = lane.outside(subject)
    if outside is not None:
        return Replay(Verdict(outcome="unsupported", clauses={}, detail=outside), None, clauses)
    answer = _answer(case, worker, before)
    return Replay(verdict(subject, answer, lane.terms), answer, clauses)


def _answer(case: Case, worker: Judgeable, before: Sequence[Case]) -> Answer:
    answers = worker.alone([*before, case]) if before else None
    if answers is None:
        for earlier in before:
            worker.ask(earlier)
        return worker.ask(case)
    last = answers[-1]
    if len(answers) <= len(before) and last.broken is not None:
        told = (
            f"case {len(answers)} of {len(before) + 1} ended the process: {last.broken.outcome}, {last.broken.detail}"
        )
        return Answer(Broken("not_run", told, last.broken.stderr_tail))
    return last
