"""Mistakes about what is written, what is returned, and what shares storage with what."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Stored
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.effectful import Effectful
from conformance.qualification.mutants.storage import flat_storage, shared
from conformance.reference.effects import Ranks
from conformance.reference.operations import TABLE


class _Unwritten(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if all(block.flags.c_contiguous for block in target):
            return super().write(target, result, operand)
        return result


class TempIsNeverCopiedBack(Effectful):
    """pytorch#192920: a target that is not contiguous is stood in for by one that is, and keeps what it held."""

    breaks = "aliasing.C1"
    corpus = ("pytorch#192920",)
    effects = _Unwritten


class _Zeros(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        zeros = [block if block is None else np.zeros_like(block) for block in result]
        return super().write(target, zeros if shared(target, operand) else result, operand)


class InPlaceIsNotRecognised(Effectful):
    """ompi#259: a binding passes on the mark for in place as if it were an operand, and zeros are reduced."""

    breaks = "aliasing.C2"
    corpus = ("ompi#259",)
    effects = _Zeros


class _Doubled(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if not shared(target, operand) or result[0] is None or result[0].dtype.kind not in "iu":
            return super().write(target, result, operand)
        with np.errstate(all="ignore"):
            received = [block - own for block, own in zip(result, operand, strict=True)]
            return super().write(target, [np.asarray(block + block) for block in received], operand)


class ReceivesOverWhatItSends(Effectful):
    """What the others sent is received over the operand, and is then added to itself."""

    breaks = "aliasing.C2"
    ops = ("all_reduce",)
    effects = _Doubled


class _Twice(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        return self.copy(super().write(target, result, operand))


class OutIsNotReturned(Effectful):
    """The out form copies its result into the storage it was given, and returns the result."""

    breaks = "aliasing.C3"
    effects = _Twice


class _OwnWhereEqual(Stored):
    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        made = super().fresh(result, operand)
        pairs = zip(made, operand or made, strict=True)  # operations without an operand have nothing to return
        return [own if _equal(block, own) else block for block, own in pairs]


class TheRootKeepsItsBlock(Effectful):
    """The root of a broadcast has nothing to receive, and its operand is returned."""

    breaks = "aliasing.C4"
    ops = ("broadcast",)
    effects = _OwnWhereEqual


class _OwnWhereAllEqual(Stored):
    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        equal = len(operand) == len(result) and all(map(_equal, result, operand))
        return operand if equal else super().fresh(result, operand)


class NothingToDoReturnsTheOperand(Effectful):
    """A simplifier removes collectives that move nothing and puts the operand in their place."""

    breaks = "aliasing.C5"
    effects = _OwnWhereAllEqual


class _AnyShape(Stored):
    def check(self, op: str, targets: list[Ranks], results: list[Ranks]) -> None:
        alike = [_like(target, result) for target, result in zip(targets, results, strict=False)]
        super().check(op, alike if len(targets) == len(results) else targets, results)

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        return super().write(target, _resized(target, result), operand)


class ShapesAreCountedInBytes(Effectful):
    """A target is asked for its address alone, and takes as many elements as it has."""

    breaks = "aliasing.C15"
    effects = _AnyShape


class _AnyDtype(Stored):
    def check(self, op: str, targets: list[Ranks], results: list[Ranks]) -> None:
        pairs = [list(zip(target, result, strict=True)) for target, result in zip(targets, results, strict=False)]
        cast = [[block if block is None else block.astype(to.dtype) for to, block in pair] for pair in pairs]
        super().check(op, targets, [*cast, *results[len(cast) :]])


class DtypesAreCast(Effectful):
    """The result is copied into its target by an assignment that casts."""

    breaks = "aliasing.C16"
    effects = _AnyDtype


class _AnyCount(Stored):
    def check(self, op: str, targets: list[Ranks], results: list[Ranks]) -> None:
        del targets[len(results) :]
        super().check(op, targets, results)


class SurplusTargetsAreForgotten(Effectful):
    """Results and targets are walked together, as far as the shorter list goes."""

    breaks = "aliasing.C17"
    effects = _AnyCount


class _AnySize(Stored):
    def check(self, op: str, targets: list[Ranks], results: list[Ranks]) -> None:
        parts = [_heads(target, result) for target, result in zip(targets, results, strict=False)]
        super().check(op, [*parts, *targets[len(parts) :]], results)

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        super().write(_heads(target, result), result, operand)
        return target


class TargetsMayBeLarger(Effectful):
    """A target is asked whether the result fits in, not whether it fills it, as one for the whole world does not."""

    breaks = "aliasing.C18"
    ops = tuple(op for op in TABLE if TABLE[op].sized)
    effects = _AnySize


class _NonCanonical(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        super().write(target, result, operand)
        for block in target:
            if block.dtype == bool:
                block.view(np.uint8)[...] *= 255
        return target


class TrueIsAllOnes(Effectful):
    """A vector compare leaves all bits of a byte set, and the store narrows nothing."""

    breaks = "aliasing.C13"
    effects = _NonCanonical


class _Partial(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        for to, block, own in zip(target, result, operand, strict=True):
            if block is None and to.shape == own.shape:
                to[...] = ~own if own.dtype.kind in "biu" else own + own
        return super().write(target, result, operand)


class PartialSumsAreLeftBehind(Effectful):
    """pytorch#21480: on ranks that are not the root the target holds what passed through on its way to the root."""

    breaks = "aliasing.C14"
    corpus = ("pytorch#21480",)
    ops = ("reduce",)
    effects = _Partial


class _Flat(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        super().write([flat_storage(block) if _is_part(block) else block for block in target], result, operand)
        return target


class StoreForgetsTheSlice(Effectful):
    """tinygrad#15381: a store through a slice counts in the buffer, from its beginning."""

    breaks = "aliasing.C7"
    corpus = ("tinygrad#15381",)
    effects = _Flat


class _Trash(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if shared(target[:1], operand[:1]):
            operand[0][...] = np.resize(result[0], operand[0].shape)
        return super().write(target, result, operand)


class RankZeroReducesInPlace(Effectful):
    """Aluminum#110: reduced to rank 0 in its buffer and scattered from there, of which one slice is the result's."""

    breaks = "aliasing.C7"
    corpus = ("Aluminum#110",)
    ops = ("reduce_scatter",)
    effects = _Trash


class _Beside(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        super().write(target, result, operand)
        for block in target:
            if isinstance(block.base, np.ndarray) and block.base.nbytes > block.nbytes:
                block.base.reshape(-1).view(np.uint8)[-1] = 0
        return target


class StoresPastTheEnd(Effectful):
    """The last vector of a target is stored whole, whatever lies behind it."""

    breaks = "aliasing.C8"
    effects = _Beside


class _NoCopy(Stored):
    def copy(self, blocks: Ranks) -> Ranks:
        return blocks


class CopiesAreElided(Effectful):
    """A copy to the same device is the same buffer, and a simplifier says so."""

    breaks = "aliasing.C9"
    effects = _NoCopy


class _Elementwise(Stored):
    def assign(self, target: Ranks, value: Ranks) -> None:
        for to, block in zip(target, value, strict=True):
            for at in np.ndindex(to.shape):
                to[at] = block[at]


class AssignReadsWhatItWrote(Effectful):
    """tinygrad#12299: a buffer is assigned its own transpose element by element."""

    breaks = "aliasing.C12"
    corpus = ("tinygrad#12299",)
    effects = _Elementwise


def _equal(block: Array | None, own: Array | None) -> bool:
    if block is None or own is None or not hasattr(own, "dtype"):
        return False
    return (block.dtype, block.shape) == (own.dtype, own.shape) and block.tobytes() == own.tobytes()


def _like(target: Ranks, result: Ranks) -> Ranks:
    """Return the target in the shapes of the result."""
    return [to if block is None else np.resize(to, block.shape) for to, block in zip(target, result, strict=True)]


def _resized(target: Ranks, result: Ranks) -> Ranks:
    return [block if block is None else np.resize(block, to.shape) for to, block in zip(target, result, strict=True)]


def _heads(target: Ranks, result: Ranks) -> Ranks:
    """Return the first elements of each target along every axis, as many as the result has."""
    return [
        to if block is None or to.ndim != block.ndim else to[tuple(map(slice, block.shape))]
        for to, block in zip(target, result, strict=True)
    ]


def _is_part(block: Array) -> bool:
    return isinstance(block.base, np.ndarray) and block.base.nbytes > block.nbytes
