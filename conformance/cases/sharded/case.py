"""A case of the dialect ``global``: a program on logical tensors, a mesh of devices, and where tensors are placed.

The program is a graph case whose nodes are all on one device: what it means is what it means there. The placements say
nothing about values. A ``copy`` node gives its source another placement.
"""

from __future__ import annotations

import hashlib
from typing import ClassVar, Final

import msgspec

from conformance.cases.graph.case import GraphCase, keys
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Mesh, Placement, world

FORMAT: Final = 1
"""Version of the form of sharded cases; part of every id."""

NAME: Final = "global"
"""What a case file says to be of this dialect."""

OPERATIONS: Final = (
    *("buf", "const", "iota", "reshape", "permute", "expand", "pad", "shrink", "stride", "flip", "detach"),
    *("alu", "cast", "bitcast", "reduce", "gather", "contig", "copy", "assign"),
)
"""Operations of graphs that programs on sharded tensors are made of."""


class ShardedCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A program, the devices it is for, and placements.

    ``devices`` are numbers, one for each position of the mesh in row-major order. ``homes`` place buffers, ``moves``
    the values of ``copy`` nodes; what is not named is replicated. A ``reduce`` among the ``moves`` is to stay a pending
    one: its placement is ``partial`` along mesh axes that cut what it folds.
    """

    mesh: Mesh
    devices: tuple[int, ...]
    of: GraphCase
    homes: dict[str, Placement] = {}
    moves: dict[str, Placement] = {}

    troubled: ClassVar = False
    """Nothing befalls a rank."""

    @property
    def world(self) -> int:
        """Return how many devices there are."""
        return world(self.mesh)

    @property
    def results(self) -> tuple[str, ...]:
        """Return the names of all results, in order: those of the program."""
        return keys(self.of)

    def home(self, node: Node) -> Placement:
        """Return where the buffer of a node of storage is."""
        return self.homes.get(str(node.arg), REPLICATED)


def sharded_id(case: ShardedCase) -> str:
    """Return the id: nodes and mesh, dtypes and devices to read, and a digest to be exact.

    For example ``sharded_5_2x2/float32-4/0123456789ab``.
    """
    dtypes = sorted({tensor.dtype for tensor in case.of.buffers.values()})
    size = f"sharded_{len(case.of.graph.nodes)}_{'x'.join(str(axis.size) for axis in case.mesh)}"
    content = msgspec.json.encode((FORMAT, NAME, case), order="deterministic")
    return f"{size}/{'+'.join(dtypes) or 'none'}-{case.world}/{hashlib.sha256(content).hexdigest()[:12]}"
