"""all_to_all: member q's piece p becomes member p's piece q."""

from __future__ import annotations

import numpy as np

from conformance.cases.dtypes import Array
from conformance.cases.program import Groups
from conformance.reference.groups import axis_in, equal_sizes, partition
from conformance.reference.reduce_scatter import pieces_of


def all_to_all(blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups) -> list[Array]:
    """Return, at position p, the p-th pieces along ``split_axis`` of every member, joined at ``concat_axis``.

    Tiled pieces keep the split axis and are concatenated. Untiled pieces have extent 1, lose the split
    axis and are stacked at ``concat_axis`` of the result.
    """
    size = equal_sizes(partition(groups, len(blocks)))
    split = axis_in(split_axis, blocks[0].ndim, "all_to_all.C5")
    concat = axis_in(concat_axis, blocks[0].ndim, "all_to_all.C6")
    pieces_of(blocks[0].shape[split], size, tiled, "all_to_all.C7", "all_to_all.C8")
    out = list(blocks)
    for group in groups:
        pieces = [np.split(blocks[member], size, split) for member in group]
        for p, rank in enumerate(group):
            received = [pieces[q][p] for q in range(size)]
            if tiled:
                out[rank] = np.concatenate(received, concat)
            else:
                out[rank] = np.stack([piece.squeeze(split) for piece in received], concat)
    return out
