"""What each member receives, said once for every algorithm: which views of which blocks go where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from conformance.backends.opencl.graph.node import Collective, Movement
from conformance.backends.opencl.graph.operations import piece
from conformance.backends.opencl.graph.view import View, contiguous


class Arrival(msgspec.Struct, frozen=True):
    """Member ``source``'s elements ``taken`` land at ``at`` of the result.

    Without a source they are the receiver's own, of the block that is written over (``kept``), or zero bits.
    """

    at: View
    source: int | None
    taken: View
    kept: Movement | None = None


def arrivals(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    """Yield what lands where on the member at ``position``; together the arrivals fill its result, each place once."""
    for arrival in _MOVING[made.operation](made, group, position):
        if arrival.at.size:
            yield arrival


def operands(made: Collective, group: tuple[int, ...]) -> tuple[Movement, ...]:
    """Return, in member order, the views whose reduction members receive, local axes last."""
    blocks = [made.blocks[rank] for rank in group]
    # Slices are folded in order of the last local axis first, as NumPy takes them.
    local = sorted(made.attrs.get("local_axes", ()), reverse=True)
    return tuple(Movement(block.node, block.view.last(local)) for block in blocks)


def _slot(made: Collective, axis_name: str, position: int, size: int) -> View:
    return piece(made, contiguous(made.shape), axis_name, position, size)


def _all_gather(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    if len({made.blocks[rank].view.shape for rank in group}) > 1:
        yield from _uneven(made, group, position)
        return
    for p, rank in enumerate(group):
        yield Arrival(_slot(made, "axis", p, len(group)), p, made.blocks[rank].view)


def _uneven(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    """Yield blocks of several extents along the axis that they are joined along."""
    shape, axis, at = made.shapes[group[position]], made.attrs["axis"], 0
    assert shape is not None  # whoever is asked for receives something
    for p, rank in enumerate(group):
        view = made.blocks[rank].view
        extent = view.shape[axis]
        yield Arrival(contiguous(shape).narrow(axis, at, at + extent), p, view)
        at += extent


def _all_to_all(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    size = len(group)
    for q, rank in enumerate(group):
        taken = piece(made, made.blocks[rank].view, "split_axis", position, size)
        yield Arrival(_slot(made, "concat_axis", q, size), q, taken)


def _all_to_all_uneven(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    at, sends = 0, made.attrs["sends"]
    shape = made.shapes[group[position]]
    assert shape is not None  # every rank receives something of an all_to_all
    result = contiguous(shape)
    for q, rank in enumerate(group):
        count, start = sends[q][position], sum(sends[q][:position])
        taken = made.blocks[rank].view.narrow(0, start, start + count)
        yield Arrival(result.narrow(0, at, at + count), q, taken)
        at += count


def _ragged_all_to_all(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    rank = group[position]
    kept = made.under[rank]
    result = contiguous(kept.view.shape)
    for start, stop, source, first in made.attrs["runs"][rank]:
        at, rows = result.narrow(0, start, stop), (first, first + stop - start)
        if source is None:
            yield Arrival(at, None, kept.view.narrow(0, *rows), kept)
        else:
            yield Arrival(at, source, made.blocks[group[source]].view.narrow(0, *rows))


def _permute(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    result = contiguous(made.shape)
    for source, destination in made.attrs["pairs"]:
        if destination == position:
            yield Arrival(result, source, made.blocks[group[source]].view)
            return
    yield Arrival(result, None, result)


def _broadcast(made: Collective, group: tuple[int, ...], _position: int) -> Iterator[Arrival]:
    root = made.attrs["root"]
    yield Arrival(contiguous(made.shape), root, made.blocks[group[root]].view)


def _scatter(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    root = made.attrs["root"]
    taken = piece(made, made.blocks[group[root]].view, "axis", position, len(group))
    yield Arrival(contiguous(made.shape), root, taken)


_MOVING: Final[dict[str, Callable[[Collective, tuple[int, ...], int], Iterator[Arrival]]]] = {
    "all_gather": _all_gather,
    "all_to_all": _all_to_all,
    "all_to_all_uneven": _all_to_all_uneven,
    "broadcast": _broadcast,
    "gather": _all_gather,
    "permute": _permute,
    "ragged_all_to_all": _ragged_all_to_all,
    "scatter": _scatter,
    "send": _permute,
    "shuffle": _permute,
}
