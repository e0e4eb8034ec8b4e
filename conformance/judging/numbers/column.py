"""One element of a reduction: the terms it is folded from, what they come to exactly, and how far rounding may lead.

All of it is in rational numbers, so nothing here rounds. Proofs are in ``docs/numerics.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, wraps
from typing import Final, ParamSpec, TypeVar

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.judging.numbers.precision import Precision, Real, exactly, negative, precision
from conformance.reference.reductions import ORDER

MOST_SUBSETS: Final = 8
"""Terms whose subsets are all gone through, 254 of them, to decide whether any partial result rounds."""

MOST_COLUMNS: Final = 512
"""Columns of which what was found out is kept, at some 3 KB each: with 8,192 the judge of all_reduce was no faster (7 %
of CPU time, within noise), for what asks again is the same case, and the process took 50 MB more."""

LONG: Final = 4096
"""Bytes of terms above which only the last column is kept: one of 40,970 terms takes 6 MB, and a few such made a run
of the reference hold 10 MB more after 100,000 cases than after 50,000."""

P = ParamSpec("P")
R = TypeVar("R")

Part = tuple[Fraction, Fraction]
"""The real and the imaginary part; of a real number the second is zero."""


@dataclass(frozen=True)
class Column:
    """The terms of one element, as bytes in rank order, and what is done with them.

    Only those of products may be complex: sums and means of complex numbers are two columns, one of each part.
    """

    dtype: str
    op: str
    factor: float
    content: bytes

    @cached_property
    def terms(self) -> Array:
        """Return the terms."""
        return np.frombuffer(self.content, NUMPY[self.dtype])

    @cached_property
    def format(self) -> Precision:
        """Return the format of the terms, or of their parts."""
        return precision(self.dtype)

    @cached_property
    def parts(self) -> tuple[tuple[Real, Real], ...]:
        """Return the terms as they are; NaN and infinities as floats."""
        return parts_of(self.terms)

    @cached_property
    def finite(self) -> bool:
        """Return whether every term is a number."""
        return all(isinstance(part, Fraction) for pair in self.parts for part in pair)

    @property
    def complex(self) -> bool:
        """Return whether the terms are complex."""
        return kind(self.dtype) == "complex"

    @cached_property
    def scale(self) -> Fraction:
        """Return what every term is multiplied by."""
        if self.op == "mean":
            return Fraction(1, len(self.terms))
        if self.op == "premul_sum":
            with np.errstate(over="ignore"):
                return Fraction(float(np.array(self.factor, NUMPY[self.dtype])))
        return Fraction(1)

    @cached_property
    def numbers(self) -> tuple[Part, ...]:
        """Return the terms exactly, scaled; all must be finite."""
        if self.scale == 1:
            return self.parts  # type: ignore[return-value]  # all finite
        return tuple(_scaled(re, im, self.scale) for re, im in self.parts)

    @cached_property
    def added(self) -> tuple[Part, ...]:
        """Return what is added or multiplied: the terms, scaled where a factor says so; all must be finite."""
        return self.numbers if self.op != "mean" else self.parts  # type: ignore[return-value]  # all finite

    @cached_property
    def exact(self) -> Part:
        """Return what the terms come to without rounding."""
        return _combined(self.op, self.numbers)

    @cached_property
    def magnitude(self) -> Part:
        """Return what the magnitudes of the terms come to.

        Magnitudes are multiplied without signs: ``(ac + bd, ad + bc)``.
        """
        sizes = [(abs(re), abs(im)) for re, im in self.numbers]
        return _combined("sum", sizes) if self.op != "product" else _sizes(sizes)

    @cached_property
    def steps(self) -> int:
        """Return how many rounded operations, at most, lie on the way from a term to the result."""
        n = len(self.terms)
        # A mean may divide each term, by the rounded inverse of the count, before it adds.
        return {"sum": n - 1, "premul_sum": n, "mean": n + 1}.get(self.op, (2 if self.complex else 1) * (n - 1))

    def error(self, unit: Fraction, underflow: Fraction) -> Part:
        """Return how far from ``exact`` any tree is in a format of this unit roundoff and this error of underflow."""
        growth, (re, im), n = (1 + unit) ** self.steps, self.magnitude, len(self.terms)
        if self.op == "sum":
            lost = Fraction(0)
        elif self.op == "product":
            least = self.format.normal if underflow > self.format.least else self.format.least
            lost = Fraction(0)
            if self.grain < least and not self.vanishes:
                lost = (4 if self.complex else 1) * (n - 1) * underflow * self.amplification * growth**3
        else:
            lost = (n + 1) * underflow * growth
        return (growth - 1) * re + lost, (growth - 1) * im + (lost if self.complex else 0)

    @cached_property
    def amplification(self) -> Fraction:
        """Return how much the terms of a product may multiply what an underflow lost."""
        sizes = sorted((max(abs(re) + abs(im), Fraction(1)) for re, im in self.numbers), reverse=True)
        return math.prod(sizes[: max(len(sizes) - 2, 0)], start=Fraction(1))

    @cached_property
    def bound(self) -> Part:
        """Return the a-priori bound on the error in the format of the terms."""
        return self.error(self.format.unit, self.format.least / 2)

    @cached_property
    def vacuous(self) -> bool:
        """Return whether the bound says next to nothing: rounding, or underflow made larger again, may eat 1/8."""
        if self.steps * self.format.unit > Fraction(1, 8):
            return True
        if self.op != "product" or self.amplification == 1:
            return False
        lost = (len(self.terms) - 1) * self.format.least * self.amplification
        return lost > sum(self.magnitude) / 8 and lost > len(self.terms) * self.format.least

    @cached_property
    def order_free(self) -> bool:
        """Return whether no operation rounds, overflows or has a subnormal term or result, whatever the tree.

        Then every tree in every number model gives one result. It is decided exactly for up to ``MOST_SUBSETS`` real
        terms; for more, and for complex products, ``False`` may also mean that it was not found out.
        """
        if self.op in ORDER:
            return True
        if not self.finite:
            return bool(np.isnan(self.terms).any()) and not (self.complex and self.may_be_infinite)
        if self.op == "mean" and len(self.terms) & (len(self.terms) - 1):
            return not any(re for re, _ in self.added)
        if self.op == "product" and any(not any(number) for number in self.numbers) and not self.complex:
            return self._stays_finite()
        return self._without_rounding and not (self.op == "premul_sum" and self._scales_subnormals)

    @cached_property
    def _without_rounding(self) -> bool:
        """Return whether sizes or every subset of the terms show that nothing rounds and nothing is subnormal."""
        if self.sure and self._clear_of_subnormals:
            return True
        return not self.complex and len(self.terms) <= MOST_SUBSETS and self._every_result_exact()

    @cached_property
    def _clear_of_subnormals(self) -> bool:
        """Return whether what every partial result is a multiple of is a normal number; for terms that are ``sure``."""
        bits = [min((least_bit(part) for part in number if part), default=Fraction(1)) for number in self.added]
        if self.op == "product":
            return math.prod(min(bit, Fraction(1)) for bit in bits) >= self.format.normal
        return min(bits) / (len(bits) if self.op == "mean" else 1) >= self.format.normal

    @property
    def scales_by_subnormal(self) -> bool:
        """Return whether the factor that terms are multiplied by is a subnormal number."""
        return 0 < abs(self.scale) < self.format.normal

    @property
    def _scales_subnormals(self) -> bool:
        """Return whether a term is subnormal before it is scaled, or the factor is, whatever comes of it."""
        return self.scales_by_subnormal or any(0 < abs(Fraction(re)) < self.format.normal for re, _ in self.parts)

    @cached_property
    def may_be_infinite(self) -> bool:
        """Return whether some part of the terms is infinite, or some partial product of their numbers may overflow."""
        numbers = [tuple(abs(part) for part in pair if isinstance(part, Fraction)) for pair in self.parts]
        size = math.prod(max(sum(pair, start=Fraction(0)), Fraction(1)) for pair in numbers)
        infinite = any(isinstance(part, float) and math.isinf(part) for pair in self.parts for part in pair)
        return infinite or size * 4 > self.format.greatest

    def _stays_finite(self) -> bool:
        """Return whether no partial product overflows, so that a zero among the terms makes every result zero."""
        sizes = [max(abs(re), Fraction(1)) for re, _ in self.numbers]
        return math.prod(sizes) * 4 <= self.format.greatest  # (1 + 1/8) ** 7 < 4

    @cached_property
    def sure(self) -> bool:
        """Return whether a look at the sizes alone shows that every partial result is exact; terms must be finite."""
        form, scaled = self.format, self.added
        if self.op == "premul_sum" and not all(form.holds(number) for number, _ in scaled):
            return False
        if self.op != "product":
            # Everything is a multiple of the least bit of any term, and of no more digits than the format has.
            quantum = min((least_bit(re) for re, _ in scaled if re), default=Fraction(1))
            total = sum((abs(re) for re, _ in scaled), start=Fraction(0))
            return total <= quantum * 2**form.digits and total <= form.greatest
        bits = [min(least_bit(part) for part in number if part) for number in scaled if any(number)]
        if len(bits) < len(scaled):
            return False
        if self.complex and len(bits) > 2 and not all(self.exact):
            return False  # the sign of a part that is zero may depend on the order
        odd = math.prod((abs(re) + abs(im)) / bit for (re, im), bit in zip(scaled, bits, strict=True))
        most = math.prod(max(abs(re) + abs(im), Fraction(1)) for re, im in scaled)
        return odd <= 2**form.digits and most <= form.greatest and self.grained

    @cached_property
    def grain(self) -> Fraction:
        """Return a number of which every partial product is a multiple."""
        bits = (min((least_bit(part) for part in number if part), default=Fraction(1)) for number in self.numbers)
        return math.prod((min(bit, Fraction(1)) for bit in bits), start=Fraction(1))

    @property
    def grained(self) -> bool:
        """Return whether every partial product is a multiple of the least number, so that none underflows."""
        return self.grain >= self.format.least

    @property
    def vanishes(self) -> bool:
        """Return whether some factor is zero: whatever the others lose, nothing is left of it."""
        return not all(any(number) for number in self.numbers)

    def _every_result_exact(self) -> bool:
        """Return whether every result of some of the terms is a number of the format, and zero or normal.

        Of a mean, so is its quotient by the count.
        """
        form, terms = self.format, [re for re, _ in self.added]
        divisor = len(terms) if self.op == "mean" else 1
        for size in range(1, len(terms) + 1):
            for some in itertools.combinations(terms, size):
                result = Fraction(math.prod(some) if self.op == "product" else sum(some))
                if result and not (form.holds(result) and abs(result / divisor) >= form.normal):
                    return False
        return True

    @cached_property
    def negative(self) -> bool:
        """Return the sign that a product has by the signs of its factors."""
        return sum(negative(term) for term in self.terms) % 2 == 1


def parts_of(values: Array) -> tuple[tuple[Real, Real], ...]:
    """Return the real and imaginary parts of floats of any format as they are."""
    if values.dtype.kind == "c":
        return tuple(_pair(float(re), float(im)) for re, im in zip(values.real, values.imag, strict=True))
    return tuple(_pair(float(value), 0.0) for value in values)


@lru_cache(maxsize=4096)
def _pair(re: float, im: float) -> tuple[Real, Real]:
    """Return the parts exactly; one pair for all columns that have them.

    The prefixes of a scan over 64 ranks have the same terms some 30 times: one case took 23 MiB, and left memory in
    pieces.
    """
    return exactly(re), exactly(im)


@lru_cache(maxsize=4096)
def _scaled(re: Real, im: Real, scale: Fraction) -> Part:
    """Return the parts scaled, which are finite; likewise one pair for all columns."""
    return Fraction(re) * scale, Fraction(im) * scale


def remembered(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep what a function found out about the last ``most`` columns, and about the last long one.

    Its first argument is a column, or its fourth one the bytes of the terms.
    """

    def kept(function: Callable[P, R]) -> Callable[P, R]:
        short, long = lru_cache(maxsize=most)(function), lru_cache(maxsize=1)(function)

        @wraps(function)
        def found(*args: P.args, **named: P.kwargs) -> R:
            content = args[0].content if isinstance(args[0], Column) else args[3]
            assert isinstance(content, bytes)
            # The arguments of all such functions can be keys.
            return (long if len(content) > LONG else short)(*args, **named)  # type: ignore[arg-type]

        return found

    return kept


@remembered(MOST_COLUMNS)
def column(dtype: str, op: str, factor: float, content: bytes) -> Column:
    """Return the one column with these terms, so that what is found out about it is found out once."""
    return Column(dtype, op, factor, content)


def least_bit(number: Fraction) -> Fraction:
    """Return the value of the last bit that is set."""
    top = abs(number.numerator)
    return Fraction(top & -top, number.denominator)


def _combined(op: str, numbers: Iterable[Part]) -> Part:
    if op != "product":
        listed = list(numbers)
        return sum((re for re, _ in listed), start=Fraction(0)), sum((im for _, im in listed), start=Fraction(0))
    re, im = Fraction(1), Fraction(0)
    for a, b in numbers:
        re, im = re * a - im * b, re * b + im * a
    return re, im


def _sizes(sizes: Sequence[Part]) -> Part:
    re, im = Fraction(1), Fraction(0)
    for a, b in sizes:
        re, im = re * a + im * b, re * b + im * a
    return re, im
