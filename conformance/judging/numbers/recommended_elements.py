"""Which elements of a result a *should* settles, so that a *must* goes on demanding the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.judging.compare import unequal
from conformance.judging.numbers.column import Column, column
from conformance.judging.numbers.contributions import apart
from conformance.judging.numbers.open_elements import OfTerms, depending
from conformance.judging.numbers.order import SUMS, minus_zeros
from conformance.judging.subject import ElementMasks, Subject
from conformance.reference.reductions import ARITHMETIC, ORDER


def columns_where(
    fact: Callable[[Column], bool], may: Callable[[Array, str, float], Array], ops: Collection[str]
) -> Callable[[Subject], ElementMasks | None]:
    """Return what settles the elements of ``ops`` whose columns ``fact`` holds of, of complex sums either part's.

    It is asked of those alone of which it ``may`` hold, which is found out about all rows of terms at once.
    """

    def of(terms: Sequence[Array], op: str, factor: float) -> Array:
        rows = apart(op, np.stack([block.reshape(-1) for block in terms], axis=1))
        dtype = logical(rows.dtype)
        held = np.zeros(len(rows), bool)
        if kind(dtype) in ("float", "complex"):
            for at in np.flatnonzero(may(rows, op, factor)):
                held[at] = fact(column(dtype, op, factor, rows[at].tobytes()))
        parts = 1 if rows.dtype == terms[0].dtype else 2
        either: Array = np.logical_or.reduce(held.reshape(parts, *terms[0].shape))
        return either

    def settles(subject: Subject) -> ElementMasks | None:
        computed = all(each.op in ARITHMETIC or each.op in ORDER for each in subject.folds.by_result.values())
        return _by_terms(subject, of, ops) if computed else None

    return settles


def nan_among(subject: Subject) -> ElementMasks:
    """Settle the elements with a NaN among the terms that they are folded from, and what is made of such ones."""
    return _by_terms(subject, _nan_among, ORDER)


def minus_zeros_among(subject: Subject) -> ElementMasks:
    """Settle elements of which all terms, or a part of each, are -0.0 once scaled, and what is made of such ones."""
    return _by_terms(subject, lambda terms, _, factor: minus_zeros(terms, factor), SUMS)


def _nan_among(terms: Sequence[Array], op: str, factor: float) -> Array:  # noqa: ARG001 - one signature for all
    with np.errstate(invalid="ignore"):
        return np.asarray(np.any([np.isnan(block) for block in terms], axis=0))


def _by_terms(subject: Subject, of: OfTerms, ops: Collection[str]) -> ElementMasks:
    """Return what ``of`` tells of the terms of every result of ``ops``, and what is made of such elements."""

    def told(terms: Sequence[Array], op: str, factor: float) -> Array:
        floats = kind(logical(terms[0].dtype)) in ("float", "complex")
        return of(terms, op, factor) if op in ops and floats else np.zeros(terms[0].shape, np.bool_)

    known = subject.folds.by_result
    made = {name: blocks for name, blocks in subject.expected.items() if name not in known}
    found = dict(depending(subject.whole.case, made, told)) if made else {}
    for name in subject.expected.keys() & known.keys():
        op, factor, ranks, _ = known[name]
        shared = {id(terms): told(terms, op, factor) for terms in {id(each): each for each in ranks if each}.values()}
        found[name] = [None if terms is None else shared[id(terms)] for terms in ranks]
    return found


def spared(subject: Subject, seen: Observation, settled: Sequence[ElementMasks]) -> Observation:
    """Return the observation with the reference's bits in all elements that are settled elsewhere.

    Of a zero its sign alone is: what is no zero there is left as it is.
    """
    results = dict(seen.results)
    for masks in settled:
        for name in masks.keys() & results.keys():
            blocks = zip(results[name], subject.expected[name], masks[name], strict=True)
            results[name] = tuple(_patched(*each) for each in blocks)
    return replace(seen, results=results)


def chosen_otherwise(subject: Subject, seen: Observation, settled: Sequence[ElementMasks]) -> bool:
    """Return whether some element that is settled elsewhere is there and has not the reference's value."""
    return any(
        mask is not None and expected is not None and got is not None and _other(got, expected, mask)
        for masks in settled
        for name in masks.keys() & seen.results.keys()
        for got, expected, mask in zip(seen.results[name], subject.expected[name], masks[name], strict=True)
    )


def _other(got: Tensor, expected: Array, mask: Array) -> bool:
    fits = (got.dtype, got.shape) == (logical(expected.dtype), expected.shape)
    return fits and bool((unequal(expected, got, any_nan=True) & mask.reshape(-1)).any())


def _patched(tensor: Tensor | None, expected: Array | None, mask: Array | None) -> Tensor | None:
    if tensor is None or expected is None or mask is None:
        return tensor
    if (tensor.dtype, tensor.shape) != (logical(expected.dtype), expected.shape):
        return tensor
    patched = to_array(tensor)
    if kind(tensor.dtype) in ("float", "complex"):
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            mask = mask & ~_nonzero_for_zero(patched, expected)
    patched[mask] = expected[mask]
    return from_array(patched)


def _nonzero_for_zero(got: Array, expected: Array) -> Array:
    """Return which elements have a part that is no zero where a zero is expected."""
    if expected.dtype.kind != "c":
        return np.asarray((expected == 0) & (got != 0))
    return _nonzero_for_zero(got.real, expected.real) | _nonzero_for_zero(got.imag, expected.imag)
