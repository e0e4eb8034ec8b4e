"""From a failing case to the smallest that fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import allowed, breaks_must, broken, cost, way
from conformance.runner.dialect import AnyDialect
from conformance.runner.outcomes import ENDING
from conformance.runner.plan import Draws

SHRINK_CALLS: Final = 200
"""New cases that Hypothesis may ask a backend for."""

SHRINK_CALLS_SLOW: Final = 20
"""The same where every answer costs a worker, or ranks: crashes, timeouts, broken protocol and trouble among ranks."""

REDUCTION_CALLS: Final = 1_000
"""New cases that the listed reductions may ask for. From what Hypothesis leaves, about 30 were needed; long blocks on 8
ranks, where it gets little done in its own calls, took up to 583 (JAX, seed 0)."""

LEAPS: Final = 60
"""New cases that leaps may ask for: halves of 400 nodes are nine, and each is tried from both ends."""

LONG: Final = 4
"""Steps or nodes above which a case is made shorter by leaps before anything else."""

HANGS: Final = 6
"""Answers waited for in vain while one hang is made smaller: each takes as long as a case may."""


@dataclass(frozen=True)
class SmallestCase:
    """The smallest case found, the verdict on it, and whether no listed reduction is left to try."""

    case: Any
    judged: Verdict
    minimal: bool


@dataclass
class Shrinking:
    """The search for a smaller case that fails as ``first`` does; ``clauses`` may be to blame, ``ask`` judges a case.

    Cases are of one ``dialect``. It ends early when it is ``late``.
    """

    dialect: AnyDialect
    first: Verdict
    clauses: Sequence[AnyClause]
    ask: Callable[[Any], Verdict]
    late: Callable[[], bool]
    asked: set[str] = field(default_factory=set)
    hangs: int = 0
    _known: dict[str, Verdict] = field(default_factory=dict)

    def smallest(self, start: Any, drawn: tuple[Draws, int] | None, seed: int) -> SmallestCase:
        """Return the smallest case from ``start`` on: by leaps, what was ``drawn`` by Hypothesis, and then reduced.

        Hypothesis begins with the draw, so that it has no part in what leaps made shorter. Of hangs it would try too
        many, for it knows nothing of what is bold.
        """
        found = self._leapt(start)
        if found is start and drawn is not None and self.first.outcome != "timeout" and not self.late():
            # Ranks that cannot go on wait for their timeout, and are then started anew.
            slow = self.first.outcome in ENDING or self.dialect.slow(start)
            calls = SHRINK_CALLS_SLOW if slow else SHRINK_CALLS
            # To import it takes 0.2 s of the 1.5 that a command takes to start, and most have nothing to make smaller.
            from conformance.runner.hypothesis_shrinker import shrink  # noqa: PLC0415

            draws, number = drawn
            found = shrink(draws.domain, seed, number, self.fails, calls, self.dialect.id_of, draws.limits)
        return self._reduced(found)

    def fails(self, case: Any) -> bool:
        """Return whether a case fails as the first one does; what is asked for too late does not."""
        judged = self._judged(case)
        return judged is not None and self._alike(judged)

    def _alike(self, judged: Verdict) -> bool:
        if judged.blame is None or way(judged) != way(self.first) or breaks_must(judged) < breaks_must(self.first):
            return False
        return broken(judged) <= allowed(self.first, self.clauses)

    def _judged(self, case: Any) -> Verdict | None:
        if self._spent():
            return None
        name = self.dialect.id_of(case)
        if name in self._known:  # the same was made in another way; what it means need not be asked for again
            return self._known[name]
        try:
            judged = self.ask(case)
        except (ValueError, IndexError, TypeError, KeyError):
            return None  # a reduction made a program that is malformed, not illegal
        self.asked.add(name)
        if judged.outcome != "not_run":
            self._known[name] = judged
        self.hangs += judged.outcome == "timeout"
        return judged

    def _leapt(self, case: Any) -> Any:
        """Return the case that leaps make shorter, as long as what is left fails alike."""
        length, before = self.dialect.length, len(self.asked)
        while length(case) > LONG:
            for shorter in self._leaps(case):
                if len(self.asked) - before > LEAPS or self._spent():
                    return case
                if length(shorter) < length(case) and self.fails(shorter):
                    case = shorter
                    break
            else:
                return case
        return case

    def _leaps(self, case: Any) -> Iterator[Any]:
        """Yield the leaps of a case, none where it is no case that they can be made of."""
        with suppress(ValueError, IndexError, TypeError, KeyError):
            yield from self.dialect.leaps(case)

    def _spent(self) -> bool:
        return self.late() or self.hangs >= HANGS

    def _reduced(self, case: Any) -> SmallestCase:
        """Apply neutral moves and listed reductions until none fails alike, or there is no more to be asked."""
        judged = self.ask(case)
        before = len(self.asked)
        while True:
            unheard = False
            known = self.dialect
            smaller_ones = (each for each in known.reductions(case) if known.size(each) < known.size(case))
            for smaller in chain(known.neutral(case), smaller_ones):
                if len(self.asked) - before > REDUCTION_CALLS or self._spent():
                    return SmallestCase(case, judged, minimal=False)
                other = self._judged(smaller)
                if other is not None and self._alike(other) and self._cost(other, smaller) < self._cost(judged, case):
                    case, judged = smaller, other
                    break
                unheard |= other is not None and other.outcome == "not_run"
            else:
                return SmallestCase(case, judged, minimal=not unheard)

    def _cost(self, judged: Verdict, case: Any) -> tuple[int, ...]:
        return cost(judged, case, self.clauses, self.dialect)
