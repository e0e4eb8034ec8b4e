"""Mistakes in all_reduce."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import axis_in, partition
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.reductions import fold


class ReduceNeverNarrows(Reference):
    """Partial results are kept in a wider type, and the last cast back is forgotten."""

    breaks = "all_reduce.C1"

    def all_reduce(self, blocks: list[Array], **attrs: Any) -> list[Array]:
        wide = [block.astype(np.float64) if block.dtype == np.float32 else block for block in blocks]
        return all_reduce(wide, **attrs)


class ReduceForgetsTheVectorTail(Reference):
    """A kernel works on four elements at a time, and nobody works on what is left of a long block."""

    breaks = "all_reduce.C1"

    def all_reduce(self, blocks: list[Array], **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, **attrs)
        for result, block in zip(out, blocks, strict=True):
            if result.size > 32 and result.size % 4 and result.shape == block.shape:
                result.reshape(-1)[-(result.size % 4) :] = block.reshape(-1)[-(result.size % 4) :]
        return out


class ReduceChunksTheFirstAxis(Reference):
    """tinygrad#3000: the ring cuts the first axis of the block and not its elements; the rest stays as it was."""

    breaks = "all_reduce.C1"
    corpus = ("tinygrad#3000-thread",)

    def all_reduce(self, blocks: list[Array], *, groups: Groups, **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, groups=groups, **attrs)
        for group in groups:
            for rank in group if blocks[0].ndim and not attrs["local_axes"] else ():
                whole = len(blocks[0]) // len(group) * len(group)
                out[rank][whole:] = blocks[rank][whole:]
        return out


class ReduceKeepsLocalAxes(Reference):
    """Local axes are reduced with NumPy's keepdims, which a broadcast later wanted."""

    breaks = "all_reduce.C2"

    def all_reduce(self, blocks: list[Array], *, local_axes: tuple[int, ...], **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, local_axes=local_axes, **attrs)
        at = tuple(axis % blocks[0].ndim for axis in local_axes)
        return [np.expand_dims(block, at) for block in out]


class ReduceForgetsGroupsBesideLocalAxes(Reference):
    """With local axes the groups are dropped, and every member of the world is reduced."""

    breaks = "all_reduce.C6"

    def all_reduce(self, blocks: list[Array], *, local_axes: tuple[int, ...], groups: Groups, **attrs: Any) -> Any:
        right = all_reduce(blocks, local_axes=local_axes, groups=groups, **attrs)
        everybody = (tuple(rank for group in groups for rank in group),)
        return all_reduce(blocks, local_axes=local_axes, groups=everybody, **attrs) if local_axes else right


class MeanDividesByMembersAlone(Reference):
    """A mean over local axes divides by the number of members and not by the number of terms."""

    breaks = "all_reduce.C7"

    def all_reduce(
        self, blocks: list[Array], *, op: str, local_axes: tuple[int, ...], groups: Groups, **attrs: Any
    ) -> Any:
        out = all_reduce(blocks, op=op, local_axes=local_axes, groups=groups, **attrs)
        terms = math.prod(blocks[0].shape[axis] for axis in local_axes)
        return [(block * terms).astype(block.dtype) for block in out] if op == "mean" and local_axes else out


class ReduceWrapsLocalAxes(Reference):
    """Local axes are taken modulo the number of axes before anybody checks them."""

    breaks = "all_reduce.C3"

    def all_reduce(self, blocks: list[Array], *, local_axes: tuple[int, ...], **attrs: Any) -> list[Array]:
        at = tuple(axis % blocks[0].ndim for axis in local_axes) if blocks[0].ndim else ()
        return all_reduce(blocks, local_axes=at, **attrs)


class ReduceCollectsLocalAxes(Reference):
    """Local axes are collected in a set, so an axis named twice is reduced once."""

    breaks = "all_reduce.C4"

    def all_reduce(self, blocks: list[Array], *, local_axes: tuple[int, ...], **attrs: Any) -> list[Array]:
        at = dict.fromkeys(axis_in(axis, blocks[0].ndim, "all_reduce.C3") for axis in local_axes)
        return all_reduce(blocks, local_axes=tuple(at), **attrs)


class ReduceOfNothingIsZero(Reference):
    """The accumulator starts at zero, and stays there for any reduction when nothing comes."""

    breaks = "all_reduce.C5"

    def all_reduce(self, blocks: list[Array], *, local_axes: tuple[int, ...], **attrs: Any) -> list[Array]:
        shape, ndim = list(blocks[0].shape), blocks[0].ndim
        empty = [axis for axis in local_axes if -ndim <= axis < ndim and shape[axis] == 0]
        for axis in empty:
            shape[axis] = 1
        some = [np.zeros(shape, block.dtype) for block in blocks] if empty else blocks
        return all_reduce(some, local_axes=local_axes, **attrs)


class MeanOfNothingIsZero(Reference):
    """A count of zero is replaced by one before anything is divided by it."""

    breaks = "reduction.C23"

    def all_reduce(self, blocks: list[Array], *, op: str, local_axes: tuple[int, ...], **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, op=op, local_axes=local_axes, **attrs)
        empty = any(blocks[0].shape[axis] == 0 for axis in local_axes)
        return [np.zeros_like(block) for block in out] if op == "mean" and empty else out


class ReduceLeavesPartialsBehind(Reference):
    """The running partial result is kept in the input of every rank but the first."""

    breaks = "collective.C2"

    def all_reduce(self, blocks: list[Array], *, groups: Groups, **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, groups=groups, **attrs)
        for group in groups:
            for rank in group[1:]:
                if blocks[rank].flags.writeable and out[rank].shape == blocks[rank].shape:
                    blocks[rank][...] = out[rank].astype(blocks[rank].dtype)
        return out


class ReduceOverAnyGroups(Reference):
    """Groups are taken as they come: a rank in none of them takes no part, a rank in two of them takes part twice."""

    breaks = "collective.C5"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups, **_: Any) -> list[Array]:
        out = [fold([block], op) for block in blocks]
        for group in groups:
            members = [rank for rank in group if rank < len(blocks)]
            for rank in members:
                out[rank] = fold([blocks[member] for member in members], op)
        return out


class ReduceOfOneIsZero(Reference):
    """The accumulator is filled by the first message, and in a group of one no message comes."""

    breaks = "collective.C10"

    def all_reduce(self, blocks: list[Array], *, groups: Groups, **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, groups=groups, **attrs)
        for group in groups:
            for rank in group if len(group) == 1 else ():
                out[rank] = np.zeros_like(out[rank])
        return out


class ReduceByTheFirstGroupsSize(Reference):
    """The size of the first group is taken for that of all, so a larger one loses its last members."""

    breaks = "collective.C15"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups, **attrs: Any) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups, **attrs)
        for group in partition(groups, len(blocks)) if not attrs["local_axes"] else ():
            for rank in group:
                out[rank] = fold([blocks[member] for member in group[: len(groups[0])]], op, attrs["factor"])
        return out
