"""A suite: one side of what operations promise, with the cases that show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.cases.case import Case
from conformance.judging.clause import Clause
from conformance.specs.domains.choose import Choice


@dataclass(frozen=True)
class Suite:
    """Cases to draw for each operation of the suite, and the clauses that only its cases trigger.

    ``share`` is the part of a run's examples that the suite draws for each of its operations.
    """

    name: str
    summary: str
    domains: Mapping[str, Choice[Case]]
    clauses: tuple[Clause, ...] = ()
    share: float = 1.0
