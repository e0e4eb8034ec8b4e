"""Mistakes in reduce_scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.storage import head
from conformance.reference.operations.all_to_all import pieces
from conformance.reference.operations.reduce_scatter import reduce_scatter


class ReduceScatterIsOneStepShort(Reference):
    """The ring stops one hop early, and every member keeps the piece of its neighbour."""

    breaks = "reduce_scatter.C1"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        right = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        out = list(right)
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = right[group[p - 1]]
        return out


class ReduceScatterKeepsTheAxis(Reference):
    """Untiled pieces keep the axis they were cut from, with extent one."""

    breaks = "reduce_scatter.C2"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        right = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        return right if tiled else [np.expand_dims(piece, axis) for piece in right]


class ReduceScatterCutsTheStorage(Reference):
    """Pieces are equal runs of the reduced block's memory in the shape asked for: right along the first axis only."""

    breaks = "reduce_scatter.C3"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        right = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        if not tiled:
            return right
        flat = [block.reshape(-1) for block in blocks]
        return [
            piece.reshape(shaped.shape)
            for piece, shaped in zip(reduce_scatter(flat, axis=0, tiled=True, groups=groups, **how), right, strict=True)
        ]


class ReduceScatterMisshapesTheLastAxis(Reference):
    """jax#20125: the result's shape is put together from slices around an axis that was never made positive."""

    breaks = "reduce_scatter.C4"
    corpus = ("jax#20125",)
    outcome = "errored"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        right = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        shape = blocks[0].shape
        return right if tiled else [piece.reshape(shape[:axis] + shape[axis + 1 :]) for piece in right]


class ReduceScatterWrapsTheAxis(Reference):
    """The axis is taken modulo the number of axes before anybody checks it."""

    breaks = "reduce_scatter.C5"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        return reduce_scatter(blocks, axis=axis % max(blocks[0].ndim, 1), tiled=tiled, groups=groups, **how)


class ReduceScatterDropsTheRemainder(Reference):
    """Each member takes extent // size slices, and what is left over belongs to nobody."""

    breaks = "reduce_scatter.C6"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        size = max(len(groups[0]), 1)
        if tiled and -blocks[0].ndim <= axis < blocks[0].ndim:
            blocks = [head(block, axis, block.shape[axis] // size * size) for block in blocks]
        return reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)


class ReduceScatterIgnoresSurplusSlices(Reference):
    """Member p takes slice p; that there are more slices than members is never noticed."""

    breaks = "reduce_scatter.C7"

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        if not tiled and -blocks[0].ndim <= axis < blocks[0].ndim:
            blocks = [head(block, axis, len(groups[0])) for block in blocks]
        return reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)


class ReduceScatterForgetsTheReduction(Reference):
    """pytorch#149869: options with the reduction are built and then not handed on, so everything is a sum."""

    breaks = "reduction.C3"
    corpus = ("pytorch#149869/162338",)

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        return reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how | {"op": "sum"})


class ReduceScatterReducesInPlaceOfRankZero(Reference):
    """Aluminum#110: the whole reduction is collected in the input of rank 0, where one piece was meant to."""

    breaks = "collective.C2"
    corpus = ("Aluminum#110",)

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        out = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        if blocks[0].flags.writeable:
            with np.errstate(all="ignore"):
                blocks[0][...] = np.sum(np.stack(blocks), axis=0).astype(blocks[0].dtype)
        return out


class ReduceScatterReadsBesideIt(Reference):
    """mpich#1594: reduced in place, piece p is looked for where it was computed, though it was moved to the front."""

    breaks = "reduce_scatter.C1"
    corpus = ("mpich#1594",)

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        out = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        for group in groups:
            for p, rank in enumerate(group):
                own = pieces(blocks[rank], len(group), axis, tiled=tiled)
                out[rank] = own[p].astype(out[rank].dtype) if p else out[rank]
        return out
