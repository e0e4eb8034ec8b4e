"""A suite: one side of what operations promise, with the cases that show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from conformance.cases.case import Case
from conformance.judging.clause import Clause
from conformance.specs.domains.choices import Choice

WEIGHT: Final = {
    "all_reduce": 3.0,
    "reduce": 1.5,
    "reduce_scatter": 1.5,
    **dict.fromkeys(("axis_index", "axis_size", "barrier", "reduce_constant"), 1 / 3),
}
"""How many more or fewer cases an operation has than others. Dtypes and reductions come to 132 pairs. Those that take
no block have little to differ in: of 300 barriers, 120 did."""


@dataclass(frozen=True)
class Suite:
    """Cases to draw for each operation of the suite, and the clauses that only its cases trigger.

    ``share`` is the part of a run's examples that the suite draws for each of its operations, times its ``WEIGHT``.
    """

    name: str
    summary: str
    domains: Mapping[str, Choice[Case]]
    clauses: tuple[Clause, ...] = ()
    share: float = 1.0

    def drawn(self, op: str, examples: int) -> int:
        """Return how many cases of an operation are drawn where ``examples`` are asked for."""
        return max(1, round(examples * self.share * WEIGHT.get(op, 1.0)))
