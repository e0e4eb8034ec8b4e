"""all_to_all_uneven: member q's rows for member p, in parts of any size, along axis 0."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import equal_sizes, one_shape, partition
from conformance.reference.rejection import Rejected


@operation("exchange", differ="rows")
def all_to_all_uneven(blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
    """Return, at position p, the rows that every member q sends it, in member order.

    ``sends[q][p]`` rows of member q go to member p, and member p expects ``receives[p][q]`` rows of it.
    """
    size = equal_sizes(partition(groups, len(blocks)))
    for table in (sends, receives):
        if [len(row) for row in table] != [size] * size or min((n for row in table for n in row), default=0) < 0:
            raise Rejected("all_to_all_uneven.C4", f"split sizes are {size} rows of {size} counts, got {list(table)}")
    if receives != tuple(zip(*sends, strict=True)):
        raise Rejected("all_to_all_uneven.C5", f"sends {list(sends)} do not match receives {list(receives)}")
    one_shape([block[:0] for block in blocks if block.ndim])
    out = list(blocks)
    for group in groups:
        parts = [_parts(blocks[member], sends[q]) for q, member in enumerate(group)]
        for p, rank in enumerate(group):
            out[rank] = np.concatenate([parts[q][p] for q in range(size)])
    return out


def _parts(block: Array, counts: tuple[int, ...]) -> list[Array]:
    rows = block.shape[0] if block.ndim else 0
    if not block.ndim or sum(counts) != rows:
        raise Rejected(
            "all_to_all_uneven.C6", f"split sizes {list(counts)} must add up to the {rows} rows of the block"
        )
    return np.split(block, np.cumsum(counts)[:-1])
