"""Cases that a backend is asked about beside the run, while its failures are confirmed and made smaller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from conformance.cases.declarations.terms import Terms
from conformance.judging.verdict import Verdict
from conformance.runner.backend.conversation import alone, asked
from conformance.runner.backend.failing_cases import Failing
from conformance.runner.backend.refusals import Refusals
from conformance.runner.backend.scope import Scope
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.origins import Origins
from conformance.runner.worker.interface import Judgeable


class Queries:
    """Asks about one case at a time, and remembers the verdicts."""

    def __init__(self, worker: Judgeable, scope: Scope, failing: Failing, refusals: Refusals, origins: Origins) -> None:
        """Ask ``worker``; verdicts on ``failing`` cases are known, and a refusal is weighed as in the run."""
        self._worker, self._scope, self._failing = worker, scope, failing
        self._refusals, self._origins = refusals, origins
        self._known: dict[str, Verdict] = {}
        self._tainted: int | None = None
        """The process that gave the last failing answer."""
        self.heard: Callable[[], None] = lambda: None
        """Called for each case that is asked about."""

    @property
    def _terms(self) -> Terms:
        return self._worker.ready.terms

    def ask(self, case: Any, *, careful: bool = False) -> Verdict:
        """Return the verdict on one case now, from memory where it is known.

        When ``careful``, what the run found is not taken for known, and a process that gave a failing answer is asked
        nothing more. Raise ``ValueError`` for a case that is malformed.
        """
        one = trial(case)
        if one is None:
            raise ValueError("it is no case of its dialect")
        failed = None if careful else self._failing.kept.get(one.name)
        known = self._known.get(one.name) or (failed.verdict if failed is not None else None)
        if known is None:
            known = self._known[one.name] = self._ask(one, careful=careful)
        return known

    def forget(self) -> None:
        """Forget every verdict, and end the process that was asked."""
        self._known.clear()
        self._renew()

    def alone(
        self, one: Trial, late: Callable[[], bool] = lambda: False, before: Sequence[int | Trial] = ()
    ) -> Verdict | None:
        """Return the verdict on a case in a process of its own, after the cases ``before`` it, in order.

        Of those that the run drew the origin is enough: each is drawn again when its turn comes. The verdict is
        ``None`` where none can be run so, or one before it ended that process.
        """
        self.heard()
        cases = (each if isinstance(each, Trial) else self._origins.again(each) for each in before)
        found = alone(chain(cases, [one]), self._worker, self._terms, late)
        if found is None or len(found) <= len(before):
            return None
        judged, _ = found[-1]
        judged = self._refusals.weighed(one.facts.op, judged)
        return None if judged.outcome == "not_run" else judged

    def _ask(self, one: Trial, *, careful: bool) -> Verdict:
        outside = self._scope.outside(one)
        if outside is not None:
            return Verdict(outcome="unsupported", clauses={}, detail=outside)
        self.heard()
        if careful and self._tainted is not None:
            self._renew()
        judged, answers = asked(one.dialect.dialogue(one.subject, self._terms), self._worker)
        judged = self._refusals.weighed(one.facts.op, judged)
        if judged.blame is not None:
            self._tainted = answers[-1].process
        return judged

    def _renew(self) -> None:
        self._worker.renew()
        self._tainted = None
