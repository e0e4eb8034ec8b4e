"""Mistakes in all_gather."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import axis_in, partition
from conformance.reference.operations.all_gather import all_gather


class AllGatherStartsWithItself(Reference):
    """A ring appends blocks as they arrive, so every rank's own block comes first."""

    breaks = "all_gather.C1"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        out = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        at = axis % out[0].ndim
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = np.roll(out[rank], -p * out[rank].shape[at] // len(group), at)
        return out


class AllGatherStacksInFront(Reference):
    """The new axis is the first one whatever was asked, as in Torch's all_gather_into_tensor, which has no axis."""

    breaks = "all_gather.C2"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        out = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        return out if tiled else all_gather(blocks, axis=0, tiled=tiled, groups=groups)


class AllGatherJoinsInFront(Reference):
    """Blocks arrive one after another in one buffer, which joins them along the first axis whatever was asked."""

    breaks = "all_gather.C3"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        out = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        return all_gather(blocks, axis=0, tiled=tiled, groups=groups) if tiled else out


class AllGatherCountsFromTheBlock(Reference):
    """A negative axis is counted from the end of the block, which has one axis less than the result."""

    breaks = "all_gather.C4"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        at = axis + blocks[0].ndim if axis < 0 else axis
        return all_gather(blocks, axis=max(at, 0), tiled=tiled, groups=groups) if axis < 0 else right


class AllGatherFoldsTheWrongAxes(Reference):
    """jax#11194: two axes are folded into one by a slice assignment that is empty for axis -1."""

    breaks = "all_gather.C4"
    corpus = ("jax#11194",)
    outcome = "errored"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        if not tiled:
            return right
        stacked = all_gather(blocks, axis=axis % blocks[0].ndim, tiled=False, groups=groups)
        shape = list(stacked[0].shape)
        shape[axis : axis + 2] = [shape[axis] * shape[axis % blocks[0].ndim + 1]]
        return [block.reshape(shape) for block in stacked]


class AllGatherWrapsTheAxis(Reference):
    """The axis is taken modulo the number of axes before anybody checks it."""

    breaks = "all_gather.C5"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        rank = blocks[0].ndim + (not tiled)
        return all_gather(blocks, axis=axis % max(rank, 1), tiled=tiled, groups=groups)


class AllGatherTakesUnequalGroups(Reference):
    """Nobody checks that groups have one size, so results of different shapes leave one operation."""

    breaks = "collective.C6"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        at = axis_in(axis, blocks[0].ndim + (not tiled), "all_gather.C5")
        out = list(blocks)
        for group in partition(groups, len(blocks)):
            for rank in group:
                members = [blocks[member] for member in group]
                out[rank] = np.concatenate(members, at) if tiled else np.stack(members, at)
        return out


class AllGatherInAWorldOfOneIsTheBlock(Reference):
    """A single process skips the library call, and with it the new axis."""

    breaks = "collective.C12"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
        return [blocks[0].copy()] if len(blocks) == 1 else right


class AllGatherPadsAndAdds(Reference):
    """Every rank puts its block into zeros and the whole is summed: -0.0 + 0.0 is 0.0."""

    breaks = "collective.C18"

    def all_gather(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        with np.errstate(invalid="ignore"):
            padded = [block if block.dtype == np.bool_ else block + np.zeros_like(block) for block in blocks]
        return all_gather(padded, axis=axis, tiled=tiled, groups=groups)
