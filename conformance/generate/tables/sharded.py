"""The table of programs on sharded tensors: those of graphs, with a mesh, where operands are, and what moves."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import OPERATIONS, ShardedCase
from conformance.cases.sharded.placement import Mesh, Placement, Split, even_cuts
from conformance.generate.table import Row, Table
from conformance.generate.tables import graphs
from conformance.judging.sharded.subject import sharded_meaning

WAYS: Final = ("even", "whole", "uneven", "empty first", "empty last", "last axis", "two axes", "nested", "reversed")

FACTORS: Final[Mapping[str, Any]] = {
    **{
        name: levels
        for name, levels in graphs.FACTORS.items()
        if name not in ("dtype", "values", "asked", "source", "written")
    },
    "dtype": ("int32", "float32", "uint8", "int64", "bool", "bfloat16", "float16", "float64"),
    "source": ("storage", "turned", "part", "computed"),
    "written": ("never", "view before", "from outside"),
    "asked": ("last", "both"),
    "values": ("plain", "ends", "special"),
    "shape": ((4, 6), (5, 4), (8,), (7,), (1, 4), (2, 3, 2), ()),
    "mesh": ((2,), (4,), (3,), (2, 2), (1, 2)),
    "devices": ("in order", "turned"),
    "home": WAYS,
    "home of others": WAYS,
    "move": ("none", *WAYS, "twice"),
}


def case_of(row: Row) -> ShardedCase | None:
    """Return the program of a row, ``None`` where it has no meaning."""
    plain = graphs.case_of(row)
    if plain is None or any(node.op not in OPERATIONS for node in plain.graph.nodes):
        return None
    mesh = tuple(Axis(name, size) for name, size in zip("ij", row["mesh"], strict=False))
    homes: dict[str, Placement] = {}
    for number, (name, tensor) in enumerate(plain.buffers.items()):
        way = placement(row["home of others"] if number else row["home"], tensor.shape, mesh)
        if way is None:
            return None
        homes[name] = way
    moves: dict[str, Placement] = {}
    if row["move"] != "none":
        made = _moved(plain.graph.nodes, plain.graph.results[-1], row["move"], mesh)
        if made is None:
            return None
        nodes, moves = made
        last = nodes[-1].id
        graph = replace(plain.graph, nodes=nodes, results=(*plain.graph.results[:-1], last))
        old = plain.graph.results[-1]
        rounds = tuple(
            replace(each, until=len(nodes), asked=tuple(last if name == old else name for name in each.asked))
            for each in plain.rounds
        )
        plain = replace(plain, graph=graph, rounds=rounds)
    count = prod(axis.size for axis in mesh)
    devices = tuple(range(count)) if row["devices"] == "in order" else tuple(reversed(range(count)))
    return legal(ShardedCase(mesh=mesh, devices=devices, of=plain, homes=homes, moves=moves))


def _moved(
    nodes: tuple[Node, ...], name: str, word: str, mesh: Mesh
) -> tuple[tuple[Node, ...], dict[str, Placement]] | None:
    """Return the nodes with one or two copies of the last result, and where these are placed."""
    source = next(node for node in nodes if node.id == name)
    shape = tuple(map(int, source.shape))
    moves: dict[str, Placement] = {}
    for way in ("even", "last axis") if word == "twice" else (word,):
        placed = placement(way, shape, mesh)
        if placed is None:
            return None
        made = Node(id=f"m{len(moves)}", op="copy", of=(name,), shape=shape, dtype=source.dtype, device="d0")
        nodes, name = (*nodes, made), made.id
        moves[name] = placed
    return nodes, moves


def placement(word: str, shape: tuple[int, ...], mesh: Mesh) -> Placement | None:
    """Return a placement of a kind, ``None`` where a tensor of this shape or this mesh has none."""
    if word == "whole":
        return Placement()
    two = word in ("two axes", "nested", "reversed")
    if not shape or (two and len(mesh) < 2) or (word == "two axes" and len(shape) < 2):
        return None
    return Placement(splits=_splits(word, shape, mesh))


def _splits(word: str, shape: tuple[int, ...], mesh: Mesh) -> tuple[Split, ...]:
    names, extent, size = [axis.name for axis in mesh], shape[0], mesh[0].size
    if word == "last axis":
        return (Split(axis=len(shape) - 1, along=(names[0],), cuts=even_cuts(shape[-1], size)),)
    if word in ("nested", "reversed"):
        along = (names[0], names[1]) if word == "nested" else (names[1], names[0])
        return (Split(axis=0, along=along, cuts=even_cuts(extent, size * mesh[1].size)),)
    cuts = {
        "uneven": (0, *(min(1 + at, extent) for at in range(size - 1)), extent),
        "empty first": (0, *even_cuts(extent, size - 1)) if size > 1 else (0, extent),
        "empty last": (*even_cuts(extent, size - 1), extent) if size > 1 else (0, extent),
    }.get(word, even_cuts(extent, size))
    first = Split(axis=0, along=(names[0],), cuts=cuts)
    if word != "two axes":
        return (first,)
    return first, Split(axis=1, along=(names[1],), cuts=even_cuts(shape[1], mesh[1].size))


def legal(case: ShardedCase) -> ShardedCase | None:
    """Return a case that has a meaning, ``None`` instead of any other."""
    try:
        return case if sharded_meaning(case).legal else None
    except ValueError:
        return None


TABLE_OF_SHARDED: Final = Table("sharded tensors", FACTORS, case_of)
"""Every two levels that can meet do, in some case."""
