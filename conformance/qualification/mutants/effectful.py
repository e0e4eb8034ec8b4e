"""A base for mistakes about storage and waiting, which are made around whatever is computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference, Stored
from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.reference.effects import Effects, Ranks

Act = Callable[[], list[Ranks]]


class Effectful(Reference, ABC):
    """A reference that goes about storage and waiting as ``effects`` does."""

    ops: ClassVar[tuple[str, ...]] = ("all_reduce", "broadcast", "all_gather")

    @property
    @abstractmethod
    def effects(self) -> type[Stored]:
        """Return what is done instead."""

    def _effects(self, case: Case, placed: Placed) -> Effects:
        return self.effects(case, placed)


class Pending:
    """A started collective that has not happened yet, and what came of it once it has."""

    def __init__(self, act: Act) -> None:
        """Do nothing yet."""
        self._act = act
        self._results: list[Ranks] | None = None

    def results(self) -> list[Ranks]:
        """Return what comes of it, which happens now unless it has."""
        if self._results is None:
            self._results = self._act()
        return self._results


class Late(Stored):
    """Collectives happen when somebody waits for them."""

    def start(self, act: Act, step: Step) -> list[Any]:
        pending = Pending(act)
        return [(pending, position) for position in range(len(step.outputs))]

    def done(self, ticket: Any) -> Ranks:
        pending, position = ticket
        return pending.results()[position]


def unfinished(results: Ranks) -> Ranks:
    """Return the storage of results that nobody has written yet."""
    return [block if block is None else np.zeros_like(block) for block in results]
