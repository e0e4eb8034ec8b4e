"""The shortest sequence of cases that makes the last one fail, where that one passes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.judging.verdict import Verdict
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.failure_equivalence import way

TRIES: Final = 40
"""Processes started for one sequence. Of 1,000 earlier cases of which one matters, bisection needs about 20."""

SUSPECTS: Final = 4
"""Failing cases just before that are tried one by one: an error is what most often leaves something behind."""


@dataclass(frozen=True)
class FailingSequence:
    """Cases, by origin, that make the last of them fail with ``judged``; ``minimal`` when none can be left out."""

    origins: tuple[int, ...]
    judged: Verdict
    minimal: bool


def shortest(
    backend: BackendRun, last: str, known: Sequence[FailingSequence], late: Callable[[], bool]
) -> FailingSequence | None:
    """Return the shortest sequence found that ends with ``last`` and fails as that did; ``None`` if none does again.

    ``known`` are sequences that were found for other cases: what comes before the last one of those is tried first.
    The sequence returned failed twice.
    """
    search = _Search(backend, last, backend.failures.dependent[last], late)
    before, end = backend.processes.before(last), backend.failures.found.kept[last].origin
    assert end is not None  # it was asked in this run
    for one in known:
        if search.fails(one.origins[:-1]):
            return FailingSequence((*one.origins[:-1], end), search.wanted, one.minimal)
    if not before or not search.fails(before):
        return None
    failed = {each.origin for each in backend.failures.found.kept.values()}
    suspects = [origin for origin in reversed(before) if origin in failed][:SUSPECTS]
    found = next(((origin,) for origin in suspects if search.fails((origin,))), None)
    origins, minimal = (found, True) if found else _fewest(before, search)
    return FailingSequence((*origins, end), search.wanted, minimal) if search.fails(origins, again=True) else None


class _Search:
    """Asks whether cases before it make a case fail, and remembers what was asked."""

    def __init__(self, backend: BackendRun, last: str, wanted: Verdict, late: Callable[[], bool]) -> None:
        """Look for what makes ``last`` fail as in ``wanted``."""
        self.wanted = wanted
        self._backend = backend
        self._last = backend.failures.trial(last)
        self._late = late
        self._known: dict[tuple[int, ...], bool] = {}

    @property
    def spent(self) -> bool:
        """Return whether no more processes are started."""
        return len(self._known) >= TRIES or self._late()

    def fails(self, origins: Sequence[int], *, again: bool = False) -> bool:
        """Return whether the case fails as wanted after the cases of ``origins`` in one process."""
        key = tuple(origins)
        if key not in self._known or again:
            if self.spent and not again:
                return False
            judged = self._backend.queries.alone(self._last, self._late, before=key)
            self._known[key] = judged is not None and judged.blame is not None and way(judged) == way(self.wanted)
        return self._known[key]


def _fewest(origins: Sequence[int], search: _Search) -> tuple[tuple[int, ...], bool]:
    """Return as few of ``origins``, which fail, as are found to fail, and whether each of them is needed.

    Zeller's ddmin: halves, then what is left without each part, in ever smaller parts.
    """
    left, parts = tuple(origins), 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        chunks = [left[at : at + size] for at in range(0, len(left), size)]
        rests = [tuple(n for n in left if n not in chunk) for chunk in chunks]
        smaller = next((each for each in (*reversed(chunks), *rests) if each != left and search.fails(each)), None)
        if search.spent:
            return smaller or left, False
        if smaller is not None:
            left, parts = smaller, 2 if smaller in chunks else max(parts - 1, 2)
        elif size == 1:
            return left, True
        else:
            parts = min(2 * parts, len(left))
    return left, True
