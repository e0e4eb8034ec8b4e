"""Mistakes in all_reduce."""

from __future__ import annotations

import functools
from typing import Final

import ml_dtypes
import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.dtypes import Array
from conformance.cases.program import Groups
from conformance.reference.all_reduce import REDUCTIONS, all_reduce, fold
from conformance.reference.groups import partition


class ReduceNeverNarrows(Reference):
    """Partial results are kept in a wider type, and the last cast back is forgotten."""

    breaks = "all_reduce.C1"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        wide = [block.astype(np.float64) if block.dtype == np.float32 else block for block in blocks]
        return all_reduce(wide, op=op, groups=groups)


class ReduceForgetsTheLast(Reference):
    """A loop over the peers ends one too early."""

    breaks = "all_reduce.C2"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        for group in groups:
            for rank in group if op == "sum" else ():
                out[rank] = fold([blocks[member] for member in group[:-1] or group], op, "all_reduce.C8")
        return out


class ReduceChunksTheFirstAxis(Reference):
    """tinygrad#3000: the ring cuts the first axis of the block and not its elements; the rest stays as it was."""

    breaks = "all_reduce.C2"
    corpus = ("tinygrad#3000-thread",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        for group in groups:
            for rank in group if blocks[0].ndim else ():
                whole = len(blocks[0]) // len(group) * len(group)
                out[rank][whole:] = blocks[rank][whole:]
        return out


class ReduceForgetsTheVectorTail(Reference):
    """A kernel works on four elements at a time, and nobody works on what is left of a long block."""

    breaks = "all_reduce.C1"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        for result, block in zip(out, blocks, strict=True):
            if block.size > 32 and block.size % 4:
                result.reshape(-1)[-(block.size % 4) :] = block.reshape(-1)[-(block.size % 4) :]
        return out


class ReduceInBfloat16(Reference):
    """jax#27496: the reduction is placed before the cast to the wider type, so it runs in the narrow one."""

    breaks = "all_reduce.C2"
    corpus = ("jax#27496",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        if blocks[0].dtype != np.float32 or op != "sum":
            return all_reduce(blocks, op=op, groups=groups)
        narrow = all_reduce([block.astype(ml_dtypes.bfloat16) for block in blocks], op=op, groups=groups)
        return [block.astype(np.float32) for block in narrow]


class ReduceFloat64InFloat32(Reference):
    """Double precision is switched off by default, and the result is widened to look as if it were not."""

    breaks = "all_reduce.C2"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        if blocks[0].dtype != np.float64 or op != "sum":
            return all_reduce(blocks, op=op, groups=groups)
        narrow = all_reduce([block.astype(np.float32) for block in blocks], op=op, groups=groups)
        return [block.astype(np.float64) for block in narrow]


THEIRS: Final = {"sum": "sum", "product": "max", "min": "min", "max": "sum"}
"""The reduction that another library's enumeration has at the same place (its mean shown as the sum it starts with)."""


class ReduceByAnotherEnumeration(Reference):
    """MS-AMP#38: the number of a reduction is handed to a library that numbers them in another order."""

    breaks = "all_reduce.C3"
    corpus = ("MS-AMP#38",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=THEIRS.get(op, op), groups=groups)
        return [result.astype(blocks[0].dtype) for result in out] if op == "max" else out


class ReduceMaxAdds(Reference):
    """tinygrad#3175: the simple algorithm was written for sums and adds whatever was asked."""

    breaks = "all_reduce.C4"
    corpus = ("tinygrad#3175",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        return all_reduce(blocks, op="sum" if op == "max" else op, groups=groups)


class ReduceMinStartsAtZero(Reference):
    """ompi#259: the sentinel for an input in place is not recognised and a zeroed buffer takes part."""

    breaks = "all_reduce.C5"
    corpus = ("ompi#259",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        return [np.minimum(result, np.zeros_like(result)) for result in out] if op == "min" else out


class ReduceCountsBoolsAsBool(Reference):
    """A sum of bools is their disjunction, as most libraries have it."""

    breaks = "all_reduce.C6"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        stand_in = {"sum": "max", "product": "min"} if blocks[0].dtype == np.bool_ else {}
        return all_reduce(blocks, op=stand_in.get(op, op), groups=groups)


class ReduceSaturates(Reference):
    """Integer sums stop at the extremes of their type, as packed instructions for pixels do."""

    breaks = "all_reduce.C7"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        dtype = blocks[0].dtype
        if op == "sum" and dtype.kind in "iu":
            wide = all_reduce([block.astype(np.int64) for block in blocks], op=op, groups=groups)
            out = [np.clip(total, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype) for total in wide]
        return out


class ReduceDefaultsToSum(Reference):
    """A chain of comparisons for the reduction ends in an else."""

    breaks = "all_reduce.C8"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        return all_reduce(blocks, op=op if op in REDUCTIONS else "sum", groups=groups)


class ReduceAddsBoolBytes(Reference):
    """pytorch#191978: bools travel as bytes and are added, so two of them that hold make the byte 2."""

    breaks = "collective.C3"
    corpus = ("pytorch#191978 / #41959",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        for group in groups if blocks[0].dtype == np.bool_ and op == "max" else ():
            added = functools.reduce(np.add, [np.array(blocks[member]).view(np.uint8) for member in group])
            for rank in group:
                out[rank] = added.copy().view(np.bool_)
        return out


class ReduceLeavesPartialsBehind(Reference):
    """pytorch#21480: the running partial result is kept in the input of every rank but the first."""

    breaks = "collective.C2"
    corpus = ("pytorch#21480",)

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        for group in groups:
            for rank in group[1:]:
                if blocks[rank].flags.writeable:
                    blocks[rank][...] = out[rank].astype(blocks[rank].dtype)
        return out


class ReduceOverAnyGroups(Reference):
    """Groups are taken as they come: a rank in none of them takes no part, a rank in two of them takes part twice."""

    breaks = "collective.C5"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = [fold([block], op, "all_reduce.C8") for block in blocks]
        for group in groups:
            members = [rank for rank in group if rank < len(blocks)]
            for rank in members:
                out[rank] = fold([blocks[member] for member in members], op, "all_reduce.C8")
        return out


class ReduceOfOneIsZero(Reference):
    """The accumulator is filled by the first message, and in a group of one no message comes."""

    breaks = "collective.C10"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = all_reduce(blocks, op=op, groups=groups)
        for group in groups:
            for rank in group if len(group) == 1 else ():
                out[rank] = np.zeros_like(out[rank])
        return out


class ReduceByTheFirstGroupsSize(Reference):
    """The size of the first group is taken for that of all, so a larger one loses its last members."""

    breaks = "collective.C15"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = list(blocks)
        for group in partition(groups, len(blocks)):
            for rank in group:
                out[rank] = fold([blocks[member] for member in group[: len(groups[0])]], op, "all_reduce.C8")
        return out
