"""Every operation on every dtype, conversions through every pair of dtypes, operations after operations and constants.

The data hold every pair of values at which some dtype breaks an identity of numbers: ends, ties, zeros of both signs,
infinities and no number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.graph.elementwise import ARITY, COMPARISONS
from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, kind
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.schedules.domain.graph_words import taking

Entry = tuple[Any, ...]

INTEGERS: Final = ("int32", "uint8", "int64", "uint32", "int8", "uint16", "int16", "uint64", "int4", "uint4")
FLOATS: Final = ("float32", "float16", "float64", "bfloat16")
COMPLEX: Final = ("complex64", "complex128")
NUMBERS: Final = (*INTEGERS, *FLOATS, *COMPLEX, "bool")

CLASSES: Final = (
    ("bool",), ("int8", "uint8", "int16", "uint16"), ("int32", "int64"), ("uint32", "uint64"), ("float16",),
    ("bfloat16",), ("float8_e4m3fn", "float8_e5m2"), ("float32",), ("float64",), ("int4", "uint4"),
    ("complex64", "complex128"),
)  # fmt: skip
"""Dtypes that convert alike: each of a class is met where it stands for the class."""

_TIES: Final = (
    1 + 2**-11 + 2**-40, 2049 + 2**-30, 1 + 2**-8 + 2**-40, 257.0, 1 + 2**-24 + 2**-50, 16777217.0, 65520.0, 65519.99,
    2**-25 + 2**-50, 0.1, 1.0625, 17.0, 2**-24, 2**-14, 3.3e38,
)  # fmt: skip
"""Numbers halfway between two of a narrower dtype, or above that by less than one in between tells."""

_SPECIAL: Final = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -0.75, 127.9, -2.5)

_PAIRED: Final = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -2.5)

_PLANE: Final = (
    1 + 0j, 0j, -1j, 2 - 2j, -0.5 + 1j, 1 + 3j, complex(-0.0, -0.0), complex(np.inf, 1), complex(1, np.nan), 0.1 - 0.7j,
    2**20 + 2**-20 * 1j,
)  # fmt: skip
"""Complex numbers that multiply and divide exactly, and some that do not."""

_COUNTED: Final = (0, 1, 2, 3, 5, 64, 96, 255, 256, 257, 2049, 65536, 2**24 + 1, 2**31, 2**53 + 1, 2**60 + 2**36 + 1)

INTEGER_WORDS: Final = ("add", "sub", "mul", "div", "mod", "max", "min", "and", "or", "xor", "shl", "shr")
FLOAT_WORDS: Final = ("add", "sub", "mul", "div", "max", "min", "neg", "abs", "recip", "sqrt", "exp2", "trunc")
UNARY: Final = tuple(word for word in ARITY if ARITY[word] == 1)
BINARY: Final = tuple(word for word in ARITY if ARITY[word] == 2)

PAIRS: Final = 121
SQUARE: Final = (11, 11)
"""Every pair of at most eleven values."""

CASTS: Final[tuple[Entry, ...]] = tuple(
    ("cast", first, then, last)
    for first, then, last in product(range(len(CLASSES)), repeat=3)
    if then not in (first, last)
)

OPERATIONS: Final[tuple[Entry, ...]] = (
    *(("unary", dtype, word) for dtype, word in product(NUMBERS, UNARY) if taking(dtype, (word,))),
    *(("binary", dtype, word) for dtype, word in product(NUMBERS, BINARY) if taking(dtype, (word,))),
    *(("itself", dtype, word) for dtype, word in product(NUMBERS, BINARY) if taking(dtype, (word,))),
    *(("chosen", dtype, word) for dtype, word in product(NUMBERS, ("lt", "eq"))),
    *(
        ("fold", dtype, word)
        for dtype, word in product((*FLOATS, *COMPLEX), ("max", "min", "add", "mul"))
        if taking(dtype, (word,))
    ),
    *(("repeated", word, side) for word, side in product(BINARY, ("left", "right", "both"))),
    *(("mixed", left, right) for left, right in product(NUMBERS, repeat=2) if left != right),
)

COMPOSED: Final[tuple[Entry, ...]] = (
    *(("integers", first, then) for first, then in product((*INTEGER_WORDS, "neg", "abs", "not"), repeat=2)),
    *(("integers", first, then) for first, then in product(INTEGER_WORDS, COMPARISONS)),
    *(("floats", first, then) for first, then in product(FLOAT_WORDS, repeat=2)),
    *(("floats", first, then) for first, then in product(FLOAT_WORDS, COMPARISONS)),
    *(("one integer", word, at) for word, at in product(INTEGER_WORDS, range(5))),
    *(("one float", word, at) for word, at in product(("add", "sub", "mul", "div", "max", "min", "lt"), range(14))),
)

WITHIN: Final[tuple[Entry, ...]] = tuple(
    ("within", one, other) for alike in CLASSES for one, other in product(alike, repeat=2) if one != other
)
"""Conversions that stay in a class: they lose a sign, digits or half of the bits, and may lose an imaginary part."""

EVERY: Final = (*OPERATIONS, *CASTS, *WITHIN, *COMPOSED)


def ends(dtype: str) -> list[int]:
    """Return values of an integer dtype at and near its ends and nothing."""
    info = ml_dtypes.iinfo(NUMPY[dtype])
    least, most = int(info.min), int(info.max)
    return sorted({least, least + 1, max(least, -1), 0, 1, 2, 5, most // 2 + 1, most - 1, most, max(least, -7)})


def values_of(dtype: str) -> list[Any]:
    """Return at most eleven values of a dtype, at which identities of numbers break."""
    if dtype == "bool":
        return [False, True]
    if kind(dtype) == "integer":
        return ends(dtype)
    if kind(dtype) == "complex":
        return list(_PLANE)
    info = ml_dtypes.finfo(NUMPY[dtype])
    # Products of the first leave the range, those of the second fall below it.
    return [float(info.max), float(info.smallest_normal), *_PAIRED]


def seconds_of(dtype: str, word: str) -> list[Any]:
    """Return the values of which an operation has a meaning as its second operand, whatever the first is.

    Nobody agrees on division by nothing, nor on that of the least number by -1, nor on shifts by the width and more.
    """
    if kind(dtype) == "integer" and word in ("div", "mod"):
        return [each for each in ends(dtype) if each not in (0, -1)]
    if word in ("shl", "shr"):
        bits = DTYPES[dtype].bits
        return [0, 1, bits // 2, bits - 1]
    return values_of(dtype)


class Operands:
    """The buffers of a case, made where an entry first needs them: every pair of values of a dtype."""

    def __init__(self, e: Listing) -> None:
        """Begin with none."""
        self.e = e
        self._known: dict[tuple[str, str], Node] = {}

    def _buffer(self, dtype: str, what: str, values: list[Any]) -> Node:
        if (dtype, what) not in self._known:
            square = len(values) == PAIRS
            self._known[dtype, what] = self.e.buf(
                [values[at : at + 11] for at in range(0, PAIRS, 11)] if square else values, dtype
            )
        return self._known[dtype, what]

    def value(self, of: Node) -> Node:
        """Return what a buffer holds as a value, which no later write changes."""
        if (of.id, "value") not in self._known:
            self._known[of.id, "value"] = self.e.asked.add("contig", of.shape, of.dtype, of)
        return self._known[of.id, "value"]

    def left(self, dtype: str) -> Node:
        """Return the first of each pair."""
        pool = values_of(dtype)
        return self._buffer(dtype, "left", [pool[at // 11 % len(pool)] for at in range(PAIRS)])

    def right(self, dtype: str, word: str = "") -> Node:
        """Return the second of each pair, of those that an operation has a meaning for."""
        pool, what = seconds_of(dtype, word), "right"
        if kind(dtype) == "integer" and word in ("div", "mod"):
            what = "divisors"
        elif word in ("shl", "shr"):
            what = "distances"
        return self._buffer(dtype, what, [pool[at % 11 % len(pool)] for at in range(PAIRS)])

    def repeated(self, of: Node, axis: int) -> Node:
        """Return what has equal rows, or columns, as one of them that is repeated."""
        pairs = tuple((0, 1) if each == axis else (0, 11) for each in range(2))
        return self.e.asked.moved("expand", SQUARE, self.e.shrink(of, *pairs))

    def sources(self, dtype: str) -> Node:
        """Return what is converted."""
        return self._buffer(dtype, "sources", converted_from(dtype))


def converted_from(dtype: str) -> list[Any]:
    """Return 26 values: special ones and ties of floats, whole numbers beyond those that floats hold."""
    if kind(dtype) == "float":
        return [*_SPECIAL, *_TIES]
    if kind(dtype) == "complex":
        return [complex(each, -2) for each in (*_SPECIAL, *_TIES)]
    if dtype == "bool":
        return [False, True] * 13
    info = ml_dtypes.iinfo(NUMPY[dtype])
    found = [*ends(dtype), *(each for each in _COUNTED if each <= info.max)]
    found += [-each for each in _COUNTED if -each >= info.min]
    return [found[at % len(found)] for at in range(len(_SPECIAL) + len(_TIES))]


def dtypes_of(number: int, entry: Entry) -> frozenset[str]:
    """Return the dtypes of what an entry computes of, with its number among all, and of what it converts to."""
    what, *rest = entry
    if what == "cast":
        return frozenset(CLASSES[at][number % len(CLASSES[at])] for at in rest)
    if what in ("integers", "one integer"):
        return frozenset({INTEGERS[number % len(INTEGERS)]})
    if what in ("floats", "one float"):
        return frozenset({FLOATS[number % len(FLOATS)]})
    if what == "repeated":
        return frozenset({_taking(rest[0], number)})
    return frozenset(each for each in rest if each in NUMPY)


def _taking(word: str, number: int) -> str:
    dtypes = [dtype for dtype in NUMBERS if taking(dtype, (word,))]
    return dtypes[number % len(dtypes)]


def made(o: Operands, number: int, entry: Entry, once: dict[tuple[str, str], Node]) -> Node:
    """List an entry with its number among all, and return what is to be asked for; ``once`` keeps conversions."""
    what, *rest = entry
    if what == "cast":
        source, between, last = (CLASSES[at][number % len(CLASSES[at])] for at in rest)
        if (source, between) not in once:
            once[source, between] = o.e.cast(o.value(o.sources(source)), between)
        return o.e.cast(once[source, between], last)
    return _KINDS[what](o, number, *rest)


def _itself(o: Operands, _: int, dtype: str, word: str) -> Node:
    at = o.right(dtype, word) if word in ("div", "mod", "shl", "shr") else o.left(dtype)
    return o.e.alu(word, at, at)


def _repeated(o: Operands, number: int, word: str, side: str) -> Node:
    """Compute of pairs of which one or both are repeated along an axis."""
    dtype = _taking(word, number)
    left, right = o.left(dtype), o.right(dtype, word)
    left = left if side == "right" else o.repeated(left, 1)
    return o.e.alu(word, left, right if side == "left" else o.repeated(right, 0))


def _chosen(o: Operands, _: int, dtype: str, word: str) -> Node:
    pair = o.left(dtype), o.right(dtype)
    return o.e.alu("where", o.e.alu(word if taking(dtype, (word,)) else "ne", *pair), *pair)


def _folded(o: Operands, _: int, dtype: str, fold: str) -> Node:
    """Fold special values, of which one comes first, or last, or is alone."""
    which = o.e.alu("lt", o.right("int32"), o.left("int32"))
    return o.e.fold(fold, o.e.alu("where", which, o.left(dtype), o.right(dtype)), 0)


def _of_integers(o: Operands, number: int, first: str, then: str) -> Node:
    """Compute twice with one constant."""
    at = o.value(o.left(INTEGERS[number % len(INTEGERS)]))
    return _twice(o.e, at, o.e.const(4 if number % 3 == 0 else 3, at), first, then)


def _of_floats(o: Operands, number: int, first: str, then: str) -> Node:
    """Compute twice with one value."""
    dtype = FLOATS[number % len(FLOATS)]
    return _twice(o.e, o.value(o.left(dtype)), o.right(dtype), first, then)


def _twice(e: Listing, at: Node, other: Node, *words: str) -> Node:
    for word in words:
        at = e.alu(word, at) if word in UNARY else e.alu(word, at, other)
    return at


def _integer_constant(o: Operands, number: int, word: str, which: int) -> Node:
    """Compute with a constant that is an end, nothing or one, or that may be divided or shifted by."""
    dtype = INTEGERS[number % len(INTEGERS)]
    info, bits = ml_dtypes.iinfo(NUMPY[dtype]), DTYPES[dtype].bits
    least, most = int(info.min), int(info.max)
    values = (0, 1, most, least, max(least, -1))
    if word in ("div", "mod"):
        values = (1, 2, most, 7, least or most)
    elif word in ("shl", "shr"):
        values = (0, 1, bits - 1, bits // 2, 3)
    at = o.value(o.left(dtype))
    return o.e.alu(word, at, o.e.const(values[which], at))


def _float_constant(o: Operands, number: int, word: str, which: int) -> Node:
    """Compute with a constant on one side or the other."""
    at = o.value(o.left(FLOATS[number % len(FLOATS)]))
    value = o.e.const((0.0, -0.0, 1.0, -1.0, 2.0, np.inf, np.nan)[which // 2], at)
    return o.e.alu(word, *((at, value) if which % 2 else (value, at)))


def _mixed(o: Operands, number: int, left: str, right: str) -> Node:
    """Compute with operands of two dtypes, in the one that both are converted to; convert where there is none."""
    joined = promoted((left, right))
    if joined is None:
        return o.e.cast(o.left(left), right)
    words = [word for word in ("add", "lt", "eq", "max", "mul", "or") if taking(joined, (word,))]
    word = words[number % len(words)]
    dtype = "bool" if word in COMPARISONS else joined
    return o.e.asked.add("alu", SQUARE, dtype, o.left(left), o.right(right), arg=word)


_KINDS: Final[Mapping[str, Callable[..., Node]]] = {
    "unary": lambda o, _, dtype, word: o.e.alu(word, o.left(dtype)),
    "binary": lambda o, _, dtype, word: o.e.alu(word, o.left(dtype), o.right(dtype, word)),
    "itself": _itself,
    "chosen": _chosen,
    "repeated": _repeated,
    "fold": _folded,
    "mixed": _mixed,
    "within": lambda o, _, one, other: o.e.cast(o.sources(one), other),
    "integers": _of_integers,
    "floats": _of_floats,
    "one integer": _integer_constant,
    "one float": _float_constant,
}
