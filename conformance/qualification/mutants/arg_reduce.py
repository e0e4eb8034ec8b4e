"""Mistakes in arg_reduce."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.operations.arg_reduce import NOWHERE, arg_reduce
from conformance.reference.reductions import fold


class ArgReduceCountsRanks(Reference):
    """The winner is named by its rank in the world, which is its position only where there are no groups."""

    breaks = "arg_reduce.C1"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = arg_reduce(blocks, op=op, groups=groups)
        for group in groups:
            for rank in group:
                out[rank] = np.where(out[rank] == NOWHERE, NOWHERE, np.take(group, out[rank], mode="clip")).astype(
                    np.int32
                )
        return out


class ArgReduceGivesInt64(Reference):
    """Positions come in the integer type that NumPy's argmax has."""

    breaks = "arg_reduce.C1"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        return [block.astype(np.int64) for block in arg_reduce(blocks, op=op, groups=groups)]


class ArgMaxSkipsTheLast(Reference):
    """A loop over the peers ends one too early."""

    breaks = "arg_reduce.C2"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = arg_reduce(blocks, op=op, groups=groups)
        for group in groups if op == "max" else ():
            compared = arg_reduce(
                [blocks[m] for m in group[:-1] or group], op=op, groups=(tuple(range(len(group[:-1]) or 1)),)
            )
            for rank in group:
                out[rank] = compared[0]
        return out


class ArgMinIsArgMax(Reference):
    """One kernel serves both, and the flag that turns the comparison round is not handed on."""

    breaks = "arg_reduce.C3"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        return arg_reduce(blocks, op="max" if op == "min" else op, groups=groups)


class ArgReduceKeepsTheLast(Reference):
    """The running winner is replaced by an equal newcomer."""

    breaks = "arg_reduce.C4"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = arg_reduce(blocks, op=op, groups=tuple(group[::-1] for group in groups))
        for group in groups:
            for rank in group:
                out[rank] = np.where(out[rank] == NOWHERE, NOWHERE, np.int32(len(group) - 1) - out[rank])
        return out


class ArgReduceTellsZerosApart(Reference):
    """Floats are compared as integers of the same bits, by which +0.0 is greater than -0.0."""

    breaks = "arg_reduce.C4"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = arg_reduce(blocks, op=op, groups=groups)
        for group in groups:
            members = [blocks[member] for member in group]
            extreme = fold(members, op)
            for p, block in reversed(list(enumerate(members))) if kind(logical(extreme.dtype)) == "float" else ():
                wins = (extreme == 0) & (block == 0) & (np.signbit(block) == np.signbit(extreme))
                for rank in group:
                    out[rank] = np.where(wins, np.int32(p), out[rank])
        return out


class ArgReduceBesideNaNIsMinusOne(Reference):
    """Nothing is greater than a NaN, so that the position is still what the search began with."""

    breaks = "arg_reduce.C5"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        out = arg_reduce(blocks, op=op, groups=groups)
        for group in groups:
            for rank in group:
                out[rank] = np.where(out[rank] == NOWHERE, np.int32(-1), out[rank])
        return out


class ArgReduceOfAnything(Reference):
    """What is not min is taken for max."""

    breaks = "arg_reduce.C6"

    def arg_reduce(self, blocks: list[Array], *, op: str, groups: Groups) -> list[Array]:
        return arg_reduce(blocks, op=op if op == "min" else "max", groups=groups)
