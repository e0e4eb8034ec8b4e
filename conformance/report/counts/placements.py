"""What each step on sharded tensors came to, by how its operands and its result lie on the devices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from conformance.report.counts.columns import Column

Row = tuple[str, str, str]
"""An operation, how its operands lie, and how its result does."""


class PlacementCounts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Steps of one backend (by label), operation and placements, each of which alone made a value or was refused.

    ``moved`` are the bytes that went from device to device in the ``counted`` steps for which they were counted, and
    ``size`` those of the operands of these.
    """

    backend: str
    op: str
    given: str
    made: str
    right: int = 0
    wrong: int = 0
    refused: int = 0
    counted: int = 0
    moved: int = 0
    size: int = 0

    @property
    def words(self) -> str:
        """Return what they came to, for people."""
        found = ((self.wrong, "wrong"), (self.right, "right"), (self.refused, "refused"))
        return ", ".join(f"{count:,} {word}" for count, word in found if count)

    @property
    def traffic(self) -> str:
        """Return the bytes moved for each byte of the operands, for people; nothing where none were counted."""
        if not self.counted:
            return ""
        return f"moves {self.moved / self.size:.3g}" if self.size else f"moves {self.moved:,} B"


def placements(judged: Sequence[Column]) -> Iterator[PlacementCounts]:
    """Yield the steps by operation, placements and backend."""
    counts: defaultdict[tuple[Row, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for column in judged:
        for step in (step for record in column.records for step in record.steps):
            mine = counts[(step.op, step.given, step.made), column.label]
            mine[step.found] += 1
            if step.moved is not None:
                mine["counted"] += 1
                mine["moved"] += step.moved
                mine["size"] += step.size
    for ((op, given, made), backend), found in sorted(counts.items()):
        yield PlacementCounts(backend=backend, op=op, given=given, made=made, **found)


def table(found: Sequence[PlacementCounts], backends: Sequence[str]) -> list[tuple[Row, list[PlacementCounts | None]]]:
    """Return rows of an operation and placements, with what each backend made of them, if it met any."""
    known = {((one.op, one.given, one.made), one.backend): one for one in found}
    rows = dict.fromkeys((one.op, one.given, one.made) for one in found)
    return [(row, [known.get((row, backend)) for backend in backends]) for row in rows]
