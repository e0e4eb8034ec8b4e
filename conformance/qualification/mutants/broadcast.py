"""Mistakes in broadcast."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.storage import flat_storage
from conformance.reference.operations.broadcast import broadcast


class BroadcastKnowsPowersOfTwo(Reference):
    """ompi#7523: the last, ragged subtree of a recursive doubling receives a wrong size and keeps what it had."""

    breaks = "broadcast.C1"
    corpus = ("ompi#7523 (#7410)",)

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        out = broadcast(blocks, root=root, groups=groups)
        for group in groups:
            for rank in group[1 << len(group).bit_length() - 1 :]:
                out[rank] = blocks[rank].copy()
        return out


class BroadcastViewsComplexAsReal(Reference):
    """pytorch#55375: complex numbers travel as pairs of reals, and nobody makes them complex again."""

    breaks = "broadcast.C1"
    corpus = ("pytorch#55375",)

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        out = broadcast(blocks, root=root, groups=groups)
        return [block[..., None].view(block.real.dtype) for block in out] if blocks[0].dtype.kind == "c" else out


class BroadcastTakesAWorldRank(Reference):
    """The root's place in its group is handed to a call that wants its rank in the world."""

    breaks = "broadcast.C2"

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        broadcast(blocks, root=root, groups=groups)
        return [blocks[root].copy() for _ in blocks]


class BroadcastWrapsTheRoot(Reference):
    """A tree algorithm computes with (rank - root) modulo the size, which gives any root a meaning."""

    breaks = "broadcast.C3"

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        sizes = [len(group) for group in groups]
        return broadcast(blocks, root=root % max(min(sizes), 1), groups=groups)


class BroadcastReadsFlatStorage(Reference):
    """pytorch#192920: the root sends the beginning of a strided tensor's storage."""

    breaks = "collective.C4"
    corpus = ("pytorch#192920",)

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        return broadcast([flat_storage(block) for block in blocks], root=root, groups=groups)


class BroadcastIsAMaskedSum(Reference):
    """Everybody but the root contributes zeros to a sum, which turns the root's -0.0 into 0.0."""

    breaks = "collective.C18"

    def broadcast(self, blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
        out = broadcast(blocks, root=root, groups=groups)
        if blocks[0].dtype == np.bool_:
            return out
        with np.errstate(invalid="ignore"):
            return [block + np.zeros_like(block) for block in out]
