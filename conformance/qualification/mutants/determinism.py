"""Mistakes that show only where the order of the members does: each is right, and breaks a promise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor
from conformance.qualification.mutants.every_operation import Blocks
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.all_to_all import pieces
from conformance.reference.operations.reduce import reduce
from conformance.reference.operations.reduce_scatter import reduce_scatter
from conformance.reference.reductions import fold

Group = tuple[int, ...]


class _Orders(Reference, ABC):
    """A reference that takes the members of a group in an order of its own."""

    ops = ("all_reduce", "reduce", "reduce_scatter")

    @abstractmethod
    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        """Return the members in the order they are folded for ``receiver``; blocks have ``size`` elements."""

    def call(self, blocks: list[Array]) -> None:
        """Learn of a call before any of its groups is folded."""

    def folded(self, blocks: list[Array], group: Group, groups: Groups, receiver: int, how: dict[str, Any]) -> Array:
        members = self.order(group, groups, receiver, blocks[0].size)
        return fold([blocks[member] for member in members], how["op"], how["factor"])

    def all_reduce(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Array]:
        out = all_reduce(blocks, groups=groups, **how)
        self.call(blocks)
        for group in groups if not how["local_axes"] else ():
            for rank in group:
                out[rank] = self.folded(blocks, group, groups, rank, how)
        return out

    def reduce(self, blocks: list[Array], *, root: int, groups: Groups, **how: Any) -> Blocks:
        out = reduce(blocks, root=root, groups=groups, **how)
        self.call(blocks)
        for group in groups:
            out[group[root]] = self.folded(blocks, group, groups, group[root], how)
        return out

    def reduce_scatter(self, blocks: list[Array], *, axis: int, tiled: bool, groups: Groups, **how: Any) -> list[Array]:
        out = reduce_scatter(blocks, axis=axis, tiled=tiled, groups=groups, **how)
        self.call(blocks)
        for group in groups:
            whole = self.folded(blocks, group, groups, group[0], how)
            for rank, piece in zip(group, pieces(whole, len(group), axis, tiled=tiled), strict=True):
                out[rank] = piece
        return out


class EveryRankBeginsWithItself(_Orders):
    """A one-shot kernel adds its peers to its own block, so no two ranks add in the same order."""

    breaks = "determinism.C1"

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        at = group.index(receiver)
        return group[at:] + group[:at]


class EveryRankKeepsItsOwnZero(EveryRankBeginsWithItself):
    """``a >= b ? a : b`` keeps the zero that a rank begins with, its own, where others hold the other one."""

    def folded(self, blocks: list[Array], group: Group, groups: Groups, receiver: int, how: dict[str, Any]) -> Array:
        kept = super().folded(blocks, group, groups, receiver, how)
        if how["op"] not in ("max", "min"):
            return fold([blocks[member] for member in group], how["op"], how["factor"])
        return np.asarray(np.where((kept == 0) & (blocks[receiver] == 0), blocks[receiver], kept), kept.dtype)


class AddsInOrderOfArrival(_Orders):
    """Blocks are added as they arrive, and arrive in another order every time (atomics do the same)."""

    breaks = "determinism.C8"
    calls = 0

    def call(self, blocks: list[Array]) -> None:
        self.calls += 1

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        at = self.calls % len(group)
        return group[at:] + group[:at]


class TunerGoesOn(_Orders):
    """A tuner tries its next algorithm whenever another message comes by, and keeps it while messages are alike."""

    breaks = "determinism.C7"
    tried = 0
    last: tuple[int, ...] = ()

    def call(self, blocks: list[Array]) -> None:
        self.tried += blocks[0].shape != self.last
        self.last = blocks[0].shape

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        at = self.tried % len(group)
        return group[at:] + group[:at]


class TailFoldsBackwards(_Orders):
    """What is left over after whole vectors of four goes through a scalar loop that counts down."""

    breaks = "determinism.C3"

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        return group

    def folded(self, blocks: list[Array], group: Group, groups: Groups, receiver: int, how: dict[str, Any]) -> Array:
        out = super().folded(blocks, group, groups, receiver, how)
        left = super().folded(blocks, group[::-1], groups, receiver, how)
        tail = np.arange(out.size).reshape(out.shape) >= out.size - out.size % 4
        return np.where(tail, left, out).astype(out.dtype)


class LongMessagesTakeTheRing(_Orders):
    """From some size on the ring takes over, which begins elsewhere."""

    breaks = "determinism.C2"

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        return group[1:] + group[:1] if size > 64 else group


class BucketsFoldBackwards(_Orders):
    """Operands of one call are packed into a bucket, which goes through another kernel than a single one does."""

    breaks = "determinism.C6"
    company: Iterator[int] = iter(())
    alone = True

    def _walk(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        steps = [step for step in case.program.steps if step.op in self.ops and step.axes]
        self.company = (len(step.inputs) for step in steps for _ in step.inputs)
        return super()._walk(case, placed)

    def call(self, blocks: list[Array]) -> None:
        self.alone = next(self.company, 1) == 1

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        return group if self.alone else group[::-1]


class FoldsByRankNumber(_Orders):
    """A communicator sorts its ranks, so the order is theirs and not that of the members as listed."""

    breaks = "determinism.C4"

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        return sorted(group)


class EverySecondGroupTurnsRound(_Orders):
    """Rings are laid in alternate directions, to spread over the links, as groups come up in the list."""

    breaks = "determinism.C5"

    def order(self, group: Group, groups: Groups, receiver: int, size: int) -> Sequence[int]:
        return group[::-1] if groups.index(group) % 2 else group
