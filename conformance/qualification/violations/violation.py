"""A schedule that is wrong in one way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.cases.schedule.schedule import Schedule

Schedules = Schedule | tuple[Schedule, Schedule] | tuple[Schedule, Schedule, Schedule]
"""A schedule, or as many as a clause compares."""


@dataclass(frozen=True)
class Violation:
    """A function that makes a schedule with a mistake. It is named after it, and its docstring says whose it was.

    ``corpus`` are the public reports it stands for, where no mutant of an engine does.
    """

    breaks: str
    make: Callable[[], Schedules]
    corpus: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the mistake as a word."""
        return self.make.__name__

    @property
    def doc(self) -> str:
        """Return the real defect it stands for."""
        return " ".join((self.make.__doc__ or "").split())


def violates(breaks: str, *corpus: str) -> Callable[[Callable[[], Schedules]], Violation]:
    """Return the decorator that makes of a function the violation of the clause ``breaks``."""
    return lambda make: Violation(breaks, make, corpus)
