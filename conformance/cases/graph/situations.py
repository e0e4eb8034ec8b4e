"""The table of features of graphs: what each computed node is told apart by, in one word for each feature.

It has the form of the table of programs (``cases.situations``). A *situation* is one computed node with its words.
Three nodes of which each is a source of the next are a trigram of their ``CLASSES``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.cases.graph.extent import Dim, sizes
from conformance.cases.graph.graph import Graph, Node, variables_of
from conformance.cases.tensor.dtypes import kind

Situation = Mapping[str, str]
"""One word for each feature."""

CLASS_OF: Final = {
    "alu": "elementwise",
    "cast": "convert",
    "bitcast": "convert",
    "reduce": "reduce",
    "reshape": "reshape",
    "permute": "turn",
    "flip": "turn",
    "shrink": "window",
    "stride": "window",
    "gather": "window",
    "pad": "widen",
    "expand": "widen",
    "contig": "keep",
    "detach": "keep",
    "call": "keep",
    "item": "keep",
    "copy": "cross",
    "all_reduce": "cross",
    "collective": "cross",
    "assign": "assign",
}
"""The class of a node that is no leaf. A comparison and a choice are conversions: from or to bool."""

CLASSES: Final = tuple(dict.fromkeys(CLASS_OF.values()))
"""The classes of steps, of which three in a row along the sources are a trigram."""

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    "class": CLASSES,
    "dtype": ("bool", "signed", "unsigned", "half", "single", "double", "complex"),
    "rank": ("0", "1", "2", "more"),
    "extent": ("one", "few", "many"),
    "source": ("storage", "written", "view", "value"),
    "users": ("none", "one", "several"),
    "devices": ("1", "2", "more"),
    "symbolic": ("no", "yes"),
}
"""Every feature and its words.

``dtype``: floats of at most 16 bits are ``half``, of 64 ``double``. ``extent``: ``few`` are 2 to 8 elements, by the
greatest values of variables. ``source`` is the first source, or the value of an assign: ``storage`` that was only read,
storage that an earlier node has ``written``, movement of a value (``view``), or a computed ``value``. ``users`` are
nodes. ``devices`` are those of the graph, and ``symbolic`` says whether it has variables.
"""

INFEASIBLE: Final[Mapping[str, tuple[Situation, ...]]] = {
    "a value without axes has one element": ({"rank": "0", "extent": "few"}, {"rank": "0", "extent": "many"}),
}
"""Words that no value has together, by the reason. Draws have all other pairs."""

EXCLUDED: Final = tuple(pair for pairs in INFEASIBLE.values() for pair in pairs)

_MOVING: Final = ("reshape", "turn", "window", "widen")
_SELECTING: Final = ("where", "lt", "ne", "eq")


def class_of(node: Node) -> str | None:
    """Return the class of a node, or ``None`` for a leaf."""
    return "convert" if node.op == "alu" and node.arg in _SELECTING else CLASS_OF.get(node.op)


def trigrams(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Yield the classes of every three nodes of which each is a source of the next."""
    nodes = {node.id: node for node in graph.nodes}
    for last in graph.nodes:
        for middle in (nodes[name] for name in last.of):
            for first in (nodes[name] for name in middle.of):
                found = class_of(first), class_of(middle), class_of(last)
                if found[0] is not None and found[1] is not None and found[2] is not None:
                    yield found[0], found[1], found[2]


def situations(graph: Graph) -> list[Situation]:
    """Return the situation of every node of a graph that is no leaf, in order."""
    nodes = {node.id: node for node in graph.nodes}
    users: dict[str, int] = {}
    for node in graph.nodes:
        for used in set(node.of):
            users[used] = users.get(used, 0) + 1
    devices = len({node.device for node in graph.nodes})
    homes: dict[str, str | None] = {}
    written: set[str] = set()
    found: list[Situation] = []
    for node in graph.nodes:
        homes[node.id] = _home(node, homes)
        name = class_of(node)
        if name is not None and 0 not in sizes(node.shape, graph.most):
            source = nodes[node.of[-1 if node.op == "assign" else 0]] if node.of else node
            found.append(
                {
                    "class": name,
                    "dtype": dtype_word(node.dtype),
                    "rank": str(len(node.shape)) if len(node.shape) < 3 else "more",
                    "extent": extent_word(node.shape, graph.most),
                    "source": _source_word(source, homes, written),
                    "users": ("none", "one", "several")[min(users.get(node.id, 0), 2)],
                    "devices": str(devices) if devices < 3 else "more",
                    "symbolic": "yes" if graph.variables or variables_of(node) else "no",
                }
            )
        if node.op == "assign":
            written.add(str(homes[node.id]))
    return found


def _home(node: Node, homes: Mapping[str, str | None]) -> str | None:
    """Return the buffer that a node is a name of, if any."""
    if node.op == "buf":
        return str(node.arg)
    named = node.op in ("assign", "detach") or class_of(node) in _MOVING
    return homes[node.of[0]] if named else None


def _source_word(source: Node, homes: Mapping[str, str | None], written: set[str]) -> str:
    home = homes[source.id]
    if home is not None:
        return "written" if home in written else "storage"
    return "view" if class_of(source) in _MOVING else "value"


def dtype_word(dtype: str) -> str:
    """Return the class of a dtype."""
    words = {"float32": "single", "float64": "double"}
    if kind(dtype) == "integer":
        return "unsigned" if dtype.startswith("u") else "signed"
    return words.get(dtype, "half" if kind(dtype) == "float" else kind(dtype))


def extent_word(shape: tuple[Dim, ...], most: Mapping[str, int]) -> str:
    """Return the class of a number of elements."""
    count = math.prod(sizes(shape, most))
    return "one" if count < 2 else "few" if count <= 8 else "many"
