"""The calls of an operation that an implementation may take for each other: they differ in one attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, RARE, kind
from conformance.reference.operations import OPERATIONS
from conformance.specs.domains.domain import Draft
from conformance.specs.operations import OPS
from conformance.specs.scenarios.block_operations import call_of
from conformance.specs.scenarios.edges.listing import Edge

Attrs = dict[str, Any]


class Unfit(ValueError):
    """An operation of which no call takes the blocks that patterns are made of."""


EXACT: Final = {
    "bool": ("or", "and", "xor"),
    "integer": ("sum", "xor", "max", "product", "and", "min", "or"),
    "float": ("sum", "max", "min"),
    "complex": ("sum",),
}
"""Reductions by kind of dtype of which nothing is rounded, on the contents of ``contents.counted``, used twice too."""

JOINED: Final = ((0, True), (1, True), (0, False), (1, False), (-1, True), (2, False), (-1, False), (-2, True))
"""Axes along which blocks of two axes are joined, and whether they keep them."""

CUT: Final = ((0, True), (1, True), (1, False), (-1, False), (-1, True), (-2, True))
"""Axes along which a block of ``contents.square`` is cut."""

TURNED: Final = (
    (0, 0, True), (1, 0, True), (0, 1, True), (1, 1, True), (-1, 0, True), (0, -1, True), (1, 0, False), (1, 1, False),
    (1, -1, False),
)  # fmt: skip
"""Axes that are cut and joined at once."""


def ways(e: Edge, op: str = "") -> list[Attrs]:
    """Return the attributes of calls on blocks of ``contents.square``, the plain ones first.

    An operation that nobody listed is called as in its worked examples, or else as its own domain calls it. Raise
    ``Unfit`` where it takes no such blocks.
    """
    op = op or e.op
    found = _WAYS[op](e, exact(e.dtype)) if listed(op) else _of_examples(e, op) or _of_domain(e, op)
    if not found:
        raise Unfit(f"{op} takes no {e.dtype} blocks of shape {_square(e)} over {e.groups}")
    return [each for number, each in enumerate(found) if each not in found[:number]]


def listed(op: str) -> bool:
    """Return whether somebody listed the calls of an operation, so that every pattern fits it."""
    return op in _WAYS


def exact(dtype: str) -> tuple[str, ...]:
    """Return the reductions of a dtype that round nothing; of rare floats nobody declares what a sum is."""
    return ("max", "min") if dtype in RARE and kind(dtype) == "float" else EXACT[kind(dtype)]


def _all_reduce(e: Edge, words: tuple[str, ...]) -> list[Attrs]:
    # Sums of floats stay exact over the members alone.
    local = "max" if kind(e.dtype) == "float" else words[0]
    return [{"op": word} for word in words] + [{"op": local, "local_axes": axes} for axes in ((0,), (-1,), (-1, 0))]


def _reduce(e: Edge, words: tuple[str, ...]) -> list[Attrs]:
    roots = [{"op": words[root % len(words)], "root": root} for root in range(e.size)]
    return roots + [{"op": word, "root": e.size - 1} for word in words]


def _reduce_scatter(_: Edge, words: tuple[str, ...]) -> list[Attrs]:
    turned = (words[0], words[0], *words[1:], *words)
    return [{"op": word, "axis": axis, "tiled": tiled} for word, (axis, tiled) in zip(turned, CUT, strict=False)]


def _rooted(e: Edge, axes: tuple[tuple[int, bool], ...]) -> list[Attrs]:
    plain = [{"root": root, "axis": 0, "tiled": True} for root in range(e.size)]
    return plain + [{"root": e.size - 1, "axis": axis, "tiled": tiled} for axis, tiled in axes[1:]]


_WAYS: Final[Mapping[str, Callable[[Edge, tuple[str, ...]], list[Attrs]]]] = {
    "all_gather": lambda _e, _: [{"axis": axis, "tiled": tiled} for axis, tiled in JOINED],
    "all_reduce": _all_reduce,
    "all_to_all": lambda _e, _: [{"split_axis": cut, "concat_axis": at, "tiled": tiled} for cut, at, tiled in TURNED],
    "all_to_all_uneven": lambda e, _: [
        {"sends": table, "receives": tuple(zip(*table, strict=True))} for table in _tables(e.size)
    ],
    "arg_reduce": lambda _e, _: [{"op": word} for word in ("max", "min")],
    "broadcast": lambda e, _: [{"root": root} for root in range(e.size)],
    "gather": lambda e, _: _rooted(e, JOINED),
    "permute": lambda e, _: [{"pairs": pairs} for pairs in _pairs(e.size)],
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "scan": lambda _, words: [{"op": word, "exclusive": out} for word in words for out in (False, True)],
    "scatter": lambda e, _: _rooted(e, CUT),
    "shuffle": lambda e, _: [{"sources": order} for order in _orders(e.size)],
}


def _of_examples(e: Edge, op: str) -> list[Attrs]:
    """Return the attributes of worked examples that fit here, a fold by each reduction that rounds nothing."""
    every = (
        {**example.attrs, **word}
        for example in OPS[op].examples
        for word in ([{"op": each} for each in exact(e.dtype)] if "op" in example.attrs else [{}])
    )
    return [attrs for attrs in every if _fits(e, op, attrs)]


def _of_domain(e: Edge, op: str) -> list[Attrs]:
    """Return the attributes of a few calls that the operation's domain draws for these members, as far as they fit."""
    drawn = Draft(e.draw, *e.place, e.dtype)
    every = (dict(call_of(e.draw, op, drawn, "whole")[1].attrs) for _ in range(8))
    return [attrs for attrs in every if attrs.get("op", "max") in exact(e.dtype) and _fits(e, op, attrs)]


