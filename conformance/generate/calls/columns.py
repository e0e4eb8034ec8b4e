"""Columns of values that are reduced: which member of a group holds the value that matters.

A mistake about one member, or about the last of several terms, shows only where that member alone holds something
particular. Such columns stand side by side in one block, so that they meet whatever else the case has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array

KINDS: Final = 5
"""One member is particular: the last, the first, the one in the middle; or all of them, or the first and the last."""

TURNS: Final = 90
"""Where the kinds and values may begin; 0 leaves the first element as it is."""

HEAD: Final = 1024
TAIL: Final = 16
"""Elements of a long block that are columns of their own: at its beginning, and at its end."""


def columns(blocks: Sequence[Array], values: Array, groups: Groups, turn: int) -> list[Array]:
    """Return the blocks, one a rank and all of one shape, with every second element a column of its own kind.

    All values are of a pool, so that what stays exact there does here. Blocks over no group stay what they are.
    """
    size = blocks[0].size
    each = np.arange(min(size, HEAD))
    each = np.concatenate([each, np.arange(max(size - TAIL, len(each)), size)])
    each = each[(each + turn) % 2 == 1]
    step = (each + turn) // 2
    kind, count = step % KINDS, step // KINDS + turn
    # The last value of a pool is the one that is treated in its own way most often: NaN, or the end of a range.
    plain, other = values[(1 + count) % len(values)], values[(2 + 3 * count) % len(values)]
    particular = np.where(count % 2 == 1, values[-1], other)
    nonzero = values[values != 0]
    for group in groups:
        for at, rank in enumerate(group):
            if not 0 <= rank < len(blocks):
                continue  # groups that are no partition
            alone = (
                (kind == 0) & (at == len(group) - 1) | (kind == 1) & (at == 0) | (kind == 2) & (at == len(group) // 2)
            )
            ends = (kind == 4) & (at in (0, len(group) - 1))
            found = np.where(alone | ends, particular, plain)
            found = np.where(kind == 3, nonzero[(count + at) % len(nonzero)], found)
            blocks[rank].reshape(-1)[each] = found
    return list(blocks)
