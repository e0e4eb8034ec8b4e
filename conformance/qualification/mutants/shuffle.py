"""Mistakes in shuffle."""

from __future__ import annotations

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import equal_sizes, partition
from conformance.reference.operations.shuffle import shuffle


class ShuffleListsDestinations(Reference):
    """The list is read as where each block goes and not as where it comes from."""

    breaks = "shuffle.C1"

    def shuffle(self, blocks: list[Array], *, sources: tuple[int, ...], groups: Groups) -> list[Array]:
        shuffle(blocks, sources=sources, groups=groups)
        inverse = tuple(sources.index(p) for p in range(len(sources)))
        return shuffle(blocks, sources=inverse, groups=groups)


class ShuffleIndexesAnyList(Reference):
    """Blocks are picked by index, so a source may be named twice and another not at all."""

    breaks = "shuffle.C2"

    def shuffle(self, blocks: list[Array], *, sources: tuple[int, ...], groups: Groups) -> list[Array]:
        if len(sources) != equal_sizes(partition(groups, len(blocks))):
            return shuffle(blocks, sources=sources, groups=groups)
        out = list(blocks)
        for group in groups:
            for rank, source in zip(group, sources, strict=True):
                out[rank] = blocks[group[source]].copy()
        return out
