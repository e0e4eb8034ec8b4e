"""all_reduce: every member receives the reduction of its group's blocks."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

from conformance.cases.dtypes import Array
from conformance.cases.program import Groups
from conformance.reference.groups import partition
from conformance.reference.rejected import Rejected

REDUCTIONS: Final = {"sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum}


def fold(blocks: list[Array], op: str, clause: str) -> Array:
    """Return the blocks reduced from the left, in member order; an unknown ``op`` breaks ``clause``.

    bool is counted as int32 by sum and product; integers wrap; floats round after every operation.
    """
    if op not in REDUCTIONS:
        raise Rejected(clause, f"reduction {op!r} is unknown; known are {', '.join(REDUCTIONS)}")
    if blocks[0].dtype == np.bool_ and op in ("sum", "product"):
        blocks = [block.astype(np.int32) for block in blocks]
    with np.errstate(all="ignore"):
        return np.array(functools.reduce(REDUCTIONS[op], blocks), dtype=blocks[0].dtype)


def all_reduce(blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
    """Return, for each rank, the elementwise reduction of the blocks of its group (``all_reduce.C1``)."""
    out = list(blocks)
    for group in partition(groups, len(blocks)):
        for rank in group:
            out[rank] = fold([blocks[member] for member in group], op, "all_reduce.C8")
    return out
