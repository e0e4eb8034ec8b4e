"""Identities of arithmetic, comparisons and bits at the elements that break them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.specs.graphs.domain.edges.pattern import TIES, Pattern

_OF_CONSTANTS: Final = {
    "div mod add sub mul max min and or xor lt eq ne": ((-7, 2), (7, -2), (-9, -4)),
    "shl shr": ((-9, 2), (13, 3)),
    "abs neg not": ((-9,), (4,)),
}
"""Operations, and the constants that each takes: quotients round toward zero."""

IDENTITIES: Final[Mapping[str, Pattern]] = {
    "compared after a sum": lambda e: [
        e.alu("lt", e.alu("add", e.i, e.const(5, e.i)), e.const(7, e.i)),
        e.alu("lt", e.alu("add", e.i, e.j), e.j),
        e.alu("lt", e.i, e.alu("sub", e.i, e.const(1, e.i))),
        e.alu("eq", e.alu("add", e.x, e.const(1, e.x)), e.x),
    ],
    "product divided": lambda e: [
        e.alu(word, e.alu("mul", e.i, e.const(value, e.i)), e.const(value, e.i))
        for word, value in (("div", 3), ("mod", 6), ("div", 2))
    ],
    "quotient multiplied": lambda e: [
        e.alu("mul", e.alu("div", e.i, e.const(3, e.i)), e.const(3, e.i)),
        e.alu("div", e.alu("div", e.i, e.const(5, e.i)), e.const(60, e.i)),
        e.alu("div", e.alu("add", e.i, e.const(7, e.i)), e.const(7, e.i)),
        e.alu("mod", e.alu("mod", e.i, e.const(6, e.i)), e.const(4, e.i)),
    ],
    "divided by a power": lambda e: [
        e.alu(word, e.i, e.const(value, e.i)) for word in ("div", "mod", "mul") for value in (2, 16, 64)
    ],
    "shifted there and back": lambda e: [
        e.alu(second, e.alu(first, e.i, e.const(3, e.i)), e.const(3, e.i))
        for first, second in (("shl", "shr"), ("shr", "shl"), ("shr", "shr"), ("shl", "shl"))
    ],
    "bits and themselves": lambda e: [
        e.alu("and", e.i, e.alu("not", e.i)),
        e.alu("xor", e.alu("xor", e.i, e.j), e.i),
        e.alu("or", e.alu("and", e.i, e.j), e.alu("xor", e.i, e.j)),
        e.alu("add", e.alu("not", e.i), e.const(1, e.i)),
    ],
    "itself against itself": lambda e: [e.alu(word, e.x, e.x) for word in ("sub", "div", "eq", "ne", "lt")],
    "zero and one of floats": lambda e: [
        e.alu("mul", e.x, e.const(0, e.x)),
        e.alu("add", e.x, e.const(0, e.x)),
        e.alu("sub", e.const(0, e.x), e.x),
        e.alu("mul", e.x, e.const(-1, e.x)),
    ],
    "negated twice": lambda e: [
        e.alu("neg", e.alu("neg", e.x)),
        e.alu("neg", e.alu("sub", e.x, e.y)),
        e.alu("abs", e.alu("neg", e.i)),
        e.alu("abs", e.i),
        e.alu("neg", e.i),
        e.alu("sub", e.const(0, e.i), e.i),
    ],
    "constants computed": lambda e: [
        e.alu(word, *(e.const(value, like) for value in values))
        for like in [e.buf([-7, 0, 5], e.signed)]
        for words, operands in _OF_CONSTANTS.items()
        for word in words.split()
        for values in operands
    ],
    "signed alone": lambda e: [
        e.alu(word, *of)
        for x, y in [(e.buf([-7, 0, 5, -1, 100], e.signed), e.buf([2, -3, -2, 1, -9], e.signed))]
        for word, *of in (("abs", x), ("neg", x), ("not", x), ("div", x, y), ("mod", x, y), ("max", x, y), ("lt", x, y))
    ],
    "greater of no number": lambda e: [
        e.alu("max", e.x, e.alu("min", e.x, e.y)),
        e.alu("neg", e.alu("max", e.alu("neg", e.x), e.alu("neg", e.y))),
        e.alu("where", e.alu("lt", e.x, e.y), e.y, e.x),
        e.alu("where", e.alu("lt", e.y, e.x), e.y, e.x),
    ],
    "comparison denied": lambda e: [
        e.alu("not", e.alu("lt", e.x, e.y)),
        e.alu("lt", e.alu("sub", e.x, e.y), e.const(0, e.x)),
        e.alu("lt", e.alu("sub", e.i, e.j), e.const(0, e.i)),
        e.alu("eq", e.alu("sub", e.x, e.y), e.const(0, e.x)),
    ],
    "choice of one": lambda e: [
        e.alu("where", e.alu("ne", e.x, e.x), e.y, e.x),
        e.alu("where", e.alu("eq", e.x, e.y), e.x, e.y),
        e.alu("where", e.alu("lt", e.i, e.j), e.i, e.i),
        e.alu("where", e.alu("eq", e.x, e.const(0, e.x)), e.const(0, e.x), e.x),
    ],
    "other order of sums": lambda e: [
        e.alu("add", e.alu("sub", e.x, e.y), e.y),
        e.alu("sub", e.alu("add", e.x, e.y), e.alu("add", e.y, e.x)),
        e.alu("sub", e.i, e.j),
        e.alu("sub", e.j, e.i),
    ],
}
"""What simplifies for some elements and not for others."""

EXTREMES: Final[Mapping[str, Pattern]] = {
    "large integers": lambda e: [
        e.alu(word, e.buf(TIES, "int64"), e.buf([each + 1 for each in TIES], "int64"))
        for word in ("eq", "lt", "div", "mod", "max")
    ],
    "sign of a quotient": lambda e: [
        e.alu(word, e.buf([-7, 7, -7, 7, -1, 0], dtype), e.buf([2, -2, -3, -3, 5, -5], dtype))
        for word in ("div", "mod")
        for dtype in ("int32", "int8", "int16", "int64")
    ],
    "sign of a remainder": lambda e: [
        e.alu("mod", e.buf([-7, 7, -5.5, 5.5], dtype), e.buf([2, -2, 4, -4], dtype)) for dtype in ("float32", e.real)
    ],
}
"""Integers that no double holds, and quotients of either sign."""
