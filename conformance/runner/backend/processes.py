"""Which process of a worker answered which cases, and in which order."""

from __future__ import annotations

import zlib
from array import array
from dataclasses import dataclass, field
from itertools import accumulate, chain, islice, pairwise
from typing import Final

from conformance.runner.worker.answers import Answer

MOST_PLACES: Final = 20_000
"""Cases whose place is known, at most: of those that fail nobody asks for more."""

PACKED: Final = 4096
"""Origins that are packed together."""


class Packed:
    """Origins in the order in which they were added. A draw follows another, so that most take a tenth of a byte."""

    def __init__(self) -> None:
        """Start with none."""
        self._packs: list[bytes] = []
        self._open = array("q")

    def __len__(self) -> int:
        """Return how many there are."""
        return PACKED * len(self._packs) + len(self._open)

    def append(self, origin: int) -> None:
        """Add one."""
        self._open.append(origin)
        if len(self._open) == PACKED:
            steps = (after - before for before, after in pairwise(chain((0,), self._open)))
            self._packs.append(zlib.compress(array("q", steps), 1))
            self._open = array("q")

    def first(self, many: int) -> tuple[int, ...]:
        """Return so many of the first."""
        packs = (accumulate(array("q", zlib.decompress(each))) for each in self._packs)
        return tuple(islice(chain(chain.from_iterable(packs), self._open), many))


@dataclass(frozen=True)
class Processes:
    """The origins of the cases that each process answered, in order.

    ``places`` has, for failing cases by name, the process that answered first and how many it had answered before.
    """

    origins: dict[int, Packed] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, name: str, origin: int, answer: Answer, *, failed: bool) -> None:
        """Take note of an answer; a case that broke an earlier process has its place there."""
        there = self._of(answer.process)
        first = self._of(answer.unrepeated.process) if answer.unrepeated else there
        process = answer.unrepeated.process if answer.unrepeated else answer.process
        if (failed or answer.unrepeated) and len(self.places) < MOST_PLACES:
            self.places[name] = process, len(first)
        there.append(origin)

    def before(self, name: str) -> tuple[int, ...]:
        """Return the origins of the cases that the process of ``name`` had answered before."""
        process, place = self.places.get(name, (0, 0))
        return self.origins[process].first(place) if process in self.origins else ()

    def _of(self, process: int) -> Packed:
        return self.origins.setdefault(process, Packed())
