"""How many kernels backends make of the rows, beside what tinygrad's tests expect."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from conformance.backends.base import Backend
from conformance.bench.graphs.rows import Row, rows
from conformance.bench.graphs.sharded_rows import sharded_rows
from conformance.cases.schedule.schedule import Kernel, leaves


class Counted(msgspec.Struct, frozen=True):
    """One row: kernels by backend, ``None`` where one gave no schedule, with what it said in ``errors``."""

    number: int
    what: str
    old: int | None
    new: int | None
    kernels: dict[str, int | None]
    errors: dict[str, str]

    @property
    def most(self) -> int:
        """Return the larger of what is expected."""
        return max(each for each in (self.old, self.new) if each is not None)

    @property
    def least(self) -> int:
        """Return the smaller of what is expected."""
        return min(each for each in (self.old, self.new) if each is not None)


def counted(backends: Sequence[tuple[str, Backend]]) -> list[Counted]:
    """Return the kernels that each backend makes of each row."""
    every = sorted((*rows(), *sharded_rows()), key=lambda row: row.number)
    return [_row(row, backends) for row in every]


def _row(row: Row, backends: Sequence[tuple[str, Backend]]) -> Counted:
    kernels: dict[str, int | None] = {}
    errors: dict[str, str] = {}
    for name, backend in backends:
        try:
            made = backend.schedule(row.case.graph)
        except Exception as error:  # noqa: BLE001 - what a backend raises is said in its place
            kernels[name], errors[name] = None, f"{type(error).__name__}: {error}"
        else:
            kernels[name] = sum(isinstance(item, Kernel) for item, _ in leaves(made))
    return Counted(row.number, row.what, row.old, row.new, kernels, errors)
