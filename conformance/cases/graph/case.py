"""A case of the dialect ``graph``: a lazy tensor graph, what its buffers hold at first, and the rounds it runs in.

The nodes mean what eager evaluation in list order makes of them. A round lists some more of them, and then asks for
values and reads buffers. An implementation may compute whatever it likes as late as it likes; what it keeps from one
round to the next, and what was written since, are part of what is tested.
"""

from __future__ import annotations

import hashlib
from typing import ClassVar, Final

import msgspec

from conformance.cases.graph.buffer import Bounds, Buffer, Declarations, Device
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Graph, Node
from conformance.cases.tensor.tensor import Tensor

FORMAT: Final = 1
"""Version of the form of graph cases; part of every id."""


class Round(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What happens between two looks at values, in this order.

    ``writes`` go into whole buffers, from outside. Then the nodes of the graph up to number ``until``, not included,
    are listed that earlier rounds did not list, with ``values`` for variables, or else those that the graph gives. Then
    the values of the nodes ``asked`` for are wanted, together, and after them what the buffers to be ``read`` hold.
    A node may be asked for in several rounds: a computed one is worth what it was when it was listed, a name of storage
    what is stored by then.
    """

    until: int
    writes: dict[str, Tensor] = {}
    values: dict[str, int] = {}
    asked: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class GraphCase(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A graph, the first content of each buffer by name, and rounds in order. The last one lists all nodes.

    The results of the graph are all that any round asks for, each once, in the order in which it is first asked for.
    """

    graph: Graph
    buffers: dict[str, Tensor]
    rounds: tuple[Round, ...]

    troubled: ClassVar = False
    """Nothing befalls a rank."""

    def listed(self, number: int) -> tuple[Node, ...]:
        """Return the nodes that a round lists."""
        first = self.rounds[number - 1].until if number else 0
        return self.graph.nodes[first : self.rounds[number].until]

    def bound(self, number: int) -> dict[str, int]:
        """Return the value of each variable in a round."""
        return {name: each.value for name, each in self.graph.variables.items()} | self.rounds[number].values


def asked_key(number: int, node: str) -> str:
    """Return the name, among the results of an observation, of the value of a node that a round asked for."""
    return f"{number}/{node}"


def read_key(number: int, buffer: str) -> str:
    """Return the name of what a buffer held when a round read it."""
    return f"{number}/buffer/{buffer}"


def keys(case: GraphCase) -> tuple[str, ...]:
    """Return the names of all results, in order."""
    return tuple(
        key
        for number, each in enumerate(case.rounds)
        for key in (
            *(asked_key(number, node) for node in each.asked),
            *(read_key(number, buffer) for buffer in each.read),
        )
    )


def computed(graph: Graph) -> tuple[Node, ...]:
    """Return the nodes that are neither leaves nor movement."""
    return tuple(node for node in graph.nodes if node.op not in (*LEAVES, *MOVEMENT))


def graph_digest(case: GraphCase) -> str:
    """Return the first 12 hex digits of the SHA-256 of format version, graph, buffers and rounds."""
    content = msgspec.json.encode((FORMAT, "graph", case), order="deterministic")
    return hashlib.sha256(content).hexdigest()[:12]


def graph_case_id(case: GraphCase) -> str:
    """Return the id: nodes and rounds, dtypes of buffers and devices to read, and the digest to be exact.

    For example ``graph_12_2/float32-1/0123456789ab``.
    """
    dtypes = sorted({tensor.dtype for tensor in case.buffers.values()})
    size = f"graph_{len(case.graph.nodes)}_{len(case.rounds)}"
    devices = len({node.device for node in case.graph.nodes})
    return f"{size}/{'+'.join(dtypes) or 'none'}-{devices}/{graph_digest(case)}"


def declared(case: GraphCase) -> Declarations:
    """Return what the nodes of a case may name: devices, buffers and variables."""
    homes = {str(node.arg): node.device for node in case.graph.nodes if node.op == "buf"}
    devices = dict.fromkeys([*homes.values(), *(node.device for node in case.graph.nodes)], Device())
    inner = {node.device for each in case.graph.functions.values() for node in each.nodes}
    devices |= dict.fromkeys(sorted(inner), Device())
    # A buffer that no node names is on any device.
    first = next(iter(devices), "d0")
    return Declarations(
        devices=devices or {first: Device()},
        buffers=tuple(
            Buffer(
                id=name,
                size=len(tensor.bits) // 2,
                dtype=tensor.dtype,
                device=homes.get(name, first),
                preexisting=True,
                held=True,
            )
            for name, tensor in case.buffers.items()
        ),
        variables={name: Bounds(low=each.low, high=each.high) for name, each in case.graph.variables.items()},
        bound={name: each.value for name, each in case.graph.variables.items()},
    )
