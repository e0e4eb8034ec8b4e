"""What should hold of elements of which no source settles the value, or sources settle it differently."""

from __future__ import annotations

from collections.abc import Callable

from conformance.cases.tensor.tensor import Tensor
from conformance.judging.graphs.clause import GraphClause, Seen
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
from conformance.reference.graph.evaluate import Worth
from conformance.reference.graph.rounding import BESIDE, LOOSE
from conformance.reference.graph.slack import OPEN

ULPS = 5.0
"""OpenCL C 3.0, 7.4, allows sin 4 units in the last place and exp2 and log2 3; NumPy's own value is within one."""


def _some(shown: Callable[[Worth, Words], bool]) -> Callable[[GraphSubject], bool]:
    """Speak where some value has an element that the sentence is about."""
    return lambda subject: (
        subject.legal and any(shown(worth, subject.traits[key]) for key, worth in subject.expected.items())
    )


def _each(
    shown: Callable[[Worth, Words], bool], check: Callable[[Worth, Tensor, Seen], str | None]
) -> Callable[[GraphSubject, Seen], str | None]:
    """Find a value with such an element that is not as it should be."""

    def found(subject: GraphSubject, seen: Seen) -> str | None:
        for key, worth in subject.expected.items():
            given = seen.given(key)
            if given is not None and unlike(worth, given) is None and shown(worth, subject.traits[key]):
                problem = check(worth, given, seen)
                if problem is not None:
                    return f"{key}: {problem}"
        return None

    return found


def _open(*words: str, but: tuple[str, ...]) -> Callable[[Worth, Words], bool]:
    """Show elements that an operation of one of several words gave, where several results of it are right."""
    return lambda worth, have: (
        worth.slack.bits & OPEN > 0 and bool(have.intersection(words)) and not have.intersection(but)
    )


def _some_beside(worth: Worth, _: Words) -> bool:
    return worth.slack.bits & BESIDE > 0 and bool(beside(worth).any())


def _some_zeros(worth: Worth, _: Words) -> bool:
    return worth.slack.bits & LOOSE > 0 and bool(signed_zeros(worth).any())


_ROOTS = _open("root", but=("function", "gather"))
_FUNCTIONS = _open("function", but=("gather",))
_WHOLE = _open("shift", but=("float",))
_BEYOND = _open("gather", but=("float",))

RECOMMENDED = (
    GraphClause(
        "graph.C37",
        "should",
        "A maximum or a minimum of values with a NaN among them is NaN.",
        "ieee754: 9.6; numpy.maximum; stablehlo.operations: maximum",
        _some(_some_beside),
        _each(_some_beside, lambda worth, given, seen: beside_nan(worth, given, seen.numbers)),
    ),
    GraphClause(
        "graph.C38",
        "should",
        "A computed zero has the sign that IEEE 754 gives it, except a maximum or minimum of zeros of both signs, "
        "a sum of negative zeros along axes or over devices, and the zero of a dtype without NaN for an undefined "
        "quotient, root or logarithm.",
        "ieee754: 6.3, 9.6; numpy.maximum; stablehlo.operations: maximum, reduce",
        _some(_some_zeros),
        _each(_some_zeros, lambda worth, given, seen: zero_signs(worth, given, seen.numbers)),
    ),
    GraphClause(
        "graph.C39",
        "should",
        "A square root, a quotient and a reciprocal of floats that have one right value each are correctly "
        "rounded, but for what the number model chooses.",
        "ieee754: 5.4.1; stablehlo.operations: sqrt, divide",
        _some(_ROOTS),
        _each(_ROOTS, lambda worth, given, seen: unrecommended(worth, given, 0.0, seen.numbers)),
    ),
    GraphClause(
        "graph.C40",
        "should",
        "exp2, log2 and sin of floats that have one right value each lie within 5 units in the last place of the "
        "value that NumPy gives, as they do where OpenCL's bounds of 3 units, and of 4 for sin, are kept.",
        "opencl.accuracy",
        _some(_FUNCTIONS),
        _each(_FUNCTIONS, lambda worth, given, seen: unrecommended(worth, given, ULPS, seen.numbers)),
    ),
    GraphClause(
        "graph.C41",
        "may",
        "A shift by a negative number, or by the width of the dtype or more, gives 0, or -1 where a negative "
        "number is shifted right.",
        "stablehlo.operations: shift_left, shift_right_arithmetic, shift_right_logical",
        _some(_WHOLE),
        _each(_WHOLE, lambda worth, given, seen: unrecommended(worth, given, 0.0, seen.numbers)),
    ),
    GraphClause(
        "graph.C42",
        "may",
        "An index outside the axis is taken as the nearest index inside it. Where the axis has no elements, the "
        "gather gives zero.",
        "stablehlo.operations: gather",
        _some(_BEYOND),
        _each(_BEYOND, lambda worth, given, seen: unrecommended(worth, given, 0.0, seen.numbers)),
    ),
)
