"""Ring: pieces travel from member to member, so each device speaks to its neighbour only.

The chunking rule is that of seed 000: the flat block is cut at multiples of the largest of 32, 16, 8, 4, 2, 1 that
divides it, as evenly as that allows, longer chunks first, empty chunks dropped. Chunks are joined by writing each at
its offset.
"""

from __future__ import annotations

import itertools

from conformance.backends.opencl.graph import Collective, Elementwise, Join, Movement, Part, Reduce, whole
from conformance.backends.opencl.lower.naive import fetched
from conformance.backends.opencl.lower.received import arrivals, operands
from conformance.backends.opencl.view import View, contiguous


def chunks(elements: int, members: int) -> tuple[tuple[int, int], ...]:
    """Return ``(start, stop)`` of each chunk of a flat block."""
    factor = next(f for f in (32, 16, 8, 4, 2, 1) if elements % f == 0)
    base, left = divmod(elements // factor, members)
    sizes = [(base + 1) * factor] * left + [base * factor] * (members - left)
    bounds = [0, *itertools.accumulate(size for size in sizes if size)]
    return tuple(itertools.pairwise(bounds))


def ring(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    """Return each member's result after every piece went round."""
    return {
        "all_reduce": _all_reduce,
        "reduce_scatter": _reduce_scatter,
        "all_gather": _all_gather,
        "broadcast": _broadcast,
    }[made.operation](made, group)


def _all_reduce(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    size, elements = len(group), contiguous(made.shape).size
    flat = [_flat(block, made.dtype) for block in operands(made, group, 0)]
    bounds = chunks(elements, size)
    complete = []
    for i, (start, stop) in enumerate(bounds):
        travelling = [Movement(node, View((stop - start,), (1,), start)) for node in flat]
        complete.append(_round(made, group, travelling, i))
    found: dict[int, list[Part]] = {rank: [] for rank in group}
    for i, ((start, stop), chunk) in enumerate(zip(bounds, complete, strict=True)):
        at = View((stop - start,), (1,), start)
        for position, here in _travel(group, chunk, (i + size - 1) % size).items():
            found[group[position]].append(Part(at, here))
    return {rank: whole(Join(rank, made.dtype, elements, tuple(parts)), made.shape) for rank, parts in found.items()}


def _reduce_scatter(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    size, found = len(group), {}
    for position, rank in enumerate(group):
        pieces = operands(made, group, position)
        travelling = [whole(_flat(piece, made.dtype), (piece.view.size,)) for piece in pieces]
        # A piece that sets out one member after its owner ends its round at the owner.
        found[rank] = whole(_round(made, group, travelling, (position + 1) % size).node, made.shape)
    return found


def _all_gather(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    placed = [_travel(group, made.blocks[rank], p) for p, rank in enumerate(group)]
    found = {}
    for position, rank in enumerate(group):
        parts = tuple(
            Part(arrival.at, placed[p][position]) for p, arrival in enumerate(arrivals(made, group, position))
        )
        found[rank] = whole(Join(rank, made.dtype, contiguous(made.shape).size, parts), made.shape)
    return found


def _broadcast(made: Collective, group: tuple[int, ...]) -> dict[int, Movement]:
    root, at = made.attrs["root"], contiguous(made.shape)
    here = _travel(group, made.blocks[group[root]], root)
    return {
        rank: whole(Join(rank, made.dtype, at.size, (Part(at, here[p]),)), made.shape) for p, rank in enumerate(group)
    }


def _flat(block: Movement, dtype: str) -> Elementwise:
    return Elementwise(block.node.device, dtype, block.view.size, block)


def _round(made: Collective, group: tuple[int, ...], blocks: list[Movement], start: int) -> Movement:
    """Return the reduction of ``blocks`` after it went once round from ``start``, on the last member it reached."""
    size, carried = len(group), blocks[start]
    for step in range(1, size):
        here = (start + step) % size
        rank = group[here]
        pair = (blocks[here], fetched(carried, rank))
        carried = whole(Reduce(rank, made.dtype, carried.view.size, made.attrs["op"], pair), carried.view.shape)
    return carried


def _travel(group: tuple[int, ...], block: Movement, start: int) -> dict[int, Movement]:
    """Return ``block`` on every member, by position, handed on from ``start`` to neighbour after neighbour."""
    size, found = len(group), {start: block}
    for step in range(1, size):
        here = (start + step) % size
        found[here] = fetched(found[(here - 1) % size], group[here])
    return found
