"""reduce_constant: the sum of one number that every member holds, with no data to move."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import partition
from conformance.reference.rejection import Rejected


@operation("query", readers="nobody", groups="any")
def reduce_constant(*, value: int, groups: Groups) -> list[Array]:
    """Return ``value`` times the size of each rank's own group as an int32 without axes (``reduce_constant.C1``)."""
    partition(groups, sum(len(group) for group in groups))
    sizes = {rank: len(group) for group in groups for rank in group}
    beyond = [value * size for size in sizes.values() if not -(2**31) <= value * size < 2**31]
    if beyond:
        raise Rejected("reduce_constant.C2", f"{beyond[0]} is outside the range of int32")
    return [np.array(value * sizes[rank], np.int32) for rank in sorted(sizes)]
