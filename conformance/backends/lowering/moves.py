"""What goes from device to device: folds over groups of them, and parts in other places."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.backends.lowering.exchanges import STORED, exchanged
from conformance.backends.lowering.graph_builder import Building, Shape, Spread, extents
from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Box, Placement, held, layout_of, positions
from conformance.cases.sharded.rules import others
from conformance.cases.sharded.traffic import lacked
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, from_array

COLLECTIVE: Final[Mapping[str, str]] = {
    "add": "sum",
    "mul": "product",
    **{name: name for name in ("max", "min", "and", "or", "xor")},
}
"""What the collectives of programs call the folds of graphs."""

OF_BOOLS: Final = {"add": "or", "mul": "and", "max": "or", "min": "and"}

BITS: Final = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}


def all_reduced(work: Building, value: Spread, along: Mapping[str, Fold]) -> Spread:
    """Return a value folded over the devices along some mesh axes."""
    for name, fold in along.items():
        word = OF_BOOLS.get(fold, fold) if value.dtype == "bool" else COLLECTIVE[fold]
        nodes: list[Node | None] = []
        for position, at in enumerate(positions(work.case.mesh)):
            group = others(work.case.mesh, at, (name,))
            parts = [value.nodes[each] for each in group]
            sources = [each for each in parts if each is not None]
            mine = value.nodes[position]
            if mine is None or len(group) == 1 or 0 in mine.shape:
                nodes.append(mine)
                continue
            members = tuple(work.device(each) for each in group)
            rest = {"arg": "all_reduce", "attrs": {"op": word}, "members": members}
            # Each member reads what the others hold.
            work.remote += (len(group) - 1) * math.prod(extents(mine)) * NUMPY[value.dtype].itemsize
            nodes.append(work.add(position, "collective", extents(mine), value.dtype, *sources, **rest))
        left = {each: how for each, how in value.at.partial.items() if each != name}
        value = Spread(value.shape, value.dtype, replace(value.at, partial=left), tuple(nodes))
    return value


def moved(work: Building, value: Spread, at: Placement) -> Spread:
    """Return a value placed otherwise: each device gets the pieces of its part from whoever has them."""
    if value.at == at:
        return value
    if value.at.partial:
        value = all_reduced(work, value, value.at.partial)
    if value.at == at:
        return value
    if value.repeats is not None and not value.at.masks and not at.masks:
        return _repeated(work, value, moved(work, value.repeats, _before(value, value.repeats, at)), at)
    together = exchanged(work, value, at)
    if together is not None:
        return together
    have = layout_of(value.shape, value.at, work.case.mesh).boxes
    want = layout_of(value.shape, at, work.case.mesh).boxes
    nodes = [None if box is None else assembled(work, position, box, value, have) for position, box in enumerate(want)]
    return Spread(value.shape, value.dtype, at, tuple(nodes))


def _before(value: Spread, source: Spread, at: Placement) -> Placement:
    """Return where the source of an expansion is needed: what was expanded is split afterwards."""
    return replace(at, splits=tuple(each for each in at.splits if value.shape[each.axis] == source.shape[each.axis]))


def _repeated(work: Building, value: Spread, source: Spread, at: Placement) -> Spread:
    """Return a tensor expanded on every device from what it repeats."""
    shapes = held(value.shape, at, work.case.mesh)
    nodes = [
        None if part is None else work.add(position, "expand", mine, value.dtype, part)
        for position, (part, mine) in enumerate(zip(source.nodes, shapes, strict=True))
    ]
    return Spread(value.shape, value.dtype, at, tuple(nodes), source)


def price(work: Building, value: Spread, at: Placement) -> int:
    """Return the bytes that devices get from each other when a value, of which nothing is pending, is placed so."""
    if value.at == at:
        return 0
    if value.repeats is not None:
        return price(work, value.repeats, _before(value, value.repeats, at))
    mesh = work.case.mesh
    return lacked(value.dtype, layout_of(value.shape, value.at, mesh), layout_of(value.shape, at, mesh))


def assembled(work: Building, position: int, box: Box, value: Spread, have: Sequence[Box | None]) -> Node:
    """Return a part on a device, of its own where it has it, else of pieces of others."""
    own = have[position]
    if own is not None and _inside(box, own):
        return _piece(work, position, position, box, own, value)
    pieces: dict[Box, tuple[int, Box]] = {}
    for device, theirs in sorted(enumerate(have), key=lambda each: (each[0] - position) % len(have)):
        both = None if theirs is None else _both(box, theirs)
        if both is not None and theirs is not None and theirs not in {whole for _, whole in pieces.values()}:
            pieces.setdefault(both, (device, theirs))
    if not pieces:
        return work.add(position, "const", _shape(box), value.dtype, arg=zero(value.dtype))
    gathered = _gathered(work, position, box, pieces, value) if math.prod(_shape(box)) >= STORED else None
    if gathered is not None:
        return gathered
    parts = [
        (both, _piece(work, position, device, both, whole, value)) for both, (device, whole) in sorted(pieces.items())
    ]
    return parts[0][1] if len(parts) == 1 and parts[0][0] == box else _joined(work, position, box, parts, value.dtype)


def _piece(work: Building, position: int, device: int, box: Box, whole: Box, value: Spread) -> Node:
    """Return a range of what a device holds, on another."""
    node = _own(work, device, box, whole, value)
    if device == position:
        return node
    work.remote += math.prod(extents(node)) * NUMPY[value.dtype].itemsize
    return work.add(position, "copy", extents(node), value.dtype, node)


def _own(work: Building, device: int, box: Box, whole: Box, value: Spread) -> Node:
    """Return a range of what a device holds."""
    node = value.nodes[device]
    assert node is not None
    if box == whole:
        return node
    inside = tuple((a - c, b - c) for (a, b), (c, _) in zip(box, whole, strict=True))
    return work.add(device, "shrink", _shape(box), value.dtype, node, arg=inside)


def _gathered(
    work: Building, position: int, box: Box, pieces: Mapping[Box, tuple[int, Box]], value: Spread
) -> Node | None:
    """Return pieces that lie one behind the other along one axis, gathered by a device of others and its own.

    ``None`` where they do not lie so, or where there is one alone.
    """
    axes = [axis for axis, pair in enumerate(box) if any(piece[axis] != pair for piece in pieces)]
    if len(axes) != 1 or len({device for device, _ in pieces.values()}) < len(pieces):
        return None
    (axis,) = axes
    taken = {device: (piece, whole) for piece, (device, whole) in pieces.items()}
    # A device that has nothing of it takes part with no elements: who receives is a member.
    begins = {device: piece[axis][0] for device, (piece, _) in taken.items()} | (
        {} if position in taken else {position: box[axis][0]}
    )
    sources = []
    order = sorted(begins, key=lambda device: (begins[device], device in taken))
    for device in order:
        if device not in taken:
            none = tuple(0 if n == axis else end - begin for n, (begin, end) in enumerate(box))
            sources.append(work.add(device, "const", none, value.dtype, arg=zero(value.dtype)))
            continue
        sources.append(_own(work, device, *taken[device], value))
        if device != position:
            work.remote += math.prod(extents(sources[-1])) * NUMPY[value.dtype].itemsize
    attrs = {"root": order.index(position), "axis": axis, "tiled": True}
    members = tuple(work.device(each) for each in order)
    named: dict[str, Any] = {"arg": "gather", "attrs": attrs, "members": members}
    return work.add(position, "collective", _shape(box), value.dtype, *sources, **named)


def _written(work: Building, position: int, box: Box, parts: Sequence[tuple[Box, Node]], dtype: str) -> Node:
    """Return pieces in their places: each written by itself into storage that is there for that."""
    name = f"joined{len(work.buffers)}"
    work.buffers[name] = from_array(np.zeros(_shape(box), NUMPY[dtype]))
    storage = work.add(position, "buf", _shape(box), dtype, arg=name)
    for mine, part in parts:
        at = tuple((a - c, b - c) for (a, b), (c, _) in zip(mine, box, strict=True))
        target = work.add(position, "shrink", extents(part), dtype, storage, arg=at)
        work.add(position, "assign", extents(part), dtype, target, part)
    work.fresh.add(storage.id)
    return storage


def _joined(work: Building, position: int, box: Box, parts: Sequence[tuple[Box, Node]], dtype: str) -> Node:
    """Return pieces in their places, with their bits: padded with zero bits, and joined by ``or``.

    Large ones are written into storage, and complex ones, of which no integers have the bits.
    """
    if math.prod(_shape(box)) >= STORED or kind(dtype) == "complex":
        return _written(work, position, box, parts, dtype)
    bits = dtype if kind(dtype) in ("bool", "integer") else BITS[NUMPY[dtype].itemsize]
    made: Node | None = None
    for mine, part in parts:
        shown = part if bits == dtype else work.add(position, "bitcast", extents(part), bits, part)
        around = tuple((a - c, d - b) for (a, b), (c, d) in zip(mine, box, strict=True))
        placed = work.add(position, "pad", _shape(box), bits, shown, arg=around)
        made = placed if made is None else work.add(position, "alu", _shape(box), bits, made, placed, arg="or")
    assert made is not None
    return made if bits == dtype else work.add(position, "bitcast", _shape(box), dtype, made)


def _shape(box: Box) -> Shape:
    return tuple(end - begin for begin, end in box)


def zero(dtype: str) -> Tensor:
    """Return a constant zero."""
    return from_array(np.zeros((), NUMPY[dtype]))


def _inside(box: Box, whole: Box) -> bool:
    return all(c <= a and b <= d for (a, b), (c, d) in zip(box, whole, strict=True))


def _both(one: Box, other: Box) -> Box | None:
    """Return the elements that two boxes have in common, ``None`` where that is none."""
    found = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(one, other, strict=True))
    return found if all(begin < end for begin, end in found) else None
