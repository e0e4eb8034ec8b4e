"""What should hold of elements of which no source settles the value, or sources settle it differently."""

from __future__ import annotations

from collections.abc import Callable

from conformance.cases.tensor.tensor import Tensor
from conformance.judging.clause import SILENT
from conformance.judging.graphs.clause import GraphClause, GraphSeen
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import (
    beside,
    beside_nan,
    signed_zeros,
    unlike,
    unrecommended,
    zero_signs,
)
from conformance.judging.keyed_values import Words
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.rounding import BESIDE, LOOSE
from conformance.reference.graph.slack import OPEN

ULPS = 5.0
"""OpenCL C 3.0, 7.4, allows sin 4 units in the last place and exp2 and log2 3; NumPy's own value is within one."""


def _some(shown: Callable[[BoundedValue, Words], bool]) -> Callable[[GraphSubject], bool]:
    """Speak where some value has an element that the sentence is about."""
    return lambda subject: (
        subject.legal and any(shown(meant, subject.traits[key]) for key, meant in subject.expected.items())
    )


def _each(
    shown: Callable[[BoundedValue, Words], bool], check: Callable[[BoundedValue, Tensor, GraphSeen], str | None]
) -> Callable[[GraphSubject, GraphSeen], str | None]:
    """Find a value with such an element that is not as it should be; of one that is not there nothing is said."""

    def found(subject: GraphSubject, seen: GraphSeen) -> str | None:
        told = True
        for key, meant in subject.expected.items():
            if not shown(meant, subject.traits[key]):
                continue
            given = seen.given(key)
            if given is None or unlike(meant, given) is not None:
                told = False
                continue
            problem = check(meant, given, seen)
            if problem is not None:
                return f"{key}: {problem}"
        return None if told else SILENT

    return found


def _open(*words: str, but: tuple[str, ...]) -> Callable[[BoundedValue, Words], bool]:
    """Show elements that an operation of one of several words gave, where several results of it are right."""
    return lambda meant, have: (
        meant.slack.bits & OPEN > 0 and bool(have.intersection(words)) and not have.intersection(but)
    )


def _some_beside(meant: BoundedValue, _: Words) -> bool:
    return meant.slack.bits & BESIDE > 0 and bool(beside(meant).any())


def _some_zeros(meant: BoundedValue, _: Words) -> bool:
    return meant.slack.bits & LOOSE > 0 and bool(signed_zeros(meant).any())


_ROOTS = _open("root", but=("function", "gather"))
_FUNCTIONS = _open("function", but=("gather",))
_WHOLE = _open("shift", but=("float",))
_BEYOND = _open("gather", but=("float",))

RECOMMENDED = (
    GraphClause(
        "graph.C37",
        "should",
        "A maximum or a minimum of floats with a NaN among them, elementwise or as a fold, is NaN.",
        "ieee754: 9.6; numpy.maximum; stablehlo.operations: maximum",
        _some(_some_beside),
        _each(_some_beside, lambda meant, given, seen: beside_nan(meant, given, seen.numbers)),
    ),
    GraphClause(
        "graph.C38",
        "should",
        "A computed zero of real floats has the sign that IEEE 754 gives it, except a maximum or minimum of zeros of "
        "both signs, a sum of negative zeros along axes or over devices, and the zero of a dtype without NaN for an "
        "undefined quotient, root or logarithm.",
        "ieee754: 6.3, 9.6; numpy.maximum; stablehlo.operations: maximum, reduce",
        _some(_some_zeros),
        _each(_some_zeros, lambda meant, given, seen: zero_signs(meant, given, seen.numbers)),
    ),
    GraphClause(
        "graph.C39",
        "should",
        "A square root, quotient or reciprocal of real floats with one right value each is the exact result rounded "
        "once, to nearest, but for what the number model chooses. Excepted are quotients and reciprocals of operands "
        "that were rounded or are products or quotients.",
        "ieee754: 5.4.1; stablehlo.operations: sqrt, divide",
        _some(_ROOTS),
        _each(_ROOTS, lambda meant, given, seen: unrecommended(meant, given, 0.0, seen.numbers)),
    ),
    GraphClause(
        "graph.C40",
        "should",
        "exp2, log2 and sin of floats that have one right value each lie within 5 units in the last place of the "
        "value that NumPy gives, where that is finite and no zero. OpenCL's bounds of 3 units, and of 4 for sin, keep "
        "them there.",
        "opencl.accuracy",
        _some(_FUNCTIONS),
        _each(_FUNCTIONS, lambda meant, given, seen: unrecommended(meant, given, ULPS, seen.numbers)),
    ),
    GraphClause(
        "graph.C41",
        "may",
        "A shift of integers by a negative number, or by the width of the dtype or more, gives 0, or -1 where a "
        "negative number is shifted right.",
        "stablehlo.operations: shift_left, shift_right_arithmetic, shift_right_logical",
        _some(_WHOLE),
        _each(_WHOLE, lambda meant, given, seen: unrecommended(meant, given, 0.0, seen.numbers)),
    ),
    GraphClause(
        "graph.C42",
        "may",
        "A gather takes an index that is outside the axis as the nearest index inside it. Along an axis without "
        "elements it gives zeros.",
        "stablehlo.operations: gather",
        _some(_BEYOND),
        _each(_BEYOND, lambda meant, given, seen: unrecommended(meant, given, 0.0, seen.numbers)),
    ),
)
