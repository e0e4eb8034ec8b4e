"""Mistakes in scatter."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.storage import flat_storage, head
from conformance.reference.operations.scatter import scatter


class ScatterGivesTheRootTheFirst(Reference):
    """A tree numbers members from its root, which therefore keeps piece 0."""

    breaks = "scatter.C1"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        turned = tuple(group[root:] + group[:root] for group in groups)
        return scatter(blocks, root=0, axis=axis, tiled=tiled, groups=turned)


class ScatterKeepsTheAxis(Reference):
    """Untiled pieces keep the axis they were cut from, with extent one."""

    breaks = "scatter.C2"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        return right if tiled else [np.expand_dims(piece, axis) for piece in right]


class ScatterCutsTheStorage(Reference):
    """Pieces are equal runs of the root's memory in the shape asked for: right along the first axis only."""

    breaks = "scatter.C3"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        flat = scatter([block.reshape(-1) for block in blocks], root=root, axis=0, tiled=True, groups=groups)
        return [run.reshape(piece.shape) for run, piece in zip(flat, right, strict=True)] if tiled else right


class ScatterTakesAWorldRank(Reference):
    """pytorch#79264: the root's place in its group is handed to a call that wants its rank in the world."""

    breaks = "scatter.C4"
    corpus = ("pytorch#79264",)

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        return scatter([blocks[root]] * len(blocks), root=root, axis=axis, tiled=tiled, groups=groups)


class ScatterMisshapesTheLastAxis(Reference):
    """The result's shape is put together from slices around an axis that was never made positive."""

    breaks = "scatter.C5"
    outcome = "errored"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        right = scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
        shape = blocks[0].shape
        return right if tiled else [piece.reshape(shape[:axis] + shape[axis + 1 :]) for piece in right]


class ScatterWrapsTheRoot(Reference):
    """A tree algorithm computes with (rank - root) modulo the size, which gives any root a meaning."""

    breaks = "scatter.C6"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        size = max(len(groups[0]), 1)
        return scatter(blocks, root=root % size, axis=axis, tiled=tiled, groups=groups)


class ScatterWrapsTheAxis(Reference):
    """The axis is taken modulo the number of axes before anybody checks it."""

    breaks = "scatter.C7"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        return scatter(blocks, root=root, axis=axis % max(blocks[0].ndim, 1), tiled=tiled, groups=groups)


class ScatterDropsTheRemainder(Reference):
    """Each member takes extent // size slices, and what is left over belongs to nobody."""

    breaks = "scatter.C8"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        size = max(len(groups[0]), 1)
        if tiled and -blocks[0].ndim <= axis < blocks[0].ndim:
            blocks = [head(block, axis, block.shape[axis] // size * size) for block in blocks]
        return scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)


class ScatterIgnoresSurplusSlices(Reference):
    """Member p takes slice p; that there are more slices than members is never noticed."""

    breaks = "scatter.C9"

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        if not tiled and -blocks[0].ndim <= axis < blocks[0].ndim:
            blocks = [head(block, axis, len(groups[0])) for block in blocks]
        return scatter(blocks, root=root, axis=axis, tiled=tiled, groups=groups)


class ScatterReadsFlatStorage(Reference):
    """pytorch#192920: the root sends the beginning of a strided tensor's storage."""

    breaks = "collective.C4"
    corpus = ("pytorch#192920",)

    def scatter(self, blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
        flat = [flat_storage(block) for block in blocks]
        return scatter(flat, root=root, axis=axis, tiled=tiled, groups=groups)
