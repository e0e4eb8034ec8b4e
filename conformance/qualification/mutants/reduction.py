"""Mistakes in what is done with the blocks of a group."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.qualification.mutants.every_operation import Blocks
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.all_to_all import pieces
from conformance.reference.operations.reduce import reduce
from conformance.reference.operations.reduce_scatter import reduce_scatter
from conformance.reference.reductions import ORDER, fold


class Folds(Reference, ABC):
    """A reference that folds the blocks of a group its own way, where the oracle accepts them."""

    ops = ("all_reduce", "reduce", "reduce_scatter")

    @abstractmethod
    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        """Return the blocks reduced by ``op``, or something else."""

    def all_reduce(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Array]:
        out = all_reduce(blocks, groups=groups, **how)
        for group in groups if not how["local_axes"] else ():
            for rank in group:
                out[rank] = self.fold([blocks[member] for member in group], how["op"], how["factor"])
        return out

    def reduce(self, blocks: list[Array], *, root: int, groups: Groups, **how: Any) -> Blocks:
        out = reduce(blocks, root=root, groups=groups, **how)
        for group in groups:
            out[group[root]] = self.fold([blocks[member] for member in group], how["op"], how["factor"])
        return out

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        out = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        for group in groups:
            folded = self.fold([blocks[member] for member in group], how["op"], how["factor"])
            for rank, piece in zip(group, pieces(folded, len(group), axis, tiled=tiled), strict=True):
                out[rank] = piece
        return out


class SumForgetsTheLast(Folds):
    """A loop over the peers ends one too early."""

    breaks = "reduction.C1"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold(blocks[:-1] or blocks, op, factor) if op == "sum" else fold(blocks, op, factor)


class SumInBfloat16(Folds):
    """jax#27496: the reduction is placed before the cast to the wider type, so it runs in the narrow one."""

    breaks = "reduction.C1"
    corpus = ("jax#27496",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if blocks[0].dtype != np.float32 or op != "sum":
            return fold(blocks, op, factor)
        return fold([block.astype(ml_dtypes.bfloat16) for block in blocks], op).astype(np.float32)


class SumOfFloat64InFloat32(Folds):
    """Double precision is switched off by default, and the result is widened to look as if it were not."""

    breaks = "reduction.C1"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if blocks[0].dtype != np.float64 or op != "sum":
            return fold(blocks, op, factor)
        return fold([block.astype(np.float32) for block in blocks], op).astype(np.float64)


THEIRS: Final = {"sum": "sum", "product": "max", "min": "min", "max": "sum"}
"""The reduction that another library's enumeration has at the same place (its mean shown as the sum it starts with)."""


class AnotherEnumeration(Folds):
    """MS-AMP#38: the number of a reduction is handed to a library that numbers them in another order."""

    breaks = "reduction.C2"
    corpus = ("MS-AMP#38",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        theirs = op if kind(logical(blocks[0].dtype)) == "complex" else THEIRS.get(op, op)
        return fold(blocks, theirs, factor)


class MaxAdds(Folds):
    """tinygrad#3175: the simple algorithm was written for sums and adds whatever was asked."""

    breaks = "reduction.C3"
    corpus = ("tinygrad#3175",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold(blocks, "sum" if op == "max" else op, factor)


class MinStartsAtZero(Folds):
    """ompi#259: the sentinel for an input in place is not recognised and a zeroed buffer takes part."""

    breaks = "reduction.C4"
    corpus = ("ompi#259",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold([*blocks, np.zeros_like(blocks[0])] if op == "min" else blocks, op, factor)


class AndStartsAtZero(Folds):
    """The accumulator is cleared before the first block comes, as is right for every other bitwise reduction."""

    breaks = "reduction.C5"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold([np.zeros_like(blocks[0]), *blocks] if op == "and" else blocks, op, factor)


class OrIsAdded(Folds):
    """Or is done by adding, which agrees while no bit is set twice."""

    breaks = "reduction.C6"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold(blocks, "sum" if op == "or" and blocks[0].dtype != np.bool_ else op, factor)


class XorIsNotEqual(Folds):
    """Xor is taken for the comparison that it is for bools: 1 wherever all blocks are not the same."""

    breaks = "reduction.C7"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "xor":
            return fold(blocks, op, factor)
        return functools.reduce(np.not_equal, blocks).astype(blocks[0].dtype)


class PremulReadsTheLowHalf(Folds):
    """pytorch#190745: bfloat16 takes the first two bytes of a float32 factor, which are its last bits: often 0."""

    breaks = "reduction.C8"
    corpus = ("pytorch#190745",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        low = float(np.frombuffer(np.float32(factor).tobytes()[:2], ml_dtypes.bfloat16)[0])
        return fold(blocks, op, low if blocks[0].dtype == ml_dtypes.bfloat16 else factor)


class PremulForgetsTheFactor(Folds):
    """The factor is a member of an option that only the sum's own path reads."""

    breaks = "reduction.C8"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold(blocks, op, 1.0)


class MeanIsTheSum(Folds):
    """horovod#2279: mean is replaced by sum early, and later nobody sees that there is something to divide."""

    breaks = "reduction.C9"
    corpus = ("horovod#2279",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        return fold(blocks, "sum" if op == "mean" and kind(logical(blocks[0].dtype)) != "bool" else op, factor)


class MeanDividesEveryBlock(Folds):
    """Lest the sum of halves overflow, every block is divided first, and rounded as often."""

    breaks = "reduction.C10"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        dtype = blocks[0].dtype
        if op != "mean" or kind(logical(dtype)) != "float":
            return fold(blocks, op, factor)
        return fold([(block / np.array(len(blocks), dtype)).astype(dtype) for block in blocks], "sum")


class BoolsStayBool(Folds):
    """A sum of bools is their disjunction, as most libraries have it."""

    breaks = "reduction.C11"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        stand_in = {"sum": "max", "product": "min"} if blocks[0].dtype == np.bool_ else {}
        return fold(blocks, stand_in.get(op, op), factor)


class ProductOfComplexParts(Folds):
    """pytorch#47522: complex numbers are seen as pairs of reals, and parts are multiplied with parts."""

    breaks = "reduction.C18"
    corpus = ("pytorch#47522",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op != "product" or blocks[0].dtype.kind != "c":
            return fold(blocks, op, factor)
        return np.asarray(fold([b.real for b in blocks], op) + 1j * fold([b.imag for b in blocks], op), blocks[0].dtype)


class BoolsCountUnderMax(Folds):
    """Bools become integers before the reduction is looked at, and max and min never make them bools again."""

    breaks = "reduction.C19"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        counted = blocks[0].dtype == np.bool_ and op in ORDER
        return fold([block.astype(np.int32) for block in blocks] if counted else blocks, op, factor)


class SumAddsBoolBytes(Folds):
    """pytorch#191978: bools travel as bytes and are added, so two of them that hold make a bool of the byte 2."""

    breaks = "collective.C3"
    corpus = ("pytorch#191978 / #41959",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if blocks[0].dtype != np.bool_ or op != "sum":
            return fold(blocks, op, factor)
        return functools.reduce(np.add, [np.array(block).view(np.uint8) for block in blocks]).view(np.bool_)


class NaNLosesEveryComparison(Folds):
    """mlx#4072: the smaller of two is chosen by a comparison, so a NaN counts only where it comes last."""

    breaks = "reduction.C20"
    corpus = ("mlx#4072",)

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        if op not in ORDER:
            return fold(blocks, op, factor)
        before = np.less if op == "min" else np.greater
        with np.errstate(invalid="ignore"):
            return functools.reduce(lambda a, b: np.asarray(np.where(before(a, b), a, b), a.dtype), blocks)


class BoolsCountWhoVotes(Folds):
    """A sum of bools is a ballot, and the mask that is counted is that of who takes part, not of who votes for it."""

    breaks = "reduction.C21"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        out = fold(blocks, op, factor)
        return np.full_like(out, len(blocks)) if blocks[0].dtype == np.bool_ and op == "sum" else out


class BoolsAreAddedInTheTail(Folds):
    """Whole vectors of bools are joined by a bitwise or; the loop over what is left after them adds."""

    breaks = "reduction.C21"

    def fold(self, blocks: Sequence[Array], op: str, factor: float) -> Array:
        out = fold(blocks, op, factor)
        if blocks[0].dtype == np.bool_ and op == "sum":
            vectors = out.reshape(-1)[: out.size // 4 * 4]
            vectors[...] = vectors != 0
        return out
