"""The mean of integers or bools as a quotient, whatever dtype it is given in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np
from ml_dtypes import iinfo

from conformance.cases.declarations.number_model import DEFAULT, KINDS, Words
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.cases.tensor.tensor import to_array
from conformance.judging.clause import SILENT
from conformance.judging.compare import Difference, answered, differences
from conformance.judging.numbers.classes import classes_of
from conformance.judging.numbers.formats import rounded_to
from conformance.judging.numbers.model_operations import carried
from conformance.judging.numbers.trees import one_nan
from conformance.judging.subject import Subject
from conformance.reference.reductions import Terms

_DIVIDED: Final = tuple(KINDS["mean"])
_FLOAT32: Final = np.dtype(np.float32)
_WIDER: Final = ("own", "float32", "float64")


def quotients(subject: Subject, seen: Observation) -> str | None:
    """Demand of every mean of integers or bools that it is the sum divided by the count, as far as its dtype has that.

    In a float dtype it is the quotient of the exact sum, or of the terms in that dtype, divided in any of the ways and
    added in any of the formats that a number model has; in an integer dtype, and in bool, it is cut either way. Nothing
    is said where the sum leaves the dtype of the terms, of a mean of nothing or of another operand's floats, nor of a
    mean that is missing: ``reduction.C13``, a *should*, settles that.
    """
    if answered(subject, seen):
        return SILENT
    known = {(name, rank): terms for name, rank, terms in _means(subject)}
    for one in differences(subject, seen):
        problem = misdivided(one, known[one.name, one.rank]) if (one.name, one.rank) in known else None
        if problem:
            return f"{one.name} on rank {one.rank}: {problem}"
    told = any(total is not None for terms in known.values() for _, total in _sums(terms))
    return None if told else SILENT


def _means(subject: Subject) -> Iterator[tuple[str, int, Terms]]:
    """Yield the terms of each block of a result that is a mean of integers or bools with terms."""
    for name in subject.expected.keys() & subject.folds.by_result.keys():
        for rank, terms in enumerate(subject.folds.by_result[name].ranks):
            if terms and kind(logical(terms[0].dtype)) in ("integer", "bool"):
                yield name, rank, terms


def misdivided(one: Difference, terms: Terms) -> str | None:
    """Return which element of a block that differs from the reference's is no mean of the terms, if one is none."""
    dtype, count = one.tensor.dtype, len(terms)
    if one.tensor.shape != one.expected.shape or kind(dtype) == "complex":
        return f"a {dtype}{list(one.tensor.shape)} is no mean of {logical(terms[0].dtype)}{list(one.expected.shape)}"
    found = to_array(one.tensor).reshape(-1)
    for at, (row, total) in enumerate(_sums(terms)):
        if total is None:
            continue
        exact, value = Fraction(total, count), found[at : at + 1]
        if kind(dtype) == "float":
            right = _divided(value, total, row)
        else:
            right = int(value[0]) in (math.floor(exact), math.ceil(exact))
        if not right:
            return f"{value[0]} in {dtype} is not {total} divided by {count}"
    return None


def _sums(terms: Terms) -> Iterator[tuple[list[int], int | None]]:
    """Yield the terms of every element and their exact sum, or nothing where it wraps around."""
    dtype = logical(terms[0].dtype)
    info = iinfo(NUMPY["int32" if dtype == "bool" else dtype])
    for row in zip(*(block.reshape(-1) for block in terms), strict=True):
        numbers = [int(number) for number in row]
        total = sum(numbers)
        yield numbers, total if info.min <= total <= info.max else None


def _divided(value: Array, total: int, terms: list[int]) -> bool:
    """Return whether a float is the quotient of the sum, converted once, or a mean of the terms as floats."""
    dtype = logical(value.dtype)
    near = np.array([total], np.float64)
    totals = np.concatenate([near, *(rounded_to(near, form).astype(np.float64) for form in (value.dtype, _FLOAT32))])
    for way in _DIVIDED[:2]:
        how = carried(dtype, "mean", 1.0, len(terms), frozenset({("mean", way), ("accumulate", "float64")}))
        if _same(value, how.ended(totals)):
            return True
    content = _in_format(terms, value.dtype).tobytes()
    return any(
        classes_of(dtype, "mean", 1.0, content, value.tobytes(), exact=False, words=words) for words in _models()
    )


def _models() -> Iterator[Words]:
    """Yield the number models that means of integers are tried in."""
    for way in _DIVIDED:
        for wider in _WIDER:
            words = {("mean", way), ("accumulate", wider)}
            yield frozenset(word for word in words if word[1] not in ("division", "own")) or DEFAULT


def _in_format(numbers: list[int], dtype: np.dtype) -> Array:
    return rounded_to(np.array([float(number) for number in numbers], np.float64), dtype)


def _same(value: Array, found: Array) -> bool:
    return bool((one_nan(found) == value).any() or (np.isnan(value).any() and np.isnan(found).any()))
