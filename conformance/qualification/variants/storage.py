"""Storage: results lie elsewhere, ranks without a result have something, and layouts choose the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from conformance.backends.base import Claims
from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.variants.folding import Folding, halves, left
from conformance.reference.operations.gather import gather
from conformance.reference.operations.reduce import reduce


class PackedIsFoldedByATree(Folding):
    """A block that is not contiguous is packed by a kernel that adds the members pairwise."""

    kind = "storage"

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left(terms, op) if all(np.asarray(term).flags.c_contiguous for term in terms) else halves(terms, op)


class AlignedIsFoldedInPairs(Folding):
    """Vectors take what is aligned at 16 bytes, and have two accumulators; the rest goes one by one."""

    kind = "storage"

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        aligned = all(int(np.asarray(term).__array_interface__["data"][0]) % 16 == 0 for term in terms)
        return left([left(terms[at::2], op) for at in range(min(2, len(terms)))], op) if aligned else left(terms, op)


class LongIsCutIntoChunks(Folding):
    """Chunks of four elements start at different members."""

    kind = "storage"

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        flat = [np.asarray(term).reshape(-1) for term in terms]
        made = []
        for at in range(0, max(flat[0].size, 1), 4):
            begin = at // 4 % len(flat)
            made.append(left([term[at : at + 4] for term in (*flat[begin:], *flat[:begin])], op))
        return np.concatenate(made).reshape(np.shape(terms[0]))


class _Plain(Reference):
    """Has no effects: a target on a rank without a result has to stay what it is."""

    ops: ClassVar[tuple[str, ...]] = ("reduce", "gather")
    kind = "storage"

    @property
    def claims(self) -> Claims:
        return {"reduce": {}, "gather": {}}


class EmptyHandedRanksKeepTheirBlocks(_Plain):
    """Reduce and gather work in place, and on ranks other than the root leave what is there."""

    def reduce(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Any]:
        return _left_alone(reduce(blocks, groups=groups, **how), blocks)

    def gather(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Any]:
        return _left_alone(gather(blocks, groups=groups, **how), blocks)


class EmptyHandedRanksHavePartialResults(_Plain):
    """A tree leaves on each member what it came to there, though the root alone has the result."""

    ops = ("reduce",)

    def reduce(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Any]:
        out = reduce(blocks, groups=groups, **how)
        return [np.zeros_like(blocks[rank]) if made is None else made for rank, made in enumerate(out)]


class OneResultForAll(Folding):
    """All members of a machine read one copy of the result, made from the last to the first."""

    kind = "storage"

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left(terms[::-1], op)

    def all_reduce(self, blocks: list[Array], *, groups: Groups, **how: Any) -> list[Array]:
        out = super().all_reduce(blocks, groups=groups, **how)
        for group in groups:
            for rank in group[1:]:
                out[rank] = out[group[0]]
        return out


class ResultsInFortranOrder(Folding):
    """Results have their first axis innermost, as a library for column-major arrays leaves them."""

    kind = "storage"

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return np.array(halves([np.array(term, order="F") for term in terms], op), order="F")


def _left_alone(made: Sequence[Any], blocks: Sequence[Array]) -> list[Any]:
    """Return what was made, and where that is nothing the operand."""
    return [own.copy() if block is None else block for block, own in zip(made, blocks, strict=True)]
