"""What should hold of elements of which no source settles the value, or sources settle it differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.tensor.tensor import Tensor
from conformance.judging.clause import SILENT
from conformance.judging.graphs.clause import GraphClause, GraphSeen
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import (
    Where,
    beside,
    beside_nan,
    recommended,
    settled_beside,
    settled_zeros,
    signed_zeros,
    unlike,
    unrecommended,
    zero_signs,
)
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.rounding import BESIDE, LOOSE
from conformance.reference.graph.slack import OPEN, OUTSIDE

ULPS = 5.0
"""OpenCL C 3.0, 7.4, allows sin 4 units in the last place and exp2 and log2 3; NumPy's own value is within one."""


Asked = Callable[[BoundedValue, NumberModel], Where]
"""Which elements a sentence is about, in a number model."""


@dataclass(frozen=True)
class _About:
    """What a sentence is about: values that ``shown`` tells by their names, and elements of those."""

    shown: Callable[[GraphSubject, str], bool]
    asked: Asked

    def __call__(self, subject: GraphSubject) -> bool:
        """Speak where some value has an element that the sentence is about."""
        return subject.legal and any(self.shown(subject, key) for key in subject.expected)

    def each(
        self, check: Callable[[BoundedValue, Tensor, GraphSeen], str | None]
    ) -> Callable[[GraphSubject, GraphSeen], str | None]:
        """Find a value with such an element that is not as it should be.

        Of one that is not there, or of whose elements the number model leaves none, nothing is said.
        """

        def found(subject: GraphSubject, seen: GraphSeen) -> str | None:
            told, any_ = True, False
            for key, meant in subject.expected.items():
                if not self.shown(subject, key) or not self.asked(meant, seen.numbers).any():
                    continue
                any_, given = True, seen.given(key)
                if given is None or unlike(meant, given) is not None:
                    told = False
                    continue
                problem = check(meant, given, seen)
                if problem is not None:
                    return f"{key}: {problem}"
            return None if told and any_ else SILENT

        return found

    def within(self, ulps: float) -> Callable[[GraphSubject, GraphSeen], str | None]:
        """Find such an element that is farther from the recommended value than so many units in the last place."""
        return self.each(lambda meant, given, seen: unrecommended(meant, given, self.asked(meant, seen.numbers), ulps))


def _has(bit: int, elements: Callable[[BoundedValue], Where] | None = None) -> Callable[[GraphSubject, str], bool]:
    """Tell of values that have a bit, and such elements, if any are asked for."""

    def shown(subject: GraphSubject, key: str) -> bool:
        meant = subject.expected[key]
        return meant.slack.bits & bit > 0 and (elements is None or bool(elements(meant).any()))

    return shown


def _open(word: str) -> _About:
    """Tell of elements that operations of one word alone gave, where several results of them are right."""
    return _About(
        lambda subject, key: _has(OPEN)(subject, key) and subject.givers[key] == {word},
        lambda meant, numbers: recommended(meant, OPEN, numbers),
    )


_BESIDE = _About(_has(BESIDE, beside), settled_beside)
_ZEROS = _About(_has(LOOSE, signed_zeros), settled_zeros)
_ROOTS, _FUNCTIONS, _SHIFTS = _open("root"), _open("function"), _open("shift")
_OUTSIDE = _About(_has(OUTSIDE), lambda meant, numbers: recommended(meant, OUTSIDE, numbers))

RECOMMENDED = (
    GraphClause(
        "graph.C37",
        "should",
        "A maximum or a minimum of floats with a NaN among them, elementwise or as a fold, is NaN.",
        "ieee754: 9.6; numpy.maximum; stablehlo.operations: maximum",
        _BESIDE,
        _BESIDE.each(lambda meant, given, seen: beside_nan(meant, given, seen.numbers)),
    ),
    GraphClause(
        "graph.C38",
        "should",
        "A computed zero of real floats has the sign that IEEE 754 gives it, except a maximum or minimum of zeros of "
        "both signs, a sum of negative zeros along axes or over devices, and the zero of a dtype without NaN for an "
        "undefined quotient, root or logarithm.",
        "ieee754: 6.3, 9.6; numpy.maximum; stablehlo.operations: maximum, reduce",
        _ZEROS,
        _ZEROS.each(lambda meant, given, seen: zero_signs(meant, given, seen.numbers)),
    ),
    GraphClause(
        "graph.C39",
        "should",
        "A square root, quotient or reciprocal of real floats with one right value each is the exact result rounded "
        "once, to nearest, but for what the number model chooses. Excepted are quotients and reciprocals of operands "
        "that were rounded or are products or quotients.",
        "ieee754: 5.4.1; stablehlo.operations: sqrt, divide",
        _ROOTS,
        _ROOTS.within(0.0),
    ),
    GraphClause(
        "graph.C40",
        "should",
        "exp2, log2 and sin of floats that have one right value each lie within 5 units in the last place of the "
        "value that NumPy gives, where that is finite and no zero. OpenCL's bounds of 3 units, and of 4 for sin, keep "
        "them there.",
        "opencl.accuracy",
        _FUNCTIONS,
        _FUNCTIONS.within(ULPS),
    ),
    GraphClause(
        "graph.C41",
        "may",
        "A shift of integers by a negative number, or by the width of the dtype or more, gives 0, or -1 where a "
        "negative number is shifted right.",
        "stablehlo.operations: shift_left, shift_right_arithmetic, shift_right_logical",
        _SHIFTS,
        _SHIFTS.within(0.0),
    ),
    GraphClause(
        "graph.C42",
        "may",
        "A gather takes an index that is outside the axis as the nearest index inside it. Along an axis without "
        "elements it gives zeros.",
        "stablehlo.operations: gather",
        _OUTSIDE,
        _OUTSIDE.within(0.0),
    ),
)
