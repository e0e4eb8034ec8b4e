"""Which process of a worker answered which cases, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.runner.worker.answers import Answer


@dataclass(frozen=True)
class Served:
    """Which process answered which cases, in order, and which broke with a case under way that passed alone."""

    cases: dict[int, list[str]] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, name: str, answer: Answer) -> None:
        """Take note of an answer; a case that broke an earlier process has its place there."""
        there = self.cases.setdefault(answer.process, [])
        first = self.cases.setdefault(answer.unrepeated.process, []) if answer.unrepeated else there
        process = answer.unrepeated.process if answer.unrepeated else answer.process
        self.places[name] = process, len(first)
        there.append(name)

    def before(self, name: str) -> tuple[str, ...]:
        """Return the cases that the process of ``name`` had answered before."""
        process, place = self.places.get(name, (0, 0))
        return tuple(self.cases.get(process, ())[:place])
