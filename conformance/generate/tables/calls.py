"""Legal calls of every collective that makes a block of a block: attributes and shapes for any number of members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from conformance.cases.program.program import Attr

Shape = tuple[int, ...]


class Call(NamedTuple):
    """An operation, the shape of its operand for ``n`` members and ``m`` rows a member, and attributes for ``n``."""

    op: str
    shape: Callable[[int, int], Shape]
    attrs: Callable[[int], Mapping[str, Attr]]
    reduces: bool = False


def _rows(n: int, m: int) -> Shape:
    del n
    return (m, 2)


def _share(n: int, m: int) -> Shape:
    return (n * m, 2)


def _each(n: int, m: int) -> Shape:
    return (n, m)


def _last(n: int, m: int) -> Shape:
    return (2, n * m)


def _uneven(n: int, m: int) -> Shape:
    return (sum(range(n)) or 1, m)


def _gather(axis: int, *, tiled: bool) -> Call:
    return Call("all_gather", _rows, lambda n: {"axis": axis, "tiled": tiled})


def _sends(n: int) -> Mapping[str, Attr]:
    """Send as many rows to a member as its position says, so that every sender has as many."""
    if n == 1:
        return {"sends": ((1,),), "receives": ((1,),)}
    return {"sends": (tuple(range(n)),) * n, "receives": tuple((position,) * n for position in range(n))}


CALLS: Final[tuple[Call, ...]] = (
    Call("all_reduce", _rows, lambda n: {}, reduces=True),
    Call("all_reduce", _rows, lambda n: {"local_axes": (0,)}, reduces=True),
    Call("all_reduce", _rows, lambda n: {"local_axes": (-1, 0)}, reduces=True),
    _gather(0, tiled=True),
    _gather(1, tiled=True),
    _gather(-1, tiled=True),
    _gather(0, tiled=False),
    _gather(2, tiled=False),
    _gather(-2, tiled=False),
    Call("reduce_scatter", _share, lambda n: {"axis": 0, "tiled": True}, reduces=True),
    Call("reduce_scatter", _last, lambda n: {"axis": 1, "tiled": True}, reduces=True),
    Call("reduce_scatter", _each, lambda n: {"axis": 0, "tiled": False}, reduces=True),
    Call("all_to_all", _share, lambda n: {"split_axis": 0, "concat_axis": 0, "tiled": True}),
    Call("all_to_all", _share, lambda n: {"split_axis": 0, "concat_axis": 1, "tiled": True}),
    Call("all_to_all", _last, lambda n: {"split_axis": 1, "concat_axis": 0, "tiled": True}),
    Call("all_to_all", _each, lambda n: {"split_axis": 0, "concat_axis": 0, "tiled": False}),
    Call("all_to_all", _each, lambda n: {"split_axis": 0, "concat_axis": 1, "tiled": False}),
    Call("all_to_all_uneven", _uneven, _sends),
    Call("permute", _rows, lambda n: {"pairs": tuple((at, (at + 1) % n) for at in range(n))}),
    Call("permute", _rows, lambda n: {"pairs": tuple((at, at + 1) for at in range(n - 1))}),
    Call("permute", _rows, lambda n: {"pairs": tuple((at, n - 1 - at) for at in range(n))}),
    Call("permute", _rows, lambda n: {"pairs": ((n - 1, 0),)}),
    Call("permute", _rows, lambda n: {"pairs": ()}),
    Call("shuffle", _rows, lambda n: {"sources": (*range(1, n), 0)}),
    Call("shuffle", _rows, lambda n: {"sources": tuple(reversed(range(n)))}),
    Call("broadcast", _rows, lambda n: {"root": 0}),
    Call("broadcast", _rows, lambda n: {"root": n - 1}),
    Call("gather", _rows, lambda n: {"root": n // 2, "axis": 0, "tiled": True}),
    Call("gather", _rows, lambda n: {"root": 0, "axis": 1, "tiled": False}),
    Call("scatter", _share, lambda n: {"root": 0, "axis": 0, "tiled": True}),
    Call("scatter", _each, lambda n: {"root": n - 1, "axis": 0, "tiled": False}),
    Call("reduce", _rows, lambda n: {"root": 0}, reduces=True),
    Call("reduce", _rows, lambda n: {"root": n - 1}, reduces=True),
    Call("scan", _rows, lambda n: {"exclusive": False}, reduces=True),
    Call("scan", _rows, lambda n: {"exclusive": True}, reduces=True),
    Call("arg_reduce", _rows, lambda n: {"op": "max"}),
    Call("arg_reduce", _rows, lambda n: {"op": "min"}),
)
"""Every attribute with levels that implementations treat apart; reductions get theirs from the table."""

SECOND: Final = tuple({call.op: call for call in reversed(CALLS)}.values())[::-1]
"""One call of each operation, the first that is listed."""
