"""What each member receives, said once for every algorithm: which views of which blocks go where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from conformance.backends.opencl.graph import Collective, Movement
from conformance.backends.opencl.view import View, contiguous

REDUCING: Final = frozenset({"all_reduce", "reduce_scatter"})


class Arrival(msgspec.Struct, frozen=True):
    """Member ``source``'s elements ``taken`` land at ``at`` of the result; ``source`` ``None`` is zero bits."""

    at: View
    source: int | None
    taken: View


def arrivals(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    """Yield what lands where on the member at ``position``; together the arrivals fill its result."""
    return _MOVING[made.operation](made, group, position)


def operands(made: Collective, group: tuple[int, ...], position: int) -> tuple[Movement, ...]:
    """Return, in member order, the views whose reduction the member at ``position`` receives."""
    blocks = [made.blocks[rank] for rank in group]
    if made.operation == "all_reduce":
        return tuple(blocks)
    return tuple(Movement(block.node, _piece(made, block.view, "axis", position, len(group))) for block in blocks)


def _piece(made: Collective, view: View, axis_name: str, position: int, size: int) -> View:
    axis = made.attrs[axis_name]
    if not made.attrs["tiled"]:
        return view.index(axis, position)
    extent = view.shape[axis] // size
    return view.narrow(axis, position * extent, (position + 1) * extent)


def _slot(made: Collective, axis_name: str, position: int, size: int) -> View:
    return _piece(made, contiguous(made.shape), axis_name, position, size)


def _all_gather(made: Collective, group: tuple[int, ...], _position: int) -> Iterator[Arrival]:
    for p, rank in enumerate(group):
        yield Arrival(_slot(made, "axis", p, len(group)), p, made.blocks[rank].view)


def _all_to_all(made: Collective, group: tuple[int, ...], position: int) -> Iterator[Arrival]:
    size = len(group)
    for q, rank in enumerate(group):
        taken = _piece(made, made.blocks[rank].view, "split_axis", position, size)
        yield Arrival(_slot(made, "concat_axis", q, size), q, taken)


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


_MOVING: Final[dict[str, Callable[[Collective, tuple[int, ...], int], Iterator[Arrival]]]] = {
    "all_gather": _all_gather,
    "all_to_all": _all_to_all,
    "permute": _permute,
    "broadcast": _broadcast,
}
