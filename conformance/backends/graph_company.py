"""What adapters have in common that run several graph cases as one: the values of each, or how it was refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from conformance.backends.exceptions import rank_error
from conformance.backends.graph_walk import Given
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import RankError


class CompanyAnswers:
    """What becomes of each case, by its place."""

    def __init__(self, cases: Sequence[GraphCase], *, adapts: bool) -> None:
        """Begin with nothing found; ``adapts`` is that of the backend."""
        self._cases, self._adapts = cases, adapts
        self.all: list[Given | RankError] = [{} for _ in cases]

    @property
    def rounds(self) -> int:
        """Return how many rounds the longest case has."""
        return max(len(case.rounds) for case in self._cases)

    def goes_on(self, place: int, number: int) -> bool:
        """Return whether a case has a round of that number, and was not refused."""
        return number < len(self._cases[place].rounds) and not isinstance(self.all[place], RankError)

    def add(self, place: int, given: Given) -> None:
        """Take what a round of a case gave."""
        known = self.all[place]
        assert not isinstance(known, RankError)
        known |= given

    def refused(self, place: int, error: RankError) -> None:
        """Take how a case was refused."""
        self.all[place] = error

    @contextlib.contextmanager
    def refusing(self, place: int) -> Iterator[None]:
        """Have whatever is raised be how a case is refused."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it raises is how the case is refused
            self.refused(place, rank_error(error, adapts=self._adapts))
