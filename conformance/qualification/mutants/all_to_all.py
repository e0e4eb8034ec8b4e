"""Mistakes in all_to_all."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.storage import head
from conformance.reference.operations.all_to_all import all_to_all


class ExchangeWithoutTheLastRotation(Reference):
    """Bruck's algorithm leaves the pieces rotated by the member's position, and the last local step is missing."""

    breaks = "all_to_all.C1"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        out = all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = np.roll(out[rank], -p * out[rank].shape[concat_axis] // len(group), concat_axis)
        return out


class ExchangeCountsTheSplitAxis(Reference):
    """The new axis is put where the concat axis was in the block, which still had the split axis before it."""

    breaks = "all_to_all.C2"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        right = all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)
        ndim = blocks[0].ndim
        if tiled or concat_axis % ndim <= split_axis % ndim:
            return right
        at = concat_axis % ndim - 1
        return all_to_all(blocks, split_axis=split_axis, concat_axis=at, tiled=tiled, groups=groups)


class ExchangeInterleaves(Reference):
    """Received pieces are stacked behind the concat axis and reshaped, so that they alternate element by element."""

    breaks = "all_to_all.C3"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        out = all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)
        if not tiled:
            return out
        pieces = [np.stack(np.split(block, len(groups[0]), concat_axis), concat_axis % block.ndim + 1) for block in out]
        return [piece.reshape(block.shape) for piece, block in zip(pieces, out, strict=True)]


class ExchangeKnowsNoNegativeAxis(Reference):
    """jax#19720: negative axes work for all_gather only, here they are refused."""

    breaks = "all_to_all.C4"
    corpus = ("jax#19720",)
    outcome = "errored"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        if split_axis < 0 or concat_axis < 0:
            raise ValueError(f"axes must not be negative, got {split_axis} and {concat_axis}")
        return all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)


class ExchangeWrapsTheSplitAxis(Reference):
    """The split axis is taken modulo the number of axes before anybody checks it."""

    breaks = "all_to_all.C5"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        at = split_axis % max(blocks[0].ndim, 1)
        return all_to_all(blocks, split_axis=at, concat_axis=concat_axis, tiled=tiled, groups=groups)


class ExchangeWrapsTheConcatAxis(Reference):
    """The concat axis is taken modulo the number of axes before anybody checks it."""

    breaks = "all_to_all.C6"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        at = concat_axis % max(blocks[0].ndim, 1)
        return all_to_all(blocks, split_axis=split_axis, concat_axis=at, tiled=tiled, groups=groups)


class ExchangeDropsTheRemainder(Reference):
    """pytorch#101380: without split sizes each piece has extent // size slices, and the rest is dropped unsaid."""

    breaks = "all_to_all.C7"
    corpus = ("pytorch#101380",)

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        size = max(len(groups[0]), 1)
        if tiled and -blocks[0].ndim <= split_axis < blocks[0].ndim:
            blocks = [head(block, split_axis, block.shape[split_axis] // size * size) for block in blocks]
        return all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)


class ExchangeIgnoresSurplusSlices(Reference):
    """Slice p goes to member p; that there are more slices than members is never noticed."""

    breaks = "all_to_all.C8"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        if not tiled and -blocks[0].ndim <= split_axis < blocks[0].ndim:
            blocks = [head(block, split_axis, len(groups[0])) for block in blocks]
        return all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)


class ExchangeJoinsWhereItSplits(Reference):
    """Only one axis is known, as in an exchange of rows: pieces are joined where they were cut."""

    breaks = "all_to_all.C9"

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)
        return all_to_all(blocks, split_axis=split_axis, concat_axis=split_axis, tiled=tiled, groups=groups)


class ExchangeReadsFortranOrder(Reference):
    """mpi4jax#176: the compiler chose another layout, and the call reads the memory as if it were in C order."""

    breaks = "collective.C4"
    corpus = ("mpi4jax#176",)

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        read = [block.T.reshape(block.shape) if block.flags.f_contiguous else block for block in blocks]
        return all_to_all(read, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)


class ExchangeWithTheWorld(Reference):
    """paddle#52495: the number of peers is the world's, so groups other than the default exchange across borders."""

    breaks = "all_to_all.C1"
    corpus = ("paddle#52495",)

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        right = all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)
        world = (tuple(range(len(blocks))),)
        if blocks[0].shape[split_axis] % len(blocks) or not tiled:
            return right
        return all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=world)


class ExchangeSortsTheSenders(Reference):
    """stablehlo#2433: senders are visited by their rank and not by their position in the group."""

    breaks = "all_to_all.C1"
    corpus = ("stablehlo#2433",)

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        ordered = list(blocks)
        for group in groups:
            for member, sender in zip(group, sorted(group), strict=True):
                if sender < len(blocks) and member < len(blocks):
                    ordered[member] = blocks[sender]
        return all_to_all(ordered, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)


class ExchangeAssumesNeighbours(Reference):
    """jax#5861: a group is taken for so many consecutive ranks from its least, which interleaved groups are not."""

    breaks = "collective.C9"
    corpus = ("jax#5861",)

    def all_to_all(
        self, blocks: list[Array], *, split_axis: int, concat_axis: int, tiled: bool, groups: Groups
    ) -> list[Array]:
        right = all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=groups)
        runs = tuple(tuple(range(start, start + len(groups[0]))) for start in range(0, len(blocks), len(groups[0])))
        if all(list(group) == sorted(group) for group in groups):
            return all_to_all(blocks, split_axis=split_axis, concat_axis=concat_axis, tiled=tiled, groups=runs)
        return right
