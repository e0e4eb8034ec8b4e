"""Steps that move elements: other shapes, other orders, parts, and zeros around."""

from __future__ import annotations

from conformance.generate import choices
from conformance.generate.graphs.nodes import Shape
from conformance.generate.schedules.graph_nodes import GraphChain


def reshape(chain: GraphChain) -> bool:
    """Go on with another shape of the same elements."""
    shape = chain.head.shape
    found: list[Shape] = [(*shape, 1), (1, *shape), (*shape[:1], 1, *shape[1:])]
    if len(shape) < 2:
        # So that a reduce may follow, and more of them.
        deeper = chain.draw(choices.sampled_from([(1, *shape, 1), (1, 1, *shape), (1, *shape, 1, 1)]))
        return chain.on(chain.moved("reshape", deeper, chain.head))
    found.append(shape[::-1])
    if all(isinstance(extent, int) for extent in shape):
        count = chain.count(shape)
        found += [(count,), *((part, count // part) for part in (2, 3, 4) if count and count % part == 0)]
        found += [(2, 2, count // 4)] if count and count % 4 == 0 else []
    fitting = [each for each in found if chain.room(each) and each != shape] or [shape]
    return chain.on(chain.moved("reshape", chain.draw(choices.sampled_from(fitting)), chain.head))


def turn(chain: GraphChain) -> bool:
    """Go on with axes in another order, or turned round."""
    at, rank = chain.head, len(chain.head.shape)
    flips = rank == 1 or (rank > 1 and "flip" in chain.swarm.moves)
    if flips and ("permute" not in chain.swarm.moves or rank == 1 or chain.draw(choices.booleans())):
        axes = chain.draw(choices.subsets(range(rank)))
        return chain.on(chain.moved("flip", at.shape, at, tuple(axes)))
    arg = tuple(chain.draw(choices.permutations(range(rank))))
    return chain.on(chain.moved("permute", tuple(at.shape[axis] for axis in arg), at, arg))


def window(chain: GraphChain) -> bool:
    """Go on with a part of the head: a range of each axis, a strided slice, or as many as a variable says."""
    at, draw = chain.head, chain.draw
    if draw(choices.booleans()) and chain.variables and _narrow(chain):
        return True
    numbers = all(isinstance(extent, int) for extent in at.shape)
    if numbers and at.shape and "stride" in chain.swarm.moves and draw(choices.booleans()):
        arg = tuple(draw(choices.integers(1, 2)) for _ in at.shape)
        shape = tuple(-(-int(extent) // step) for extent, step in zip(at.shape, arg, strict=True))
        return chain.on(chain.moved("stride", shape, at, arg))
    pairs = []
    for extent in at.shape:
        if isinstance(extent, str) or extent == 0:
            pairs.append(((0, extent), extent))
            continue
        # Most axes lose one element at most, so that a chain can go on.
        first = draw(choices.integers(0, min(1, extent - 1)))
        beyond = max(first + 1, extent - draw(choices.integers(0, 1)))
        pairs.append(((first, beyond), beyond - first))
    return chain.on(chain.moved("shrink", tuple(n for _, n in pairs), at, tuple(pair for pair, _ in pairs)))


def _narrow(chain: GraphChain) -> bool:
    """Go on with as many elements of an axis as a variable says, if an axis has as many."""
    name = chain.draw(choices.sampled_from(sorted(chain.variables)))
    at, most = chain.head, chain.variables[name].high
    fitting = [axis for axis, extent in enumerate(at.shape) if isinstance(extent, int) and extent >= most]
    if not fitting:
        return False
    target = list(at.shape)
    target[chain.draw(choices.sampled_from(fitting))] = name
    return chain.on(chain.moved("shrink", tuple(target), at, tuple((0, extent) for extent in target)))


def widen(chain: GraphChain) -> bool:
    """Go on with zeros around the head, or with the head several times."""
    at, draw = chain.head, chain.draw
    expanded = tuple(2 if extent == 1 else extent for extent in at.shape)
    if expanded != at.shape and chain.room(expanded) and draw(choices.booleans()):
        return chain.on(chain.moved("expand", expanded, at))
    pairs = [
        (0, 0) if isinstance(extent, str) else (draw(choices.integers(0, 1)), draw(choices.integers(0, 1)))
        for extent in at.shape
    ]
    shape = tuple(
        extent if isinstance(extent, str) else before + extent + after
        for (before, after), extent in zip(pairs, at.shape, strict=True)
    )
    if not chain.room(shape) and at.shape:
        pairs, shape = [(0, 0)] * len(pairs), at.shape
    return chain.on(chain.moved("pad", shape, at, tuple(pairs)))
