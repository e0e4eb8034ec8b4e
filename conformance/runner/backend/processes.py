"""Which process of a worker answered which cases, and in which order."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Final

from conformance.runner.worker.answers import Answer

MOST_PLACES: Final = 20_000
"""Cases whose place is known, at most: of those that fail nobody asks for more."""


@dataclass(frozen=True)
class Processes:
    """The origins of the cases that each process answered, in order: eight bytes a case.

    ``places`` has, for failing cases by name, the process that answered first and how many it had answered before.
    """

    origins: dict[int, array[int]] = field(default_factory=dict)
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
        return tuple(self.origins.get(process, array("q"))[:place])

    def _of(self, process: int) -> array[int]:
        return self.origins.setdefault(process, array("q"))
