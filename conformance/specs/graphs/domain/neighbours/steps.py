"""Two steps of different kinds on numbers: results that are converted, bits that are read, choices of a constant.

A rule that is right of one step alone is wrong where the next one tells its result from that of another dtype. Every
dtype meets every such pair, with the data of ``numbers``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.graph.elementwise import ARITY, COMPARISONS
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, kind
from conformance.specs.domains import choices
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.graphs.domain.neighbours import constants, numbers
from conformance.specs.graphs.domain.neighbours.numbers import BINARY, FLOATS, INTEGERS, UNARY, Entry, Operands
from conformance.specs.schedules.domain.graph_words import taking

WIDER: Final = (
    ("int8", "int32"), ("uint8", "int32"), ("int16", "int64"), ("uint16", "uint32"), ("int32", "int64"),
    ("uint32", "int64"), ("bool", "int32"), ("float16", "float32"), ("bfloat16", "float32"), ("float32", "float64"),
)  # fmt: skip
"""Dtypes, each with a wider one: in which of the two a step is done shows at the ends of the narrow one."""

BITS: Final = (
    ("float32", "int32"), ("float32", "uint32"), ("float16", "uint16"), ("bfloat16", "int16"), ("float64", "int64"),
    ("int32", "uint32"), ("int8", "uint8"), ("int64", "uint64"), ("int16", "uint16"),
)  # fmt: skip
"""Pairs of dtypes of one width."""

SEEN: Final = (
    "there",
    "there and back",
    "back",
    "converted",
    "of converted",
    "computed",
    "of computed",
    "masked",
    "compared",
)
SIDES: Final = ("first", "second", "both")

_HELD: Final = (*INTEGERS, *FLOATS, "bool")


def _takes(word: str, *dtypes: str) -> bool:
    return all(taking(dtype, (word,)) for dtype in dtypes)


EVERY: Final[tuple[Entry, ...]] = (
    *(
        ("wider", back, *pair, word)
        for back, pair, word in product((False, True), WIDER, (*UNARY, *BINARY))
        if _takes(word, *pair) and not (back and word in COMPARISONS)
    ),
    *(("bits", form, *pair) for form, pair in product(SEEN, BITS)),
    *(("chosen constant", dtype, side, at) for dtype, side, at in product(_HELD, SIDES, range(5))),
    *(
        ("of itself", dtype, word, then)
        for dtype, word, then in product(FLOATS, ("mul", "add", "sub"), (*UNARY, *COMPARISONS))
        if _takes(then, dtype)
    ),
    *(
        ("shifted twice", dtype, *words, far)
        for dtype, words, far in product(INTEGERS, product(("shl", "shr"), repeat=2), (False, True))
    ),
)


def listed(e: Listing, entries: Sequence[tuple[int, Entry]]) -> list[Node]:
    """List entries of this table, ``constants`` and ``numbers``, each with its number, and return what to ask for."""
    operands = Operands(e)
    once: dict[tuple[str, str], Node] = {}
    found: list[Node] = []
    # Of so many values each run has others.
    turn = e.asked.draw(choices.integers(0, 25))
    for number, (what, *rest) in entries:
        if what in constants.KINDS:
            found += constants.KINDS[what](e, number + turn, *rest)
        elif what in _KINDS:
            found.append(_KINDS[what](operands, number, *rest))
        else:
            found.append(numbers.made(operands, number, (what, *rest), once))
    return found


def _wider(o: Operands, _: int, back: bool, narrow: str, wide: str, word: str) -> Node:
    """Compute in the narrow dtype and convert the result; or convert the operands, compute, and convert back."""
    of = (o.left(narrow),) if ARITY[word] == 1 else (o.left(narrow), o.right(narrow, word))
    if not back:
        return o.e.cast(o.e.alu(word, *of), wide)
    return o.e.cast(o.e.alu(word, *(o.e.cast(each, wide) for each in of)), narrow)


def _bits(o: Operands, _: int, form: str, one: str, other: str) -> Node:
    """Read a number's bits in another dtype of its width: at once, after a step, or with steps on the bits."""
    e, at = o.e, o.left(one)
    there = _read(e, at, other)
    # All bits but that of the sign, in a signed dtype; the lower half in an unsigned one.
    most = int(np.iinfo(NUMPY[other]).max) // (2 if other.startswith("u") else 1)
    made: Mapping[str, Callable[[], Node]] = {
        "there": lambda: there,
        "there and back": lambda: _read(e, there, one),
        "back": lambda: _read(e, e.alu("add", there, e.const(1, there)), one),
        "converted": lambda: _read(e, e.cast(o.left(other), one), other),
        "of converted": lambda: e.cast(there, one),
        "computed": lambda: _read(e, e.alu("abs", at), other),
        "of computed": lambda: e.alu("neg", _read(e, e.alu("not", there), one)),
        "masked": lambda: _read(e, e.alu("and", there, e.const(most, there)), one),
        "compared": lambda: e.alu("lt", there, _read(e, o.right(one), other)),
    }
    return made[form]()


def _read(e: Listing, of: Node, dtype: str) -> Node:
    return e.asked.add("bitcast", of.shape, dtype, of)


def _constant(o: Operands, number: int, dtype: str, side: str, at: int) -> Node:
    """Choose between a value and a constant that is neutral to some operation, or between two such."""
    left, right = o.left(dtype), o.right(dtype)
    values: tuple[Any, ...] = (False, True, False, True, False)
    if kind(dtype) == "float":
        values = (0.0, -0.0, 1.0, -1.0, np.nan)
    elif dtype != "bool":
        info = ml_dtypes.iinfo(NUMPY[dtype])
        values = (0, 1, max(int(info.min), -1), int(info.min), int(info.max))
    word = ("lt", "ne", "eq")[number % 3]
    told = o.e.alu(word if _takes(word, dtype) else "ne", right, left)
    constant, other = (o.e.const(values[n % len(values)], left) for n in (at, at + 1))
    return o.e.alu("where", told, *{"first": (constant, left), "second": (left, constant)}.get(side, (constant, other)))


def _of_itself(o: Operands, _: int, dtype: str, word: str, then: str) -> Node:
    """Compute with the sum, the product or the like of a number and itself."""
    at = o.left(dtype)
    made = o.e.alu(word, at, at)
    return o.e.alu(then, made) if ARITY[then] == 1 else o.e.alu(then, made, at)


def _shifted(o: Operands, _: int, dtype: str, first: str, then: str, far: bool) -> Node:
    """Shift twice by constants that together are the width less one, or the width and more."""
    at, bits = o.left(dtype), DTYPES[dtype].bits
    distances = (bits // 2, bits // 2 + far), (bits - 1, far)
    one, two = distances[first == then]
    return o.e.alu(then, o.e.alu(first, at, o.e.const(one, at)), o.e.const(two, at))


_KINDS: Final[Mapping[str, Callable[..., Node]]] = {
    "wider": _wider,
    "bits": _bits,
    "chosen constant": _constant,
    "of itself": _of_itself,
    "shifted twice": _shifted,
}
