"""arg_reduce: for every element, the position of the member that holds the greatest or the least."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.groups import partition
from conformance.reference.reductions import check, fold
from conformance.reference.rejection import Rejected

NOWHERE: Final = np.int32(2**31 - 1)
"""The position of a NaN: no element equals it, so no member holds it."""


@operation("reduce", groups="any")
def arg_reduce(blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
    """Return int32 positions: the first member whose element equals the ``max`` or ``min`` (``arg_reduce.C1``)."""
    if op not in ("max", "min"):
        raise Rejected("arg_reduce.C6", f"arg_reduce of {op!r}: max and min have a position")
    check(logical(blocks[0].dtype), op)
    out = list(blocks)
    for group in partition(groups, len(blocks)):
        extreme = fold([blocks[member] for member in group], op)
        position = np.full(extreme.shape, NOWHERE)
        for p, member in reversed(list(enumerate(group))):
            position[blocks[member] == extreme] = p
        for rank in group:
            out[rank] = position.copy()
    return out
