"""What the results of a case are folded from, and whether the order of folding shows."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from conformance.cases.case import Case
from conformance.judging.numbers.column import Column
from conformance.judging.numbers.contributions import FoldedResult, contributions, unlike_columns
from conformance.judging.numbers.order import order_shows, several_right


@dataclass(frozen=True)
class Folds:
    """The folds of a case, which is ``legal`` or not. Where it is a ``part_of`` another, only ``results`` of that."""

    case: Case
    legal: bool
    results: AbstractSet[str]
    part_of: Folds | None = None

    @cached_property
    def by_result(self) -> dict[str, FoldedResult]:
        """Return what the elements of results are folded from that are folded from inputs."""
        if self.part_of is not None:
            return {name: each for name, each in self.part_of.by_result.items() if name in self.results}
        return contributions(self.case)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the different columns of terms that a legal reduction of floats folds; see ``judging.column``."""
        return unlike_columns(self.by_result.values()) if self.legal else ()

    @cached_property
    def order_shows(self) -> bool:
        """Return whether the order in which members are taken may show in a result, so that several are right."""
        return self.legal and order_shows(self.case)

    @cached_property
    def several_right(self) -> bool:
        """Return whether some fold has several right results, also one of what steps made or that storage holds."""
        return self.legal and several_right(self.case)
