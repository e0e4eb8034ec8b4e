"""Assigns to views of sharded storage."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from conformance.backends.lowering.graph_builder import Spread, extents
from conformance.backends.lowering.moves import moved
from conformance.backends.lowering.program import Lowering
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED
from conformance.cases.sharded.rules import Unmovable, rule
from conformance.cases.tensor.dtypes import Array


def assign(work: Lowering, node: Node) -> None:
    """Write into the parts of storage that hold what the target shows."""
    target, value = work.named[node.of[0]], work.value(node.of[1])
    if not math.prod(value.shape):
        return
    try:
        view = _view(work, target)
    except Unmovable:
        _scattered(work, target, value)
        return
    there = moved(work, value, view.at)
    for position, (mine, given) in enumerate(zip(view.nodes, there.nodes, strict=True)):
        if mine is not None and given is not None and 0 not in mine.shape:
            work.add(position, "assign", extents(mine), mine.dtype, mine, given)


def _view(work: Lowering, node: Node) -> Spread:
    """Return the views of storage, one a device, that a target is; raise ``Unmovable`` where it is across parts."""
    if node.op == "buf":
        storage = work.storages[str(node.arg)]
        if storage.shape == extents(node):
            return storage
        node = replace(node, op="reshape", of=("",), arg=None)
        source = storage
    else:
        source = _view(work, work.named[node.of[0]])
        if node.op == "assign":
            return source
    how = rule(node, [source.shape], [source.dtype], [source.at], work.case.mesh)
    shape = extents(node)
    return Spread(shape, source.dtype, how.made, work.local(node, [source], how.made, shape))


def _scattered(work: Lowering, target: Node, value: Spread) -> None:
    """Write a view across parts: every device takes what is new of its part by numbers that are known now."""
    storage = work.storages[work.home(target.id)]
    where = np.full(math.prod(storage.shape), -1, np.int64)
    shown = _places(work, target).reshape(-1)
    where[shown] = np.arange(shown.size)
    where = where.reshape(storage.shape)
    whole = moved(work, value, REPLICATED)
    for position, part in enumerate(work.cut(where, storage.at)):
        mine, given = storage.nodes[position], whole.nodes[position]
        if part is None or mine is None or given is None or not part.size:
            continue
        count = len(work.buffers)
        index = work.stored(f"index{count}", position, np.maximum(part, 0).reshape(-1).astype(np.int32), "int32")
        fresh = work.stored(f"fresh{count}", position, part >= 0, "bool")
        flat = work.add(position, "reshape", (shown.size,), value.dtype, given)
        taken = work.add(position, "gather", (part.size,), value.dtype, flat, index, arg=0)
        new = work.add(position, "reshape", part.shape, value.dtype, taken)
        chosen = work.add(position, "alu", part.shape, value.dtype, fresh, new, mine, arg="where")
        work.add(position, "assign", part.shape, value.dtype, mine, chosen)


def _places(work: Lowering, node: Node) -> Array:
    """Return the position in its buffer of each element that a name of storage shows."""
    if node.op == "buf":
        return np.arange(math.prod(extents(node))).reshape(extents(node))
    at = _places(work, work.named[node.of[0]])
    axes = tuple(each for each in node.arg if isinstance(each, int)) if isinstance(node.arg, tuple) else ()
    pairs = [each for each in node.arg if isinstance(each, tuple)] if isinstance(node.arg, tuple) else []
    if node.op == "reshape":
        return at.reshape(extents(node))
    if node.op == "permute":
        return at.transpose(axes)
    if node.op == "shrink":
        return at[tuple(slice(int(begin), int(end)) for begin, end in pairs)]
    if node.op == "stride":
        return at[tuple(slice(None, None, step) for step in axes)]
    return np.flip(at, axes) if node.op == "flip" else at
