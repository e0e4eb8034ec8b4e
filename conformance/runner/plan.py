"""What a run is to do: operations, suites, and how many cases of which seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from conformance.cases.case import Case
from conformance.runner.worker.answers import Limits
from conformance.specs import OPS, SUITES, clauses_of
from conformance.specs.domains.choose import Choice


@dataclass(frozen=True)
class Profile:
    """How much is drawn: ``examples`` for each operation, more until ``distinct`` of its cases differ."""

    examples: int
    distinct: int = 0


PROFILES: Final = {"default": Profile(300), "nightly": Profile(1_200, distinct=1_000)}
"""200 examples already reach every clause, with one seed as with another."""

EXAMPLES: Final = PROFILES["default"].examples


@dataclass(frozen=True)
class Draws:
    """The cases that one suite draws for one operation; see ``runner.draws.draw_cases``."""

    suite: str
    op: str
    domain: Choice[Case]
    examples: int
    distinct: int


@dataclass(frozen=True)
class Plan:
    """Operations and suites to run, examples drawn for each, and the seed.

    After ``time_budget`` seconds no new case is asked; each may go ``case_limit`` seconds without an answer.
    """

    ops: tuple[str, ...]
    examples: int
    seed: int = 0
    suites: tuple[str, ...] = tuple(SUITES)
    profile: str = "default"
    time_budget: float | None = None
    case_limit: float = Limits.case

    def draws(self) -> Iterator[Draws]:
        """Yield what is drawn, operation by operation."""
        for op in self.ops:
            for suite in (SUITES[name] for name in self.suites if op in SUITES[name].domains):
                yield self.of(suite.name, op)

    def of(self, suite: str, op: str) -> Draws:
        """Return what one suite draws for one operation."""
        chosen = SUITES[suite]
        examples = max(1, round(self.examples * chosen.share))
        distinct = round(PROFILES[self.profile].distinct * chosen.share)
        return Draws(suite, op, chosen.domains[op], examples, distinct)

    def suite_of(self, op: str, likely: str) -> str | None:
        """Return ``likely``, or else another suite of the plan that draws cases of ``op``; ``None`` if none does."""
        drawing = [name for name in self.suites if op in self.ops and op in SUITES[name].domains]
        return likely if likely in drawing else next(iter(drawing), None)

    def clauses(self) -> frozenset[str]:
        """Return the ids of the clauses that the cases should trigger: shared ones only where every operation runs."""
        own = {clause.id for op in self.ops for clause in OPS[op].clauses}
        whole = {clause.id: clause for op in self.ops for clause in clauses_of(op)}
        return frozenset(
            name
            for name, clause in whole.items()
            if clause.suite in self.suites and (name in own or len(self.ops) == len(OPS))
        )
