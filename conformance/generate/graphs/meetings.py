"""Steps in which devices meet: what one of them receives is a value of the graph as any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import GraphDraft
from conformance.generate.graphs.nodes import Shape
from conformance.generate.graphs.vocabulary import plainest

BITWISE: Final = ("and", "or", "xor")
EXTREMES: Final = ("max", "min")

_PEERS: Final = choices.sampled_from(("fitted", "computed", "stored", "computed"))

Call = tuple[str, dict[str, Any], tuple[int, ...]]
"""An operation, its attributes, and the shape that each member receives."""


def meet(asked: GraphDraft, *, calls: bool | None = None) -> bool:
    """Go on with what a device receives when several meet: the fold of a value of each, or another of the ``calls``.

    There is none on one device, nor a call of extents that are variables. Where ``calls`` are told, nobody asks for
    values: all reductions are settled.
    """
    at, shape = asked.head, asked.head.shape
    reductions = _reductions(at, settled=asked.swarm.plain or calls is not None)
    devices = sorted({node.device for node in asked.nodes})
    symbolic = any(isinstance(extent, str) for extent in shape)
    if len(devices) < 2 or (symbolic and calls is not False):
        return False
    members = tuple(asked.draw(choices.permutations(devices)))
    way = asked.draw(_PEERS)
    of = [at if device == at.device else _peer(asked, at, device, way) for device in members]
    receiving = [members[0], *(device for device in members[1:] if asked.draw(choices.booleans()))]
    folded = asked.draw(choices.integers(0, 3)) == 3 if calls is None else not calls
    if folded and reductions:
        name = asked.draw(choices.sampled_from(reductions))
        fold = "add" if name == "sum" else name
        made = [asked.add("all_reduce", shape, at.dtype, *of, device=device, fold=fold) for device in receiving]
    elif symbolic:
        return False
    else:
        fitting = [each for each in _calls(asked, shape, len(members), reductions) if asked.room(each[2])]
        op, attrs, result = asked.draw(choices.sampled_from(fitting))
        rest = {"arg": op, "attrs": attrs, "members": members}
        made = [asked.add("collective", result, at.dtype, *of, device=device, **rest) for device in receiving]
    return asked.on(asked.draw(choices.sampled_from(made)))


def _peer(asked: GraphDraft, at: Node, device: str, way: str) -> Node:
    """Return a value like another on a device: what is computed of new storage, that, or one that is made to fit.

    Of extents that are variables it is a part of storage.
    """
    like = Node(id="", op="buf", shape=at.shape, dtype=at.dtype, device=device)
    if way == "fitted":
        return asked.fitted(like)
    found = asked.buffer(sizes(at.shape, asked.most), at.dtype, device)
    if found.shape != at.shape:
        found = asked.moved("shrink", at.shape, found, tuple((0, extent) for extent in at.shape))
    if way == "stored":
        return found
    return asked.add("alu", at.shape, at.dtype, found, asked.fitted(like), arg=plainest(at.dtype))


def _reductions(at: Node, *, settled: bool) -> tuple[str, ...]:
    """Return the reductions of a value whose results are settled; those of floats are where the data is plain."""
    family = kind(at.dtype)
    if family == "integer":
        return ("sum", *EXTREMES, *BITWISE)
    if family == "bool":
        return BITWISE[:2]
    return ("sum", *EXTREMES) if family == "float" and settled else ()


def _calls(asked: GraphDraft, shape: Shape, count: int, reductions: tuple[str, ...]) -> Iterator[Call]:
    """Yield calls that fit a value of each of so many members."""
    draw, whole = asked.draw, tuple(int(str(extent)) for extent in shape)
    turn = draw(choices.integers(0, count - 1))
    pairs = tuple((number, (number + turn) % count) for number in range(count))
    yield "broadcast", {"root": turn}, whole
    yield "permute", {"pairs": pairs[draw(choices.integers(0, 1)) :]}, whole
    new = draw(choices.integers(0, len(whole)))
    yield "all_gather", {"axis": new, "tiled": False}, (*whole[:new], count, *whole[new:])
    if reductions:
        yield "all_reduce", {"op": reductions[0]}, whole
        yield "all_reduce", {"op": draw(choices.sampled_from(reductions))}, whole
    if not whole:
        return
    axis, other = (draw(choices.integers(0, len(whole) - 1)) for _ in range(2))
    yield "all_gather", {"axis": axis, "tiled": True}, _scaled(whole, axis, count, 1)
    if whole[axis] % count:
        return
    if reductions:
        op = draw(choices.sampled_from(reductions))
        yield "reduce_scatter", {"op": op, "axis": axis, "tiled": True}, _scaled(whole, axis, 1, count)
    parts = _scaled(whole, axis, 1, count)
    yield "all_to_all", {"split_axis": axis, "concat_axis": other, "tiled": True}, _scaled(parts, other, count, 1)


def _scaled(shape: tuple[int, ...], axis: int, by: int, over: int) -> tuple[int, ...]:
    return tuple(extent * by // over if number == axis else extent for number, extent in enumerate(shape))
