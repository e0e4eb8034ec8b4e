"""Mistakes in gather."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.every_operation import Blocks, over
from conformance.qualification.mutants.storage import flat_storage
from conformance.reference.operations.all_gather import all_gather
from conformance.reference.operations.gather import gather


class GatherStartsWithTheRoot(Reference):
    """The root copies its own block first and then waits for the others."""

    breaks = "gather.C1"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        first = tuple((group[root], *(rank for rank in group if rank != group[root])) for group in groups)
        return gather(blocks, root=0, axis=axis, tiled=tiled, groups=first)


class GatherStacksInFront(Reference):
    """The list of blocks that other libraries return becomes the first axis, whatever was asked."""

    breaks = "gather.C2"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        right = gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        return right if tiled else gather(blocks, root=root, axis=0, tiled=tiled, groups=groups)


class GatherJoinsInFront(Reference):
    """Blocks arrive one after another in one buffer, which joins them along the first axis whatever was asked."""

    breaks = "gather.C3"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        right = gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        return gather(blocks, root=root, axis=0, tiled=tiled, groups=groups) if tiled else right


class GatherIgnoresTheRoot(Reference):
    """tinygrad#14482: the ring leaves the whole on one device and never asks which one was wanted."""

    breaks = "gather.C4"
    corpus = ("tinygrad#14482",)

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        return gather(blocks, root=0, axis=axis, tiled=tiled, groups=groups)


class GatherLetsEveryoneBeRoot(Reference):
    """Each member compares the root with its own position, and when nobody is root nobody complains."""

    breaks = "gather.C5"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        whole = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        roots = {rank for group in groups for p, rank in enumerate(group) if p == root}
        return [block if rank in roots else None for rank, block in enumerate(whole)]


class GatherWrapsTheAxis(Reference):
    """The axis is taken modulo the number of axes before anybody checks it."""

    breaks = "gather.C6"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        at = axis % max(blocks[0].ndim + (not tiled), 1)
        return gather(blocks, root=root, axis=at, tiled=tiled, groups=groups)


class GatherCountsFromTheBlock(Reference):
    """A negative axis is counted from the end of the block, which has one axis less than the result."""

    breaks = "gather.C7"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        right = gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        at = max(axis + blocks[0].ndim, 0)
        return gather(blocks, root=root, axis=at, tiled=tiled, groups=groups) if axis < 0 else right


class GatherReadsFlatStorage(Reference):
    """pytorch#159548: a strided column is sent as so many neighbouring elements of its storage."""

    breaks = "collective.C4"
    corpus = ("pytorch#159548",)

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        flat = [flat_storage(block) for block in blocks]
        return gather(flat, root=root, axis=axis, tiled=tiled, groups=groups)


class GatherSendsFortranOrder(Reference):
    """pytorch#74809: a transposed array is dense, hence sent as it lies, and arrives in the order of its transpose."""

    breaks = "collective.C4"
    corpus = ("pytorch#74809",)

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        sent = [block.T.reshape(block.shape) if block.flags.f_contiguous else block for block in blocks]
        return gather(sent, root=root, axis=axis, tiled=tiled, groups=groups)


class GatherPadsAndAdds(Reference):
    """Every member puts its block into zeros and the root receives the sum: -0.0 + 0.0 is 0.0."""

    breaks = "collective.C18"

    def gather(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> Blocks:
        out = gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        with np.errstate(invalid="ignore"):
            return over(lambda block: block if block.dtype == np.bool_ else block + np.zeros_like(block), out)
