"""axis_size: the number of members of every rank's group."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import partition


@operation("query", readers="nobody", groups="any")
def axis_size(*, groups: Groups) -> list[Array]:
    """Return the size of each rank's own group as an int32 without axes."""
    partition(groups, sum(len(group) for group in groups))
    sizes = {rank: len(group) for group in groups for rank in group}
    return [np.array(sizes[rank], np.int32) for rank in sorted(sizes)]
