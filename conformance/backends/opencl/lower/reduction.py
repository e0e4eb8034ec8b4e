"""Operations that reduce: which members want which reduction, folded by an algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from conformance.backends.opencl.graph.node import Collective, Fill, Movement, whole
from conformance.backends.opencl.graph.operations import FORMS
from conformance.backends.opencl.graph.reductions import of_nothing
from conformance.backends.opencl.lower import all_to_all, direct, naive, one_shot, ring, tree
from conformance.backends.opencl.lower.arrivals import operands
from conformance.backends.opencl.lower.folds import Folding
from conformance.backends.opencl.settings import Algorithm

Fold = Callable[[Folding, tuple[int, ...], tuple[int, ...]], dict[int, Movement]]
"""Take a reduction, its group and the positions that want it; return at least their end results, flat, by position."""

FOLDS: Final[dict[Algorithm, Fold]] = {
    "naive": naive.fold,
    "ring": ring.fold,
    "direct": direct.fold,
    "all_to_all": all_to_all.fold,
    "tree": tree.fold,
    "one_shot": one_shot.fold,
}

PIECEWISE: Final[dict[Algorithm, Algorithm]] = {"direct": "one_shot", "all_to_all": "naive"}
"""Where every member folds something of its own, these have no shards left to share out."""


def reduced(made: Collective, group: tuple[int, ...], algorithm: Algorithm) -> dict[int, Movement]:
    """Return the result of each member that receives one."""
    found: dict[int, Movement] = {}
    shape = made.blocks[group[0]].view.shape
    if any(shape[axis] == 0 for axis in made.attrs.get("local_axes", ())):
        return {rank: _of_nothing(made, rank) for rank in group}
    folded = FORMS[made.operation].folded
    if folded is None:
        wanted = tuple(p for p, rank in enumerate(group) if made.shapes[rank] is not None)
        found = FOLDS[algorithm](Folding(made, operands(made, group)), group, wanted)
    else:
        for position, rank in enumerate(group):
            terms = folded(made, group, position)
            fold = FOLDS[PIECEWISE.get(algorithm, algorithm)]
            own = fold(Folding(made, terms), group, (position,)) if terms else {position: _of_nothing(made, rank)}
            found |= own
    return {group[p]: whole(block.node, made.shape) for p, block in found.items()}


def _of_nothing(made: Collective, rank: int) -> Movement:
    value, size = of_nothing(made.dtype, made.attrs["op"]), math.prod(made.shape)
    return whole(Fill(rank, made.dtype, size, value), made.shape)