def _fits(e: Edge, op: str, attrs: Attrs) -> bool:
    """Return whether an operation takes blocks of ``contents.square`` here."""
    zeros = [np.zeros(_square(e), NUMPY[e.dtype]) for _ in range(e.world)]
    try:
        OPERATIONS[op](zeros, **attrs, groups=e.groups)
    except ValueError:
        return False
    return True


def _square(e: Edge) -> tuple[int, int]:
    """Return the shape of blocks that every listed operation can cut."""
    return 2 * e.size, e.size


def _tables(n: int) -> list[tuple[tuple[int, ...], ...]]:
    """Return tables of ``2 * n`` rows sent by each: as many to each, none to itself, all to one, nothing to some."""
    found = [
        [[2] * n for _ in range(n)],
        [[2 * n * ((p - q) % n == 1) for p in range(n)] for q in range(n)],
        [[1 + n * (p == n - 1) for p in range(n)] for _ in range(n)],
        [[2 * (p != q) + 2 * ((p - q) % n == 1) for p in range(n)] for q in range(n)],
        [[(p + q) % n % 3 for p in range(n)] for q in range(n)],
        [[2 * n * (p == n - 1) for p in range(n)] for _ in range(n)],
        [[1 + (p + 2 * q) % 2 for p in range(n)] for q in range(n)],
    ]
    for rows in found:
        for q, row in enumerate(rows):
            row[(q + 2) % n] += 2 * n - sum(row)
    return [tuple(map(tuple, rows)) for rows in found]


def _pairs(n: int) -> list[tuple[tuple[int, int], ...]]:
    """Return cycles and their inverses, two cycles, a chain, pairs that meet nobody, and orders in which they stand."""
    cycle = tuple((p, (p + 1) % n) for p in range(n))
    found: list[tuple[tuple[int, int], ...]] = [
        cycle,
        tuple((q, p) for p, q in cycle),
        cycle[:-1],
        tuple((p, n - 1 - p) for p in range(n)),
        ((n - 1, 0),),
        cycle[::-1],
        tuple((q, p) for p, q in cycle[:-1]),
        tuple((p, p ^ 1) for p in range(n - n % 2)),
        tuple((p, p) for p in range(n)),
        tuple((p, (p + 2) % n) for p in range(n)),
        (),
    ]
    if n >= 4:
        found += [((0, 1), (1, 0), (n - 1, n - 2), (n - 2, n - 1)), ((1, 2), (2, 3), (3, 1))]
    return found


def _orders(n: int) -> list[tuple[int, ...]]:
    """Return orders: turned by one either way, the other way round, a cycle of three, two swapped, and all in place."""
    plain = tuple(range(n))
    if n < 2:
        return [plain]
    three = (1, 2, 0, *plain[3:]) if n > 2 else plain[::-1]
    last = (*plain[:-3], *(plain[-1], *plain[-3:-1])) if n > 2 else plain
    return [
        plain[1:] + plain[:1],
        plain[-1:] + plain[:-1],
        plain[::-1],
        three,
        last,
        (plain[1], plain[0], *plain[2:]),
        plain,
        plain[2:] + plain[:2],
    ]
