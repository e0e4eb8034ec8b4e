"""The mean of integers or bools as a quotient, whatever dtype it is given in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from ml_dtypes import iinfo

from conformance.cases.dtypes import NUMPY, kind, logical
from conformance.cases.observation import Observation
from conformance.cases.tensor import to_array
from conformance.judging.clause import Subject
from conformance.judging.compare import Difference, answered, differences
from conformance.judging.precision import Precision, Real, exactly, precision
from conformance.reference.reductions import Terms


def quotients(subject: Subject, seen: Observation) -> str | None:
    """Demand of every mean of integers or bools that it is the sum divided by the count, as far as its dtype has that.

    In a float dtype it may be as far off as that dtype rounds the terms, their sums in any order, the count, its
    inverse and the quotient; in an integer dtype, and in bool, it is cut either way. Nothing is said where the sum
    leaves the dtype of the terms, or that of the mean, nor of a mean that is missing: ``reduction.C13``, a *should*,
    settles that.
    """
    if answered(subject, seen):
        return None
    for one in differences(subject, seen):
        terms = subject.folded[one.name].ranks[one.rank] if one.name in subject.folded else None
        problem = _wrong(one, terms) if terms is not None else None
        if problem:
            return f"{one.name} on rank {one.rank}: {problem}"
    return None


def _wrong(one: Difference, terms: Terms) -> str | None:
    dtype, count = one.tensor.dtype, len(terms)
    if one.tensor.shape != one.expected.shape or kind(dtype) == "complex":
        return f"a {dtype}{list(one.tensor.shape)} is no mean of {logical(terms[0].dtype)}{list(one.expected.shape)}"
    found = to_array(one.tensor).reshape(-1)
    for value, (total, size) in zip(found, _sums(terms), strict=True):
        if total is None:
            continue
        exact = Fraction(total, count)
        if kind(dtype) == "float":
            right = _rounded(exactly(value), exact, size, count, precision(dtype))
        else:
            right = int(value) in (math.floor(exact), math.ceil(exact))
        if not right:
            return f"{value} in {dtype} is not {total} divided by {count}"
    return None


def _sums(terms: Terms) -> Iterator[tuple[int | None, int]]:
    """Yield the exact sum of every element, or nothing where it wraps around, and the sum of the magnitudes."""
    dtype = logical(terms[0].dtype)
    info = iinfo(NUMPY["int32" if dtype == "bool" else dtype])
    for row in zip(*(block.reshape(-1) for block in terms), strict=True):
        numbers = [int(number) for number in row]
        total = sum(numbers)
        yield total if info.min <= total <= info.max else None, sum(map(abs, numbers))


def _rounded(value: Real, exact: Fraction, size: int, count: int, form: Precision) -> bool:
    """Return whether ``value`` is ``exact`` but for roundings of terms, ``count - 1`` sums, the count and quotient.

    The count's own is counted twice, for it divides, and its inverse may be rounded too.
    """
    growth = (1 + form.unit) ** (count + 4)
    if size * growth > form.greatest:
        return True
    far = (growth - 1) * Fraction(size, count) + (size + 1) * growth * form.least
    return isinstance(value, Fraction) and abs(value - exact) <= far
