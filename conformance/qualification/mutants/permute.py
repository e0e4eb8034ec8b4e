"""Mistakes in permute."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.groups import equal_sizes, partition
from conformance.reference.operations.permute import permute


class PermuteBackwards(Reference):
    """Pairs are read as (destination, source)."""

    breaks = "permute.C1"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        permute(blocks, pairs=pairs, groups=groups)
        return permute(blocks, pairs=tuple((destination, source) for source, destination in pairs), groups=groups)


class PermuteKeepsWhatWasThere(Reference):
    """The output starts as a copy of the input, so whoever receives nothing keeps its own block."""

    breaks = "permute.C2"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        out = permute(blocks, pairs=pairs, groups=groups)
        fed = {destination for _, destination in pairs}
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = out[rank] if p in fed else blocks[rank].copy()
        return out


class PermuteSendsTwice(Reference):
    """Nobody checks that a source is named once, so a permutation can become a copy to many."""

    breaks = "pairs.C1"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        out = [np.zeros_like(block) for block in blocks]
        for pair in pairs:
            one = permute(blocks, pairs=(pair,), groups=groups)
            for group in groups:
                out[group[pair[1]]] = one[group[pair[1]]]
        return out if pairs else permute(blocks, pairs=pairs, groups=groups)


class PermuteOverwrites(Reference):
    """Two sources of one destination write one after the other, and the last one wins."""

    breaks = "pairs.C2"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        last = {destination: source for source, destination in pairs}
        return permute(
            blocks, pairs=tuple((source, destination) for destination, source in last.items()), groups=groups
        )


class PermuteDropsStrangers(Reference):
    """A pair with a position that nobody has finds no member to act on it, and nobody complains."""

    breaks = "pairs.C3"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        size = equal_sizes(partition(groups, len(blocks)))
        return permute(blocks, pairs=tuple(pair for pair in pairs if max(pair) < size), groups=groups)


class PermuteCountsFromTheEnd(Reference):
    """Positions index a Python list, for which -1 is the last member."""

    breaks = "pairs.C4"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        size = equal_sizes(partition(groups, len(blocks)))
        counted = tuple(tuple(p + size if -size <= p < 0 else p for p in pair) for pair in pairs)
        return permute(blocks, pairs=counted, groups=groups)


class PermuteOfNothingIsIdentity(Reference):
    """Without pairs there is nothing to send, and the early return hands back the input."""

    breaks = "permute.C3"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        out = permute(blocks, pairs=pairs, groups=groups)
        return out if pairs else [block.copy() for block in blocks]


class PermuteClosesOneCycle(Reference):
    """openxla/xla#45222: a cycle is cut into forward and backward edges, and only the last backward one is kept."""

    breaks = "permute.C4"
    corpus = ("openxla/xla#45222",)

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        permute(blocks, pairs=pairs, groups=groups)
        forward = tuple(pair for pair in pairs if pair[0] <= pair[1])
        backward = tuple(pair for pair in pairs if pair[0] > pair[1])
        return permute(blocks, pairs=forward + backward[-1:], groups=groups)


class PermuteSkipsItself(Reference):
    """A pair from a position to itself needs no message and is left out, together with the copy it needs."""

    breaks = "permute.C5"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        permute(blocks, pairs=pairs, groups=groups)
        return permute(blocks, pairs=tuple(pair for pair in pairs if pair[0] != pair[1]), groups=groups)


class PermuteTakesWorldRanks(Reference):
    """pytorch#187924: peers in a group are handed over as ranks of the world, and only the first members take part."""

    breaks = "permute.C1"
    corpus = ("pytorch#187924",)

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        permute(blocks, pairs=pairs, groups=groups)
        return permute(blocks, pairs=pairs, groups=(tuple(range(len(blocks))),))


class PermuteTidiesNaN(Reference):
    """Values pass through arithmetic on the way, and every NaN arrives as the one the hardware makes."""

    breaks = "collective.C18"

    def permute(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
        out = permute(blocks, pairs=pairs, groups=groups)
        with np.errstate(invalid="ignore"):
            for block in out if kind(logical(blocks[0].dtype)) in ("float", "complex") else ():
                block[np.isnan(block)] = np.nan
        return out
