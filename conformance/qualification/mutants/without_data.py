"""Mistakes in operations that move no data: axis_index, axis_size, reduce_constant and barrier."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations.axis_index import axis_index
from conformance.reference.operations.axis_size import axis_size
from conformance.reference.operations.barrier import barrier
from conformance.reference.operations.reduce_constant import reduce_constant


class IndexIsTheRank(Reference):
    """A process asks for its rank and forgets to say in which group."""

    breaks = "axis_index.C1"

    def axis_index(self, *, groups: Groups) -> list[Array]:
        return [np.array(rank, np.int32) for rank in range(len(axis_index(groups=groups)))]


class SizeIsTheWorld(Reference):
    """A process asks for the size and forgets to say of which group."""

    breaks = "axis_size.C1"

    def axis_size(self, *, groups: Groups) -> list[Array]:
        world = len(axis_size(groups=groups))
        return [np.array(world, np.int32)] * world


class ConstantTimesTheFirstGroup(Reference):
    """The size that a constant is multiplied by is that of the first group, computed once while tracing."""

    breaks = "reduce_constant.C1"

    def reduce_constant(self, *, value: bool | float, groups: Groups) -> list[Array]:
        return [reduce_constant(value=value, groups=groups)[groups[0][0]]] * sum(map(len, groups))


class ConstantWraps(Reference):
    """The number is a machine integer, which nobody asks whether it still fits."""

    breaks = "reduce_constant.C2"

    def reduce_constant(self, *, value: bool | float, groups: Groups) -> list[Array]:
        if isinstance(value, float):
            return reduce_constant(value=value, groups=groups)
        sizes = axis_size(groups=groups)
        with np.errstate(over="ignore"):
            return [np.array(np.array(value, np.int64) * size).astype(np.int32) for size in sizes]


class ConstantRoundedFirst(Reference):
    """A float is made a float32 before it is multiplied, and is rounded twice."""

    breaks = "reduce_constant.C3"

    def reduce_constant(self, *, value: bool | float, groups: Groups) -> list[Array]:
        if not isinstance(value, float):
            return reduce_constant(value=value, groups=groups)
        with np.errstate(over="ignore"):
            return [np.array(np.float32(value) * np.float32(size), np.float32) for size in axis_size(groups=groups)]


class BarrierWaitsForOneMore(Reference):
    """The counter of a reusable barrier is off by one, and the watchdog ends what would not end."""

    breaks = "barrier.C1"
    outcome = "errored"

    def barrier(self, *, groups: Groups) -> None:
        barrier(groups=groups)
        raise TimeoutError(f"1 of {len(groups[0]) + 1} participants missing")
