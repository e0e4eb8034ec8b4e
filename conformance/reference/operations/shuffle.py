"""shuffle: permute, written as the list of sources."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import equal_sizes, partition
from conformance.reference.operations.permute import permute
from conformance.reference.rejection import Rejected


@operation("exchange")
def shuffle(blocks: list[Array], *, sources: tuple[int, ...], groups: Groups) -> list[Array]:
    """Return at position p the block of position ``sources[p]``; ``sources`` is a permutation (``shuffle.C2``)."""
    size = equal_sizes(partition(groups, len(blocks)))
    if sorted(sources) != list(range(size)):
        raise Rejected("shuffle.C2", f"sources {list(sources)} must list each of the {size} positions once")
    return permute(blocks, pairs=tuple((source, p) for p, source in enumerate(sources)), groups=groups)
