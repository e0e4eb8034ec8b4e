"""all_to_all: member q's piece p becomes member p's piece q."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import axis_in, equal_sizes, partition, pieces_of
from conformance.reference.operations.all_gather import joined


@operation("exchange")
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
        sent = [pieces(blocks[member], size, split, tiled=tiled) for member in group]
        for p, rank in enumerate(group):
            out[rank] = joined([sent[q][p] for q in range(size)], concat, tiled=tiled)
    return out


def pieces(block: Array, size: int, axis: int, *, tiled: bool) -> list[Array]:
    """Return ``block`` split into ``size`` fresh pieces along ``axis``, which untiled pieces lose."""
    return [piece.copy() if tiled else piece.squeeze(axis).copy() for piece in np.split(block, size, axis)]
