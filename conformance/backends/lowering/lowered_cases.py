"""Sharded cases that have been lowered: one of the same structure and other contents is only given its contents."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.backends.lowering import Answer, lowered
from conformance.backends.lowering.program import Lowering
from conformance.cases.graph.case import GraphCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.tensor import Tensor

MOST_KEPT: Final = 256
"""Cases that are kept, the least recently asked for dropped first."""


class LoweredCases:
    """What cases were lowered to, by their structure."""

    def __init__(self) -> None:
        """Start with none."""
        self._made: OrderedDict[bytes, tuple[GraphCase, dict[str, Answer]]] = OrderedDict()

    def lowered(self, case: ShardedCase) -> tuple[GraphCase, dict[str, Answer]]:
        """Return the graph case that a sharded one is, and its answers; raise what ``lowered`` raises."""
        key = structure(case)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = lowered(case)
            if len(self._made) > MOST_KEPT:
                self._made.popitem(last=False)
        else:
            found = _filled(found[0], case), found[1]
        self._made.move_to_end(key)
        return found


def structure(case: ShardedCase) -> bytes:
    """Return all of a case but the contents of its buffers; two of the same are lowered to the same nodes."""
    rounds = [(each.until, _forms(each.writes), each.values, each.asked, each.read) for each in case.of.rounds]
    whole = (case.mesh, case.devices, case.homes, case.moves, case.of.graph, rounds, _forms(case.of.buffers))
    return msgspec.msgpack.encode(whole)


def _forms(tensors: Mapping[str, Tensor]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(name, each.dtype, each.shape) for name, each in tensors.items()]


def _filled(made: GraphCase, case: ShardedCase) -> GraphCase:
    """Return a graph case with the contents of another case of the structure of the one that it was made of."""
    work = Lowering(case)
    work.begin()
    rounds = (replace(done, writes=work.writes(each)) for done, each in zip(made.rounds, case.of.rounds, strict=True))
    return replace(made, buffers=made.buffers | work.buffers, rounds=tuple(rounds))
