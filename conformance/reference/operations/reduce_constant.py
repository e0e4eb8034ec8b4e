"""reduce_constant: the sum of one number that every member holds, with no data to move."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import partition
from conformance.reference.rejection import Rejected


@operation("query", readers="nobody", groups="any")
# A whole number is no float: the union says what is read of a file, and not what a call may be given.
def reduce_constant(*, value: bool | int | float, groups: Groups) -> list[Array]:  # noqa: PYI041
    """Return ``value`` times the size of each rank's own group, without axes.

    It is an int32 (``reduce_constant.C1``), a bool being 0 or 1, and of a float a float32 (``reduce_constant.C3``).
    """
    partition(groups, sum(len(group) for group in groups))
    sizes = {rank: len(group) for group in groups for rank in group}
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            return [np.array(value * sizes[rank], np.float32) for rank in sorted(sizes)]
    beyond = [value * size for size in sizes.values() if not -(2**31) <= value * size < 2**31]
    if beyond:
        raise Rejected("reduce_constant.C2", f"{beyond[0]} is outside the range of int32")
    return [np.array(value * sizes[rank], np.int32) for rank in sorted(sizes)]
