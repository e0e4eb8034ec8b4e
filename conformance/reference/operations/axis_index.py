"""axis_index: every rank's position along the named axes."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import partition


@operation("query", readers="nobody", groups="any")
def axis_index(*, groups: Groups) -> list[Array]:
    """Return the position of each rank in its group as an int32 without axes."""
    partition(groups, sum(len(group) for group in groups))
    positions = {rank: position for group in groups for position, rank in enumerate(group)}
    return [np.array(positions[rank], np.int32) for rank in sorted(positions)]
