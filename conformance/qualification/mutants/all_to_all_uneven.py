"""Mistakes in all_to_all_uneven."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations.all_to_all_uneven import all_to_all_uneven


class UnevenStartsWithItself(Reference):
    """A rotation receives from itself first, then from its neighbours, and appends what comes."""

    breaks = "all_to_all_uneven.C1"

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        out = all_to_all_uneven(blocks, sends=sends, receives=receives, groups=groups)
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = np.roll(out[rank], -sum(receives[p][:p]), axis=0)
        return out


class UnevenCutsEvenly(Reference):
    """Where the parts begin is computed from their number and not from their sizes."""

    breaks = "all_to_all_uneven.C2"

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        out = all_to_all_uneven(blocks, sends=sends, receives=receives, groups=groups)
        for group in groups:
            for p, rank in enumerate(group):
                starts = [len(blocks[member]) // len(group) * p for member in group]
                parts = [blocks[m][at : at + n] for m, at, n in zip(group, starts, receives[p], strict=True)]
                out[rank] = np.resize(np.concatenate(parts), out[rank].shape)
        return out


class UnevenEndsWhenNothingIsSent(Reference):
    """pytorch#146468: a member with nothing to send returns at once, and what others send it is never received."""

    breaks = "all_to_all_uneven.C3"
    corpus = ("pytorch#146468 / nccl#1593",)

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        out = all_to_all_uneven(blocks, sends=sends, receives=receives, groups=groups)
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = out[rank] if sum(sends[p]) else out[rank][:0]
        return out


class UnevenEndsWhenItKeepsNothing(Reference):
    """ompi#10066: the largest part is computed from a member's part for itself, and where that is 0 it leaves."""

    breaks = "all_to_all_uneven.C3"
    corpus = ("ompi#10066",)

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        out = all_to_all_uneven(blocks, sends=sends, receives=receives, groups=groups)
        for group in groups:
            for p, rank in enumerate(group):
                out[rank] = out[rank] if receives[p][p] else out[rank][:0]
        return out


class UnevenFillsShortSizes(Reference):
    """A list of split sizes that is too short is filled up with zeros."""

    breaks = "all_to_all_uneven.C4"

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        full = tuple((*row, *[0] * (len(sends) - len(row))) for row in sends)
        sizes = receives if full == sends else tuple(zip(*full, strict=True))
        sent = [block[: sum(full[p])] for block, p in zip(blocks, _positions(groups, len(blocks)), strict=True)]
        return all_to_all_uneven(blocks if full == sends else sent, sends=full, receives=sizes, groups=groups)


class UnevenBelievesTheSender(Reference):
    """Sizes travel with the data, and those that the receiver expected are never looked at."""

    breaks = "all_to_all_uneven.C5"

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        square = all(len(row) == len(sends) for row in sends)
        sizes = tuple(zip(*sends, strict=True)) if square else receives
        return all_to_all_uneven(blocks, sends=sends, receives=sizes, groups=groups)


class UnevenDropsTheRest(Reference):
    """Parts are taken from the front of the block, and whether anything is left is not asked."""

    breaks = "all_to_all_uneven.C6"

    def all_to_all_uneven(self, blocks: list[Array], *, sends: Groups, receives: Groups, groups: Groups) -> list[Array]:
        sent = list(blocks)
        for rank, p in enumerate(_positions(groups, len(blocks))):
            sent[rank] = blocks[rank][: sum(sends[p])] if p < len(sends) else blocks[rank]
        return all_to_all_uneven(sent, sends=sends, receives=receives, groups=groups)


def _positions(groups: Groups, world: int) -> list[int]:
    """Return the position of every rank, 0 for a rank in no group."""
    at = {rank: p for group in groups for p, rank in enumerate(group)}
    return [at.get(rank, 0) for rank in range(world)]
