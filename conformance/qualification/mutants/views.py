"""Mistakes about views: where their elements lie, and what a write through one of them means for who copied."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Stored
from conformance.cases.case import Case
from conformance.cases.program.effects import window
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.effectful import Act, Effectful
from conformance.qualification.mutants.storage import shared
from conformance.reference.effects import Ranks


class _OfMoves(Effectful):
    """Shown by operations that move data, whose cases are about storage more often than those of reductions."""

    ops = ("all_gather", "all_to_all", "broadcast", "permute", "shuffle")


class _Elementwise(Stored):
    """Alike strides are taken for a plain copy of memory; whatever else overlaps is read first."""

    def order(self, block: Array) -> Iterable[tuple[int, ...]]:
        return np.ndindex(block.shape)

    def assign(self, target: Ranks, value: Ranks) -> None:
        if target[0].strides != value[0].strides:
            super().assign(target, value)
            return
        for to, block in zip(target, value, strict=True):
            for at in self.order(to):
                to[at] = block[at]


class OverlapIsCopiedForwards(_OfMoves):
    """Elements are moved up within a buffer by a copy that goes up too, memcpy in the place of memmove."""

    breaks = "aliasing.C12"
    effects = _Elementwise


class _Downwards(_Elementwise):
    def order(self, block: Array) -> Iterable[tuple[int, ...]]:
        return reversed(list(np.ndindex(block.shape)))


class OverlapIsCopiedBackwards(_OfMoves):
    """Overlap is noticed, and elements are always moved from the last one down, also where they go down."""

    breaks = "aliasing.C12"
    effects = _Downwards


class _Viewed(Stored):
    """Storage that remembers of every view what it is of and how it was made."""

    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.views: list[tuple[Ranks, Ranks, Step]] = []

    def view(self, blocks: Ranks, step: Step) -> Ranks:
        made = super().view(blocks, step)
        self.views.append((made, blocks, step))
        return made

    def made(self, blocks: Ranks) -> tuple[Ranks, Step] | None:
        found = ((of, step) for made, of, step in self.views if made is blocks)
        return next(found, None)


class _FromTheBuffer(_Viewed):
    def view(self, blocks: Ranks, step: Step) -> Ranks:
        made = super().view(blocks, step)
        known = self.made(blocks)
        flat = [window(block, step) for block in known[0]] if known else made
        return flat if [block.shape for block in flat] == [block.shape for block in made] else made


class ViewsOfViewsAreOfTheBuffer(_OfMoves):
    """A view of a view keeps the buffer and its own bounds, which are then counted from the buffer's beginning."""

    breaks = "aliasing.C7"
    effects = _FromTheBuffer


class _InTheBuffersOrder(_Viewed):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        known = self.made(target)
        axes = known and known[1].attrs.get("order")
        if not isinstance(axes, tuple) or not axes:
            return super().write(target, result, operand)
        order = tuple(map(int, np.argsort(np.array(axes))))
        plain = [block.transpose(order) for block in target]
        fit = [value if value is None else value.reshape(to.shape) for value, to in zip(result, plain, strict=True)]
        super().write(plain, fit, operand)
        return target


class TargetsForgetTheirOrder(_OfMoves):
    """A target whose axes are in another order than its buffer's is filled in the order of the buffer's."""

    breaks = "aliasing.C1"
    effects = _InTheBuffersOrder


class _Neighbours(_Viewed):
    def copy(self, blocks: Ranks) -> Ranks:
        return super().copy(self._read(blocks))

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        super().write(self._read(target), result, operand)
        return target

    def _read(self, blocks: Ranks) -> Ranks:
        """Return as many elements as the blocks have, one beside the other from the first on."""
        known = self.made(blocks)
        pairs = zip(known[0][0].strides, blocks[0].strides, strict=True) if known else ()
        if known is None or all(abs(one) == abs(other) for one, other in pairs):
            return blocks
        starts = np.array(known[1].attrs["start"])
        rows = [tuple(map(slice, starts, starts + np.array(block.shape))) for block in blocks]
        return [of[row] for of, row in zip(known[0], rows, strict=True)]


class TargetsForgetTheirStep(_OfMoves):
    """A target that is every second element of a buffer is written as so many elements in a row."""

    breaks = "aliasing.C7"
    effects = _Neighbours


class _StartedUpwards(_Viewed):
    starting = False

    def start(self, act: Act, step: Step) -> list[Ranks]:
        self.starting = True
        tickets = super().start(act, step)
        self.starting = False
        return tickets

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        turned = self.starting and target[0].ndim and target[0].strides[0] < 0
        right = [value if value is None or not turned else np.flip(value, 0) for value in result]
        return super().write(target, right, operand)


class StartedTargetsForgetTheirSign(_OfMoves):
    """What was received is copied out by a descriptor whose strides have no sign, and only started calls use it."""

    breaks = "aliasing.C1"
    effects = _StartedUpwards


class _MadeRealByNames(Stored):
    """A copy is made when its source is written, and a write of a part of the source is one of something else."""

    def __init__(self, case: Case, placed: Placed) -> None:
        super().__init__(case, placed)
        self.lazy: list[tuple[Ranks, Ranks]] = []

    def copy(self, blocks: Ranks) -> Ranks:
        made = super().copy(blocks)
        self.lazy.append((blocks, made))
        return made

    def assign(self, target: Ranks, value: Ranks) -> None:
        super().assign(target, value)
        self._follow(target)

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        super().write(target, result, operand)
        self._follow(target)
        return target

    def _follow(self, target: Ranks) -> None:
        for source, made in self.lazy:
            if target[0].size < source[0].size and any(shared([block], source) for block in target):
                for block, now in zip(made, source, strict=True):
                    block[...] = now


class CopiesFollowWritesThroughViews(_OfMoves):
    """A copy is lazy, and is made real by a write to its source, but not by one through a view of it."""

    breaks = "aliasing.C9"
    effects = _MadeRealByNames


class _ResultsToo(_MadeRealByNames):
    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        made = super().fresh(result, operand)
        # What takes nothing has no operand.
        self.lazy += [([own], [block]) for own, block in zip(operand, made, strict=False) if _equal(own, block)]
        return made


class ResultsFollowWritesThroughViews(_OfMoves):
    """Ranks that keep their block return a lazy copy of it, which a write through a view does not make real."""

    breaks = "aliasing.C4"
    effects = _ResultsToo


class _Assigned(_MadeRealByNames):
    def copy(self, blocks: Ranks) -> Ranks:
        return Stored.copy(self, blocks)

    def assign(self, target: Ranks, value: Ranks) -> None:
        self.lazy = [pair for pair in self.lazy if not shared(pair[1], target)]
        super().assign(target, value)
        self.lazy.append((value, target))


class AssignedValuesFollowWritesThroughViews(_OfMoves):
    """An assignment is a lazy copy, which a write through a view of the value does not make real."""

    breaks = "aliasing.C7"
    effects = _Assigned


def _equal(own: Array | None, block: Array | None) -> bool:
    if not isinstance(own, np.ndarray) or block is None:
        return False
    return (own.dtype, own.shape, own.tobytes()) == (block.dtype, block.shape, block.tobytes())
