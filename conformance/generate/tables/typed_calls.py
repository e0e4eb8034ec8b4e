"""Every collective of typed programs, and what sums locally, with attributes that rules mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from conformance.cases.program.program import Groups
from conformance.generate.types.steps import Shape

Axes = tuple[str, ...]


class Call(NamedTuple):
    """An operation, the shape of its operand and its attributes, both of the number of members.

    One that is ``linear`` has a transpose. ``untyped`` and ``typed`` ones are refused with types or without.
    """

    op: str
    shape: Callable[[int], Shape]
    attrs: Callable[[int], Mapping[str, Any]]
    linear: bool = True
    untyped: bool = False
    typed: bool = False


def _gather(shape: Shape, axis: int, to: str, *, tiled: bool) -> Call:
    return Call(
        "all_gather", lambda _: shape, lambda _: {"axis": axis, "tiled": tiled, "to": to}, typed=to == "reduced"
    )


def _scatter(shape: Callable[[int], Shape], axis: int, *, tiled: bool) -> Call:
    return Call("reduce_scatter", shape, lambda _: {"op": "sum", "axis": axis, "tiled": tiled})


def _exchange(shape: Callable[[int], Shape], split: int, concat: int, *, tiled: bool) -> Call:
    return Call("all_to_all", shape, lambda _: {"split_axis": split, "concat_axis": concat, "tiled": tiled})


def _permute(pairs: Callable[[int], Groups]) -> Call:
    return Call("permute", lambda _: (2,), lambda n: {"pairs": pairs(n)})


def _reduce(op: str, *local: int) -> Call:
    attrs = {"op": op, **({"local_axes": local} if local else {})}
    return Call("all_reduce", lambda _: (2, 4), lambda _: attrs, linear=op in ("sum", "mean"), untyped=bool(local))


CALLS: Final[tuple[Call, ...]] = (
    _reduce("sum"),
    _gather((2, 1), 1, "varying", tiled=True),
    _scatter(lambda n: (2, n), 1, tiled=False),
    _exchange(lambda n: (n, n), 0, 1, tiled=False),
    _permute(lambda n: (*((p, (p + 1) % (n - 1)) for p in range(n - 1)), (n - 1, n - 1))),
    _gather((2,), 0, "invariant", tiled=True),
    _reduce("mean"),
    _exchange(lambda n: (2 * n, 2), 0, 1, tiled=True),
    Call("broadcast", lambda _: (2,), lambda n: {"root": n - 1}),
    _gather((2, 1), 2, "varying", tiled=False),
    _scatter(lambda n: (2 * n, 2), 0, tiled=True),
    Call("ragged_all_to_all", lambda _: (4, 2), lambda _: {}),
    _reduce("mean", 1, 0),
    _exchange(lambda n: (n, 2, n), 2, 0, tiled=False),
    _gather((1, 2), 0, "reduced", tiled=False),
    Call("shuffle", lambda _: (2,), lambda n: {"sources": (*range(1, n), 0)}),
    _scatter(lambda n: (n, 2), 0, tiled=False),
    _reduce("max"),
    _gather((1, 2), 1, "invariant", tiled=False),
    Call("sum", lambda _: (2, 2), lambda _: {"axis": 1}),
    _permute(lambda n: tuple((p, p + 1) for p in range(n - 1))),
    _exchange(lambda n: (2, 2 * n), 1, 0, tiled=True),
    Call("broadcast", lambda _: (2,), lambda n: {"root": n // 2}),
    _gather((1, 2), 0, "reduced", tiled=True),
    _reduce("sum", 0, 1),
    _scatter(lambda n: (2, 2 * n), 1, tiled=True),
    Call("cast", lambda _: (2,), lambda _: {"to": "varying"}, typed=True),
    _exchange(lambda n: (n, n), 1, 0, tiled=False),
    Call("cast", lambda _: (2,), lambda _: {"to": "reduced"}, typed=True),
    Call("sum", lambda _: (2, 2, 2), lambda _: {"axis": 2}),
    _exchange(lambda n: (n, n), 1, 1, tiled=True),
    _reduce("min"),
)
"""The calls: neighbours are unlike, so that a share of the table has most operations."""
