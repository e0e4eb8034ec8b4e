"""The shortest sequence of cases that makes the last one fail, where that one passes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.judging.verdict import Verdict
from conformance.runner.backend_run import Lane
from conformance.runner.shrinking.alike import way

TRIES: Final = 40
"""Processes started for one sequence. Of 1,000 earlier cases of which one matters, bisection needs about 20."""

SUSPECTS: Final = 4
"""Failing cases just before that are tried one by one: an error is what most often leaves something behind."""


@dataclass(frozen=True)
class Found:
    """Cases, by name, that make the last of them fail with ``judged``; ``minimal`` when none can be left out."""

    names: tuple[str, ...]
    judged: Verdict
    minimal: bool


def shortest(lane: Lane, last: str, known: Sequence[Found], late: Callable[[], bool]) -> Found | None:
    """Return the shortest sequence found that ends with ``last`` and fails as that did; ``None`` if none does again.

    ``known`` are sequences that were found for other cases: what comes before the last one of those is tried first.
    The sequence returned failed twice.
    """
    search = _Search(lane, last, lane.dependent[last], late)
    before = lane.served.before(last)
    for one in known:
        if search.fails(one.names[:-1]):
            return Found((*one.names[:-1], last), search.wanted, one.minimal)
    if not before or not search.fails(before):
        return None
    suspects = [name for name in reversed(before) if _suspicious(lane, name)][:SUSPECTS]
    found = next(((name,) for name in suspects if search.fails((name,))), None)
    names, minimal = (found, True) if found else _fewest(before, search)
    return Found((*names, last), search.wanted, minimal) if search.fails(names, again=True) else None


def _suspicious(lane: Lane, name: str) -> bool:
    return name in lane.dependent or lane.verdicts[name].blame is not None


class _Search:
    """Asks whether cases before it make a case fail, and remembers what was asked."""

    def __init__(self, lane: Lane, last: str, wanted: Verdict, late: Callable[[], bool]) -> None:
        """Look for what makes ``last`` fail as in ``wanted``."""
        self.wanted = wanted
        self._lane = lane
        self._last = last
        self._late = late
        self._known: dict[tuple[str, ...], bool] = {}

    @property
    def spent(self) -> bool:
        """Return whether no more processes are started."""
        return len(self._known) >= TRIES or self._late()

    def fails(self, names: Sequence[str], *, again: bool = False) -> bool:
        """Return whether the case fails as wanted after the cases ``names`` in one process."""
        key = tuple(names)
        if key not in self._known or again:
            if self.spent and not again:
                return False
            cases = [self._lane.subjects[name].case for name in (*key, self._last)]
            judged = self._lane.alone(cases, self._late)
            self._known[key] = judged is not None and judged.blame is not None and way(judged) == way(self.wanted)
        return self._known[key]


def _fewest(names: Sequence[str], search: _Search) -> tuple[tuple[str, ...], bool]:
    """Return as few of ``names``, which fail, as are found to fail, and whether each of them is needed.

    Zeller's ddmin: halves, then what is left without each part, in ever smaller parts.
    """
    left, parts = tuple(names), 2
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
