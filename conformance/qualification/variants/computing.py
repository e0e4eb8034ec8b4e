"""What steps compute, fused with each other or in another order: right, and other bits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Reference, Stored
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array
from conformance.reference.effects import Effects, Ranks


class _Computing(Reference, ABC):
    ops = ("all_reduce", "all_gather", "permute")
    kind = "number model"

    @property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Promise nothing of the order."""
        return ()

    @abstractmethod
    def made(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        """Return what a step gives on a rank, where that is another value than the reference's."""

    def _effects(self, case: Case, placed: Placed) -> Effects:
        return _Computed(case, placed, self)


class _Computed(Stored):
    def __init__(self, case: Case, placed: Placed, backend: _Computing) -> None:
        super().__init__(case, placed)
        self.backend = backend

    def compute(self, where: str, step: Step, operands: list[Ranks]) -> Ranks:
        right = super().compute(where, step, operands)
        with np.errstate(all="ignore"):
            pairs = zip(zip(*operands, strict=True), right, strict=True)
            return [np.asarray(self.backend.made(step, *pair), pair[1].dtype) for pair in pairs]


class FusedMultiplyAdd(_Computing):
    """A compiler contracts a product and the sum that takes it: GCC does by default, and so do XLA and Inductor."""

    def __init__(self) -> None:
        """Remember no product yet."""
        super().__init__()
        self._products: list[tuple[Array, Array]] = []

    def made(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        """Return a sum whose one term is a product before it was rounded."""
        if step.op != "alu" or right.dtype != np.float32:
            return right
        if step.attrs["op"] == "mul":
            self._products = [*self._products[-31:], (right, blocks[0].astype(np.float64) * blocks[1])]
        if step.attrs["op"] != "add":
            return right
        exact: list[Any] = [self._wide(block) for block in blocks]
        return np.asarray(exact[0] + exact[1], np.float32)

    def _wide(self, block: Array) -> Array:
        return next((wide for held, wide in self._products if held is block), block.astype(np.float64))


class SumsFromTheEnd(_Computing):
    """Dots and folds begin at the last term, as loops that count down do, and blocks of a BLAS."""

    def made(self, step: Step, blocks: tuple[Array, ...], right: Array) -> Array:
        """Return a dot in float32 that is summed from the last product."""
        if step.op != "dot" or step.attrs.get("acc") or right.dtype != np.float32:
            return right
        left, other = blocks
        total = np.zeros(right.shape, right.dtype)
        for at in reversed(range(left.shape[-1])):
            total = np.asarray(total + np.multiply.outer(left[..., at], other[at]), right.dtype)
        return total
