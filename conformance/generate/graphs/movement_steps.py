"""The steps of the grammar that move what there is, and those that assign to views of storage."""

from __future__ import annotations

import math

from conformance.cases.graph.extent import Dim
from conformance.cases.graph.graph import Node
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.nodes import MOST_AXES, Shape, alike
from conformance.generate.graphs.vocabulary import taking


def reshape(asked: GraphDraft) -> bool:
    """Go on with another shape of the same elements."""
    shape = asked.head.shape
    found: list[Shape] = [(*shape, 1), (1, *shape)]
    if 1 in shape:
        found.append(tuple(extent for extent in shape if extent != 1))
    if all(isinstance(extent, int) for extent in shape):
        count = asked.count(shape)
        found += [(count,), shape[::-1]]
        found += [(part, count // part) for part in (2, 3, 4) if count and count % part == 0]
        found += [(2, 2, count // 4)] if count and count % 4 == 0 else []
    fitting = [each for each in found if len(each) <= MOST_AXES]
    return bool(fitting) and asked.on(asked.moved("reshape", asked.draw(choices.sampled_from(fitting)), asked.head))


def turn(asked: GraphDraft) -> bool:
    """Go on with axes in another order, or turned round."""
    at, rank = asked.head, len(asked.head.shape)
    if not rank:
        return False
    if rank == 1 or chance(asked.draw, 2):
        return asked.on(asked.moved("flip", at.shape, at, tuple(asked.draw(choices.subsets(range(rank))))))
    arg = tuple(asked.draw(choices.permutations(range(rank))))
    return asked.on(asked.moved("permute", tuple(at.shape[axis] for axis in arg), at, arg))


def window(asked: GraphDraft) -> bool:
    """Go on with a part of the head: a range of each axis, a strided slice, or as many as a variable says."""
    at, draw = asked.head, asked.draw
    if not at.shape:
        return False
    if asked.variables and chance(draw, 2) and narrow(asked):
        return True
    if chance(draw, 3):
        return strided(asked)
    pairs: list[tuple[Dim, Dim]] = []
    shapes: list[Dim] = []
    for extent in at.shape:
        if isinstance(extent, str):
            pairs.append((0, extent))
            shapes.append(extent)
        else:
            first = draw(choices.integers(0, min(2, extent)))
            beyond = max(first, extent - draw(choices.sampled_from([0, 1, 0, 2])))
            pairs.append((first, beyond))
            shapes.append(beyond - first)
    return asked.on(asked.moved("shrink", tuple(shapes), at, tuple(pairs)))


def strided(asked: GraphDraft) -> bool:
    """Go on with a strided slice, of some axes from behind."""
    at, draw = asked.head, asked.draw
    arg = tuple(1 if isinstance(extent, str) else draw(choices.sampled_from([2, 1, -1, -2, 3])) for extent in at.shape)
    shape = tuple(
        extent if isinstance(extent, str) else -(-extent // abs(step))
        for extent, step in zip(at.shape, arg, strict=True)
    )
    return asked.on(asked.moved("stride", shape, at, arg))


def narrow(asked: GraphDraft) -> bool:
    """Go on with as many elements of an axis as a variable says, if an axis has as many."""
    if not asked.variables:
        return False
    name = asked.draw(choices.sampled_from(sorted(asked.variables)))
    at, most = asked.head, asked.variables[name].high
    fitting = [axis for axis, extent in enumerate(at.shape) if isinstance(extent, int) and extent >= most]
    if not fitting or name in at.shape:
        return False
    target = list(at.shape)
    target[asked.draw(choices.sampled_from(fitting))] = name
    return asked.on(asked.moved("shrink", tuple(target), at, tuple((0, extent) for extent in target)))


def pad(asked: GraphDraft) -> bool:
    """Go on with zeros around the head, often of what is no zero at zero, and then with something of it."""
    at, draw = asked.head, asked.draw
    pairs = [
        (0, 0) if isinstance(n, str) else (draw(choices.integers(0, 2)), draw(choices.integers(0, 1))) for n in at.shape
    ]
    shape = tuple(
        extent if isinstance(extent, str) else before + extent + after
        for (before, after), extent in zip(pairs, at.shape, strict=True)
    )
    if not asked.room(shape):
        return False
    return asked.on(asked.moved("pad", shape, at, tuple(pairs)))


def expand(asked: GraphDraft) -> bool:
    """Go on with the head several times along an axis of one element, or along a new one."""
    at = asked.head
    if 1 not in at.shape:
        if len(at.shape) >= MOST_AXES:
            return False
        asked.head = at = asked.moved("reshape", (1, *at.shape), at)
    wanted = asked.draw(choices.sampled_from([2, 3, 0, 4]))
    shape = tuple(wanted if extent == 1 else extent for extent in at.shape)
    return asked.room(shape) and asked.on(asked.moved("expand", shape, at))


def assign(asked: GraphDraft) -> bool:
    """Assign to a view of a buffer: the head where it fits, a value that reads the same buffer, or another."""
    draw = asked.draw
    targets = [node for node in asked.usable() if node.id in asked.open and asked.count(node.shape)]
    if not targets:
        return False
    target = targets[draw.source.below(min(len(targets), 6))]
    if (
        chance(draw, 2)
        and target.op == "buf"
        and all(isinstance(n, int) and n > 1 for n in target.shape)
        and target.shape
    ):
        head, asked.head = asked.head, target
        window(asked)
        target, asked.head = asked.head, head
    like = [node for node in asked.usable() if alike(node, target) and node != target]
    at = asked.head
    value = at if alike(at, target) and chance(draw, 2) else _hazard(asked, target) if chance(draw, 2) else None
    value = value or (draw(choices.sampled_from(like)) if like and chance(draw, 2) else asked.fitted(target))
    made = asked.add("assign", target.shape, target.dtype, target, value)
    asked.open.add(made.id)
    asked.written.append(home(asked, made))
    return asked.on(made)


def _hazard(asked: GraphDraft, target: Node) -> Node:
    """Return a value that reads what the target shows, in another order or all of it."""
    head, asked.head = asked.head, target
    turn(asked)
    found = asked.head
    asked.head = head
    if found.shape != target.shape:
        found = asked.moved("reshape", target.shape, found) if _counted(found) else target
    words = taking(target.dtype, ("add", "max", "mul", "xor"))
    return asked.add(
        "alu", target.shape, target.dtype, found, asked.fitted(target), arg=asked.draw(choices.sampled_from(words))
    )


def _counted(node: Node) -> bool:
    return all(isinstance(extent, int) for extent in node.shape) and math.prod(int(str(n)) for n in node.shape) >= 0


def home(asked: GraphDraft, node: Node) -> str:
    """Return the buffer that a name of storage shows."""
    nodes = {each.id: each for each in asked.nodes}
    while node.op != "buf":
        node = nodes[node.of[0]]
    return str(node.arg)
