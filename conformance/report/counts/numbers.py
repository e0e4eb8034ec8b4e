"""Which classes of admissible results a backend reached where the order of operations decides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from conformance.judging.numbers.classes import CLASSES
from conformance.report.counts.columns import Column


class ReachedClasses(msgspec.Struct, frozen=True, kw_only=True):
    """Passed cases whose partial results round, of one backend (by label), operation and dtype.

    ``cases`` has, strongest class first, the cases by the strongest one that all elements of their results belong to.
    """

    backend: str
    op: str
    dtype: str
    cases: dict[str, int]

    @property
    def words(self) -> str:
        """Return the classes with their cases, for people."""
        return ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in self.cases.items())


def reached(judged: Sequence[Column]) -> Iterator[ReachedClasses]:
    """Yield the classes by operation, dtype and backend."""
    counts: defaultdict[tuple[str, str], defaultdict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for column in judged:
        for record in column.records:
            if record.classes:
                counts[record.op, record.dtype][column.label][record.classes[0]] += 1
    for (op, dtype), by_backend in sorted(counts.items()):
        for backend, found in by_backend.items():
            ordered: dict[str, int] = {name: found[name] for name in CLASSES if found[name]}
            yield ReachedClasses(backend=backend, op=op, dtype=dtype, cases=ordered)


def table(found: Sequence[ReachedClasses], backends: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """Return rows of operation, dtype and the words of each backend, empty where it has none."""
    words = {(one.op, one.dtype, one.backend): one.words for one in found}
    rows = dict.fromkeys((one.op, one.dtype) for one in found)
    return [(op, dtype, [words.get((op, dtype, backend), "") for backend in backends]) for op, dtype in rows]
