"""Mistakes in scan."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations.scan import scan


class ScanFromTheLast(Reference):
    """The members are taken in descending order, as the transpose of a scan takes them."""

    breaks = "scan.C1"

    def scan(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Array]:
        return scan(blocks, groups=tuple(group[::-1] for group in groups), **how)


class ScanShiftsTheInclusive(Reference):
    """The pipeline passes on what it has received before it adds its own block, whichever form was asked for."""

    breaks = "scan.C2"

    def scan(self, blocks: list[Array], *, exclusive: bool, groups: Groups, **how: Any) -> list[Array]:
        del exclusive
        return scan(blocks, exclusive=True, groups=groups, **how)


class ScanIgnoresExclusive(Reference):
    """One kernel serves both forms, and the flag is lost on the way to it."""

    breaks = "scan.C3"

    def scan(self, blocks: list[Array], *, exclusive: bool, groups: Groups, **how: Any) -> list[Array]:
        del exclusive
        return scan(blocks, exclusive=False, groups=groups, **how)


class ScanLeavesTheFirstMember(Reference):
    """MPI_Exscan in place: the buffer of the first member is left as it was."""

    breaks = "scan.C4"

    def scan(self, blocks: list[Array], *, op: str, exclusive: bool, groups: Groups, **how: Any) -> list[Array]:
        out = scan(blocks, op=op, exclusive=exclusive, groups=groups, **how)
        for group in groups if exclusive and op != "mean" else ():
            out[group[0]] = blocks[group[0]].astype(out[group[0]].dtype)
        return out


class ScanMeansNothingAsZero(Reference):
    """The running sum starts at zero and is divided by one at least, so the mean of no blocks is zero."""

    breaks = "scan.C5"

    def scan(self, blocks: list[Array], *, op: str, exclusive: bool, groups: Groups, **how: Any) -> list[Array]:
        out = scan(blocks, op=op, exclusive=exclusive, groups=groups, **how)
        for group in groups if exclusive and op == "mean" else ():
            out[group[0]] = np.zeros_like(out[group[0]])
        return out
