"""The cases of a sequence made smaller: the last one, that fails, and those before it that make it fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple

from conformance.judging.verdict import Verdict
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.failure_equivalence import way
from conformance.runner.dialect import Trial
from conformance.runner.dialects import operations, trial
from conformance.runner.shrinking.shrinking import Shrinking

SECONDS: Final = 60.0
"""Seconds for one sequence: each smaller case needs a process of its own, and ranks of Torch take four to start. Of our
engine's processes some 100 start in that time, and of sequences in one process 40 smaller cases were enough."""


class SmallerSequence(NamedTuple):
    """Cases in order, and what the last comes to after the others."""

    trials: tuple[Trial, ...]
    judged: Verdict


def smaller(backend: BackendRun, trials: Sequence[Trial], judged: Verdict, late: Callable[[], bool]) -> SmallerSequence:
    """Return smaller cases of which the last fails, as in ``judged``, after the others; it fails so twice.

    The last one is made smaller first, then those before it.
    """
    end = monotonic() + SECONDS
    search = _Search(backend, list(trials), judged, lambda: late() or monotonic() > end)
    for at in reversed(range(len(trials))):
        search.reduce(at)
    again = search.told(search.trials)
    if again.blame is None or way(again) != way(judged):
        return SmallerSequence(tuple(trials), judged)
    return SmallerSequence(tuple(search.trials), again)


class _Search:
    """Asks for what the last case comes to after changed ones, in a process of their own each time."""

    def __init__(self, backend: BackendRun, trials: list[Trial], judged: Verdict, late: Callable[[], bool]) -> None:
        """Begin with ``trials``, of which the last is ``judged``."""
        self.trials, self._judged = trials, judged
        self._backend, self._late = backend, late

    def reduce(self, at: int) -> None:
        """Put a smaller case in the place of the one that is number ``at``."""
        one, last = self.trials[at], self.trials[-1].facts.op
        clauses = operations()[last].clauses(last, self._backend.terms)

        def ask(case: Any) -> Verdict:
            changed = trial(case)
            if changed is None:
                raise ValueError("it is no case of its dialect")
            return self.told([*self.trials[:at], changed, *self.trials[at + 1 :]])

        found = Shrinking(one.dialect, self._judged, clauses, ask, self._late)
        made = trial(found.smallest(one.case, None, self._backend.origins.seed).case)
        assert made is not None  # it was asked as one
        self.trials[at] = made

    def told(self, trials: Sequence[Trial]) -> Verdict:
        """Return the verdict on the last of ``trials`` after the others."""
        found = None
        if not any(self._backend.scope.outside(one) for one in trials):
            found = self._backend.queries.alone(trials[-1], before=trials[:-1])
        return found or Verdict(outcome="not_run", clauses={})
