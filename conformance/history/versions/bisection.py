"""The first version that makes a case come out otherwise, and the fewest packages that do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from conformance.history.error import UnfinishedError

Test = Callable[[Mapping[str, str]], "TriedVersions"]
"""Runs the case with packages of these versions."""


class TriedVersions(NamedTuple):
    """What a case came to in an environment; ``known`` is false where it was not judged, ``why`` then says why."""

    outcome: str
    known: bool = True
    why: str = ""


class VersionStep(NamedTuple):
    """Two versions of a package next to each other, of those that could be tried, with what the case came to.

    ``untried`` are those between them that did not install or were not judged.
    """

    package: str
    last: str
    first: str
    before: str
    after: str
    untried: tuple[str, ...] = ()


class Bisection(NamedTuple):
    """The fewest packages whose versions together make the difference, the step of each, and what was tried."""

    steps: tuple[VersionStep, ...]
    tried: tuple[tuple[Mapping[str, str], TriedVersions], ...]


def bisected(ranges: Mapping[str, Sequence[str]], test: Test) -> Bisection:
    """Return which versions make a case come out otherwise than with the first version of every range.

    First it is found with the fewest packages moved to their last versions (``ddmin``), then the step of each of these,
    the others of them at their last versions. Raise ``UnfinishedError`` where an end cannot be judged, or both are
    alike.
    """
    trials = _Trials(ranges, test)
    before, after = trials.moved(()), trials.moved(tuple(ranges))
    for end, word in ((before, "first"), (after, "last")):
        if not end.known:
            raise UnfinishedError(f"the case is not judged with the {word} versions: {end.why or end.outcome}")
    if before.outcome == after.outcome:
        raise UnfinishedError(f"the case comes to {before.outcome} with the first versions and with the last")
    fewest = ddmin(tuple(ranges), lambda names: trials.moved(names).outcome == after.outcome)
    steps = tuple(_step(name, ranges[name], fewest, trials) for name in fewest)
    return Bisection(steps, tuple(trials.tried))


class _Trials:
    """Runs the case once with each choice of versions."""

    def __init__(self, ranges: Mapping[str, Sequence[str]], test: Test) -> None:
        self._ranges, self._test = ranges, test
        self._known: dict[tuple[tuple[str, str], ...], TriedVersions] = {}
        self.tried: list[tuple[Mapping[str, str], TriedVersions]] = []

    def moved(self, names: Sequence[str], **chosen: str) -> TriedVersions:
        """Return what comes of the packages ``names`` at their last versions, others at their first, or as chosen."""
        versions = {name: several[-1 if name in names else 0] for name, several in self._ranges.items()} | chosen
        key = tuple(sorted(versions.items()))
        if key not in self._known:
            try:
                self._known[key] = self._test(versions)
            except UnfinishedError as error:
                self._known[key] = TriedVersions("not tried", known=False, why=str(error))
            self.tried.append((versions, self._known[key]))
        return self._known[key]


def _step(name: str, versions: Sequence[str], fewest: Sequence[str], trials: _Trials) -> VersionStep:
    """Return the two neighbouring versions between which the case turns, by halving; what is not judged is skipped."""
    low, high = 0, len(versions) - 1
    first, last = (trials.moved(fewest, **{name: versions[at]}) for at in (low, high))
    skipped: set[int] = set()
    while True:
        open_ones = [at for at in range(low + 1, high) if at not in skipped]
        if not open_ones:
            untried = tuple(versions[at] for at in range(low + 1, high))
            return VersionStep(name, versions[low], versions[high], first.outcome, last.outcome, untried)
        middle = min(open_ones, key=lambda at: abs(2 * at - low - high))
        found = trials.moved(fewest, **{name: versions[middle]})
        if not found.known:
            skipped.add(middle)
        elif found.outcome == first.outcome:
            low = middle
        else:
            high, last = middle, found


def ddmin(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """Return items with which ``fails`` holds, of which none can be left out (Zeller and Hildebrandt, 2002).

    It must hold with all of them, and not with none.
    """
    left, parts = list(items), 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        chunks = [left[at : at + size] for at in range(0, len(left), size)]
        rests = [[one for one in left if one not in chunk] for chunk in chunks] if len(chunks) > 2 else []
        smaller = next((chunk for chunk in chunks if fails(chunk)), None)
        if smaller is not None:
            left, parts = smaller, 2
            continue
        smaller = next((rest for rest in rests if fails(rest)), None)
        if smaller is not None:
            left, parts = smaller, max(parts - 1, 2)
        elif parts >= len(left):
            break
        else:
            parts = min(len(left), 2 * parts)
    return tuple(left)
