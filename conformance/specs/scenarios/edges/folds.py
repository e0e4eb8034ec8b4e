"""Folds at the edges of numbers: one member alone holds what is special, each member in turn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.reference.reductions import ORDER
from conformance.specs.domains import choices
from conformance.specs.domains.reductions import accepted
from conformance.specs.scenarios.edges.calls import exact, listed, ways
from conformance.specs.scenarios.edges.contents import BIG, alone, by_member, counted, specials
from conformance.specs.scenarios.edges.listing import Edge, Pattern

LONG: Final = 1031
"""Elements of a block that is longer than a vector, a row of work items and a small message."""


TOGETHER: Final = (
    ("float32", "int64"),
    ("bfloat16", "float16"),
    ("float64", "int32", "uint8"),
    ("float8_e5m2", "float8_e4m3fn", "int8", "bool"),
    ("complex64", "complex128"),
    ("uint64", "uint32", "int16"),
    ("int4", "uint4", "uint16"),
)
"""Dtypes of one program, those that most backends have first."""


def columns(e: Edge) -> None:
    """Fold columns in which one member holds what is special, and members beside each other.

    Every second program has one reduction of one dtype, so that backends of few have it; the others have all of some.
    """
    if e.turn % 2:
        e.give(e.one(e.input(alone(e)), **_attrs(e)))
        return
    together = [dtypes for dtypes in TOGETHER if any(_folds(e, dtype) for dtype in dtypes)]
    for dtype in together[e.turn // 6 % len(together)]:
        words = _folds(e, dtype)
        x = e.input(alone(e, dtype), dtype) if words else ""
        for number, word in enumerate(words):
            e.give(e.one(x, **{"op": word, **_more(e, number)}))


def _folds(e: Edge, dtype: str) -> list[str]:
    """Return the reductions that the operation has of a dtype, but for those that need a factor."""
    return [word for word in accepted(dtype) if word != "premul_sum" and (e.op != "arg_reduce" or word in ORDER)]


def scalars(e: Edge) -> None:
    """Fold blocks without axes, one call for each of several columns."""
    if e.op == "reduce_scatter":
        columns(e)
        return
    blocks, attrs = alone(e), _attrs(e)
    every = len(blocks[0])
    for number in range(6):
        at = (e.turn * 17 + number * 11) % every
        e.give(e.one(e.input(block[at].reshape(()) for block in blocks), **attrs))


def ties(e: Edge) -> None:
    """Fold columns in which members are equal, all or some of them, or zeros of either sign."""
    found = specials(e.dtype)
    columns = []
    for number, value in enumerate(found):
        other = found[(number + 1 + e.turn) % len(found)]
        columns += [[value if member % 2 else other for member in range(e.most)]]
        columns += [[value if member >= e.most // 2 else other for member in range(e.most)]]
        columns += [[value] * e.most]
    columns += columns[: -len(columns) % e.size]
    e.give(e.one(e.input(by_member(e, np.array(columns, object), e.dtype)), **_attrs(e)))
    for dtype in ("int64", "uint64")[e.turn % 2 :]:
        x = e.input(by_member(e, _near(e, dtype), dtype), dtype)
        e.give(*(e.one(x, **{"op": word, **_more(e, e.turn)}) for word in ("max", "min")))


def _near(e: Edge, dtype: str) -> Array:
    """Return columns in which each member in turn holds one more, or less, than all others, beyond what floats hold."""
    most = ml_dtypes.iinfo(NUMPY[dtype]).max
    found = [each for each in (*BIG, int(most) - 1, 2**31, 2**32) if each < most]
    columns = [
        [value + (member == at) * more for member in range(e.most)]
        for value, at, more in product(found, range(e.most), (1, -1))
    ]
    return np.array(columns + columns[: -len(columns) % e.size], object)


def bits(e: Edge) -> None:
    """Fold bit patterns of many elements, in every way that rounds nothing, and integers beyond what floats hold."""
    for dtype, count in ((e.dtype, LONG), ("int64", 17)):
        shape = (-(-count // e.size) * e.size,)
        x = e.input((counted(dtype, shape, rank, e.turn) for rank in range(e.world)), dtype)
        words = ("max", "min") if e.op == "arg_reduce" else exact(dtype)
        e.give(*(e.one(x, **{"op": word, **_more(e, number)}) for word in words for number in range(2)))


FOLDS: Final[frozenset[Pattern]] = frozenset({columns, scalars, bits, ties})
"""Patterns of which no result is folded again, so that they may have any dtype."""


def with_folds(values: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """Return the patterns of an operation that folds: those of numbers stand at its first one, and at every sixth."""
    found: list[Pattern] = []
    for number, pattern in enumerate(values):
        found += [*([columns] if number % 5 == 0 else []), pattern]
    return (*found, scalars, bits, ties, columns)


def _attrs(e: Edge) -> dict[str, Any]:
    """Return the attributes of a fold by a reduction that is a goal."""
    return {"op": e.draw(choices.steered(_reductions(e), ("reduction",), lambda word: (word,))), **_more(e, e.turn)}


def _more(e: Edge, number: int) -> dict[str, Any]:
    """Return the attributes of a fold besides its reduction: other ones for each number."""
    every: dict[str, dict[str, Any]] = {
        "reduce": {"root": (e.size - 1 - number) % e.size},
        "reduce_scatter": {"axis": (0, -1)[number % 2], "tiled": True},
        "scan": {"exclusive": bool(number % 2)},
    }
    if e.op in every or listed(e.op):
        return every.get(e.op, {})
    found = ways(e)
    return {name: each for name, each in found[number % len(found)].items() if name != "op"}


def _reductions(e: Edge) -> list[str]:
    found = [word for word in accepted(e.dtype) if word != "premul_sum"]
    return [word for word in found if word in ORDER] if e.op == "arg_reduce" else found
