"""Every operation on constants alone, and every conversion of them: what a compiler computes itself, before it runs.

It computes in types of its own, which are wider than the dtype, round otherwise, or know no sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final

from conformance.cases.graph.elementwise import ARITY
from conformance.cases.graph.graph import Node
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.graphs.domain.neighbours.numbers import NUMBERS, Entry, converted_from, seconds_of, values_of
from conformance.specs.graphs.domain.unfinished_case import Shape
from conformance.specs.schedules.domain.graph_words import taking

CONVERTED: Final = (*NUMBERS, "float8_e4m3fn", "float8_e5m2")

EVERY: Final[tuple[Entry, ...]] = (
    *(("constants", dtype, word) for dtype, word in product(NUMBERS, ARITY) if taking(dtype, (word,))),
    *(("constants padded", dtype, word) for dtype, word in product(NUMBERS, ARITY) if taking(dtype, (word,))),
    *(("constants converted", one, other) for one, other in product(CONVERTED, repeat=2) if one != other),
)

TOGETHER: Final = 4
"""Results of an entry. Of 11 values no step of 3 or 5 comes to one of them twice, nor one of 7 of 26."""


def _computed(e: Listing, number: int, dtype: str, word: str) -> list[Node]:
    """Compute of constants: each result of other values."""
    firsts, seconds = values_of(dtype), seconds_of(dtype, word)
    found = []
    for at in range(TOGETHER):
        first, second = firsts[(number + 5 * at) % len(firsts)], seconds[(number // 3 + 3 * at) % len(seconds)]
        of = [_constant(e, first, dtype), *([_constant(e, second, dtype)] if ARITY[word] > 1 else [])]
        found.append(e.alu(word, *([_constant(e, at % 2, "bool")] if word == "where" else []), *of))
    return found


def _padded(e: Listing, number: int, dtype: str, word: str) -> list[Node]:
    """Compute of a constant beside which a pad puts zeros, and of another that it does not."""
    firsts, seconds = values_of(dtype), seconds_of(dtype, word)
    first = _constant(e, firsts[number % len(firsts)], dtype, (2,))
    of = [e.pad(first, (number % 3, 2))]
    if ARITY[word] > 1:
        of.append(_constant(e, seconds[number // 3 % len(seconds)], dtype, of[0].shape))
    if word == "where":
        of.insert(0, e.pad(_constant(e, 1, "bool", (2,)), (2, number % 3)))
    return [e.alu(word, *of)]


def _converted(e: Listing, number: int, one: str, other: str) -> list[Node]:
    """Convert constants."""
    values = converted_from(one)
    return [e.cast(_constant(e, values[(number + 7 * at) % len(values)], one), other) for at in range(TOGETHER)]


def _constant(e: Listing, value: Any, dtype: str, shape: Shape = ()) -> Node:
    return e.const(value, Node(id="", op="const", shape=shape, dtype=dtype, device="d0"))


KINDS: Final[Mapping[str, Callable[..., list[Node]]]] = {
    "constants": _computed,
    "constants padded": _padded,
    "constants converted": _converted,
}
