"""Mistakes in reduce."""

from __future__ import annotations

from typing import Any

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.every_operation import Blocks
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.reduce import reduce


class ReduceToOneLeavesAChunk(Reference):
    """tinygrad#14482: the ring scatters the reduction, and nobody gathers it on the one device that wants it."""

    breaks = "reduce.C1"
    corpus = ("tinygrad#14482",)

    def reduce(self, blocks: list[Array], *, root: int, groups: Groups, **how: Any) -> Blocks:
        out = reduce(blocks, root=root, groups=groups, **how)
        for group in groups:
            whole = out[group[root]]
            assert whole is not None
            out[group[root]] = whole[: -(-len(whole) // len(group))] if whole.ndim else whole
        return out


class ReduceToOneTakesAWorldRank(Reference):
    """The root's place in its group is handed to a call that wants its rank in the world."""

    breaks = "reduce.C2"

    def reduce(self, blocks: list[Array], *, root: int, groups: Groups, **how: Any) -> Blocks:
        reduce(blocks, root=root, groups=groups, **how)
        return [block if rank == root else None for rank, block in enumerate(all_reduce(blocks, groups=groups, **how))]


class ReduceToOneWrapsTheRoot(Reference):
    """A tree algorithm computes with (rank - root) modulo the size, which gives any root a meaning."""

    breaks = "reduce.C3"

    def reduce(self, blocks: list[Array], *, root: int, groups: Groups, **how: Any) -> Blocks:
        least = min(len(group) for group in groups)
        return reduce(blocks, root=root % max(least, 1), groups=groups, **how)


class ReduceToOneLeavesPartialsBehind(Reference):
    """pytorch#21480: the running partial result is kept in the input of every member but the root."""

    breaks = "collective.C2"
    corpus = ("pytorch#21480",)

    def reduce(self, blocks: list[Array], *, root: int, groups: Groups, **how: Any) -> Blocks:
        out = reduce(blocks, root=root, groups=groups, **how)
        for group in groups:
            for rank in group:
                if rank != group[root] and blocks[rank].flags.writeable:
                    # Of all members the root has a result, which no type says.
                    blocks[rank][...] = out[group[root]].astype(blocks[rank].dtype)  # type: ignore[union-attr]
        return out
