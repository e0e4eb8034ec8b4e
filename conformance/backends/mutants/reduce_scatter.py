"""Mistakes in reduce_scatter."""

from __future__ import annotations

import numpy as np

from conformance.backends.mutants.storage import head
from conformance.backends.reference import Reference
from conformance.cases.dtypes import Array
from conformance.cases.program import Groups
from conformance.reference.all_reduce import REDUCTIONS
from conformance.reference.reduce_scatter import reduce_scatter


class ScatterIsOneStepShort(Reference):
    """The ring stops one hop early, and every member keeps the piece of its neighbour."""

    breaks = "reduce_scatter.C1"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        out = list(right)
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = right[group[p - 1]]
        return out


class ScatterKeepsTheAxis(Reference):
    """Untiled pieces keep the axis they were cut from, with extent one."""

    breaks = "reduce_scatter.C2"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        return right if tiled else [np.expand_dims(piece, axis) for piece in right]


class ScatterCutsTheStorage(Reference):
    """Pieces are equal runs of the reduced block's memory in the shape asked for: right along the first axis only."""

    breaks = "reduce_scatter.C3"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        if not tiled:
            return right
        flat = [block.reshape(-1) for block in blocks]
        return [
            piece.reshape(shaped.shape)
            for piece, shaped in zip(reduce_scatter(flat, op=op, axis=0, tiled=True, groups=groups), right, strict=True)
        ]


class ScatterMisshapesTheLastAxis(Reference):
    """jax#20125: the result's shape is put together from slices around an axis that was never made positive."""

    breaks = "reduce_scatter.C4"
    corpus = ("jax#20125",)
    outcome = "errored"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        shape = blocks[0].shape
        return right if tiled else [piece.reshape(shape[:axis] + shape[axis + 1 :]) for piece in right]


class ScatterWrapsTheAxis(Reference):
    """The axis is taken modulo the number of axes before anybody checks it."""

    breaks = "reduce_scatter.C5"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        return reduce_scatter(blocks, op=op, axis=axis % max(blocks[0].ndim, 1), tiled=tiled, groups=groups)


class ScatterDropsTheRemainder(Reference):
    """Each member takes extent // size slices, and what is left over belongs to nobody."""

    breaks = "reduce_scatter.C6"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        size = max(len(groups[0]), 1)
        if tiled and -blocks[0].ndim <= axis < blocks[0].ndim:
            blocks = [head(block, axis, block.shape[axis] // size * size) for block in blocks]
        return reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)


class ScatterIgnoresSurplusSlices(Reference):
    """Member p takes slice p; that there are more slices than members is never noticed."""

    breaks = "reduce_scatter.C7"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        if not tiled and -blocks[0].ndim <= axis < blocks[0].ndim:
            blocks = [head(block, axis, len(groups[0])) for block in blocks]
        return reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)


class ScatterDefaultsToSum(Reference):
    """A table of reductions is asked with a default."""

    breaks = "reduce_scatter.C8"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        known = op if op in REDUCTIONS else "sum"
        return reduce_scatter(blocks, op=known, axis=axis, tiled=tiled, groups=groups)


class ScatterForgetsTheReduction(Reference):
    """pytorch#149869: options with the reduction are built and then not handed on, so everything is a sum."""

    breaks = "reduce_scatter.C9"
    corpus = ("pytorch#149869/162338",)

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        return reduce_scatter(blocks, op="sum", axis=axis, tiled=tiled, groups=groups)


class ScatterCountsBoolsAsBool(Reference):
    """A sum of bools is their disjunction, as most libraries have it."""

    breaks = "reduce_scatter.C10"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        stand_in = {"sum": "max", "product": "min"} if blocks[0].dtype == np.bool_ else {}
        return reduce_scatter(blocks, op=stand_in.get(op, op), axis=axis, tiled=tiled, groups=groups)


class ScatterSumsIntegersInFloat32(Reference):
    """Integers pass through an accelerator's float pipeline, which has 24 bits and no wrap-around."""

    breaks = "reduce_scatter.C11"

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        dtype = blocks[0].dtype
        if dtype.kind not in "iu" or op not in ("sum", "product"):
            return right
        floats = [block.astype(np.float32) for block in blocks]
        sums = reduce_scatter(floats, op=op, axis=axis, tiled=tiled, groups=groups)
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return [np.clip(total.astype(np.float64), least, most).astype(dtype) for total in sums]


class ScatterReducesInPlaceOfRankZero(Reference):
    """Aluminum#110: the whole reduction is collected in the input of rank 0, where one piece was meant to."""

    breaks = "collective.C2"
    corpus = ("Aluminum#110",)

    def reduce_scatter(self, blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        out = reduce_scatter(blocks, op=op, axis=axis, tiled=tiled, groups=groups)
        if blocks[0].flags.writeable:
            with np.errstate(all="ignore"):
                blocks[0][...] = np.sum(np.stack(blocks), axis=0).astype(blocks[0].dtype)
        return out
