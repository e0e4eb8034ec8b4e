"""What the cases of one backend and operation came to in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.history.outline import CaseOutline, Key
from conformance.runner.outcomes import FAILING

COUNTS: Final = ("passed", "must", "should", "known", "unsupported", "owed")
"""``must`` and ``should`` count failures by the requirement of the clause to blame, ``known`` those expected so."""


CellRow = tuple[Any, ...]
"""A backend, an operation, the ``COUNTS``, and seconds."""


def cells(seen: Mapping[Key, CaseOutline]) -> Iterator[CellRow]:
    """Yield backend, operation, the ``COUNTS`` and the seconds of every cell that has a case."""
    counted: dict[tuple[str, str], list[float]] = {}
    for one in seen.values():
        row = counted.get((one.backend, one.op))
        if row is None:
            row = counted[one.backend, one.op] = [0] * len(COUNTS) + [0.0]
        row[_place(one)] += 1
        row[-1] += one.seconds
    for key, row in counted.items():
        yield (*key, *(int(count) for count in row[:-1]), round(row[-1], 6))


def _place(one: CaseOutline) -> int:
    if one.outcome == "passed":
        return 0
    if one.outcome in FAILING:
        return 3 if one.known else 1 if one.severity == 3 else 2
    return 4 if one.outcome == "unsupported" else 5
