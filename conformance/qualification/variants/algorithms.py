"""Algorithms: the terms are those of the reference, and the tree that adds or multiplies them is another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.qualification.variants.folding import Folding, halves, left, step


class FromTheLast(Folding):
    """Gloo's ring begins with the right neighbour: members are folded from the last to the first."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left(terms[::-1], op)


class BinaryTree(Folding):
    """NCCL's tree: halves of the members are folded apart, then together."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return halves(terms, op)


class TernaryTree(Folding):
    """MPICH's k-nomial tree with three children."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return halves(terms, op, 3)


class RecursiveDoubling(Folding):
    """MPICH: in round k a member adds what the member at distance 2**k has; the rest is folded in before."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        power = 1 << (len(terms).bit_length() - 1)
        rest = len(terms) - power
        held = [step(terms[2 * at], terms[2 * at + 1], op) if at < rest else terms[at + rest] for at in range(power)]
        while len(held) > 1:
            held = [step(held[at], held[at + len(held) // 2], op) for at in range(len(held) // 2)]
        return np.array(held[0])


class TwoLevels(Folding):
    """Members of one machine, here two, are folded first, then the machines."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left([left(terms[at : at + 2], op) for at in range(0, len(terms), 2)], op)


class TwoLevelsOfTrees(Folding):
    """Four members a machine by a tree, and the machines from the last to the first."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left([halves(terms[at : at + 4], op) for at in range(0, len(terms), 4)][::-1], op)


class Ring(Folding):
    """A chunk starts at the member that owns it, so every chunk of a block has an order of its own."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        flat = [np.asarray(term).reshape(-1) for term in terms]
        chunks = np.array_split(np.arange(flat[0].size), len(terms))
        made = [left([term[at] for term in (*flat[c:], *flat[:c])], op) for c, at in enumerate(chunks)]
        return np.concatenate(made).reshape(np.shape(terms[0]))


class Interleaved(Folding):
    """Two chains of every second member, as a kernel with two accumulators has them, and one addition at the end."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left([left(terms[at::2], op) for at in range(min(2, len(terms)))], op)


class FourAccumulators(Folding):
    """Four chains, added in pairs."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return halves([left(terms[at::4], op) for at in range(min(4, len(terms)))], op)


class HalfOfEachBlock(Folding):
    """The first half of a block goes round one way and the second the other."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        flat = [np.asarray(term).reshape(-1) for term in terms]
        at = flat[0].size // 2
        parts = left([term[:at] for term in flat], op), left([term[at:] for term in flat[::-1]], op)
        return np.concatenate(parts).reshape(np.shape(terms[0]))


class OwnFirst(Folding):
    """A one-shot kernel adds its peers to its own block, so that ranks may differ in the last bit."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        at = rank % len(terms)
        return left([*terms[at:], *terms[:at]], op)


class OnArrival(Folding):
    """Atomic additions take the members as they come, in another order at every call."""

    calls = 0

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        self.calls += 1
        order = np.random.default_rng(self.calls).permutation(len(terms))
        return left([terms[at] for at in order], op)


class SmallestFirst(Folding):
    """Element by element the terms are sorted by magnitude before they are added, for accuracy."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        stacked = np.stack(terms)
        order = np.argsort(np.abs(stacked.astype(np.complex128 if stacked.dtype.kind == "c" else np.float64)), axis=0)
        return left(list(np.take_along_axis(stacked, order, axis=0)), op)
