"""The situations and the steps of programs, counted."""

from __future__ import annotations

from functools import cache
from typing import Any

from conformance.cases.case import Case
from conformance.reference.rejection import Rejected
from conformance.reference.situations import CLASSES, FEATURES, Situation, situations, trigrams
from conformance.reference.spmd import evaluate
from conformance.runner.coverage.infeasible import reasons
from conformance.runner.coverage.interactions import Interactions, Table
from conformance.runner.records.record import Covered


class Coverage:
    """What the legal programs added so far have shown together. Where ranks go their own ways nothing is counted."""

    def __init__(self) -> None:
        """Start with no case."""
        self._met = Interactions(table())

    def add(self, case: Case) -> None:
        """Count one case."""
        found = met_in(case)
        if found:
            self._met.add(found, trigrams(case))

    def measured(self) -> dict[str, Covered]:
        """Return the shares of feasible pairs, triples and trigrams."""
        return self._met.measured()


@cache
def table() -> Table:
    """Return the table of case features, without the pairs that cannot meet."""
    return Table(FEATURES, CLASSES, [dict(word.split("=") for word in pair) for pair in reasons()])


def met_in(case: Case) -> list[Situation]:
    """Return the situation of each collective of a legal program; none where ranks go their own ways."""
    if case.troubled:
        return []
    read: list[list[Any]] = []
    try:
        evaluate(case, lambda _, operands: read.append(list(operands)))
    except Rejected:
        return []
    return list(situations(case, read))
