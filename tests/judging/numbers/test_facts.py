"""What is asked of columns of numbers is answered as it would be without a way round the arithmetic."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.judging.numbers.classes import leaves
from conformance.judging.numbers.column import column
from conformance.judging.numbers.facts import all_minus_zero, may_vanish
from conformance.judging.numbers.precision import negative

SCALES = [("sum", 1.0), ("mean", 1.0), *(("premul_sum", factor) for factor in (1.0, -0.25, 0.0, 1e-30, -1e-30))]


@pytest.mark.parametrize("dtype", [name for name in NUMPY if kind(name) == "float"])
def test_terms_are_minus_zero_where_every_scaled_term_is(dtype: str) -> None:
    values = np.array([0.0, -0.0, 1e-45, -1e-45, -5e-324, -6e-8, -1.0, 1.0, np.nan]).astype(NUMPY[dtype])
    for (op, factor), count in itertools.product(SCALES, (1, 2)):
        for chosen in itertools.product(range(len(values)), repeat=count):
            terms = column(dtype, op, factor, values[list(chosen)].tobytes())
            plain = terms.finite and all(value == 0 and negative(value) for value in leaves(terms))
            assert all_minus_zero(terms) == plain, (op, factor, terms.terms)


@pytest.mark.parametrize("dtype", [name for name in NUMPY if kind(name) in ("float", "complex")])
def test_no_row_of_minus_zeros_is_left_out_beforehand(dtype: str) -> None:
    values = np.array([-0.0, 0.0, -1e-45, 1e-45, -1.0, np.nan]).astype(NUMPY[dtype])
    for op, factor in SCALES:
        rows = np.array(list(itertools.product(values, repeat=2)), NUMPY[dtype])
        may = may_vanish(rows, op, factor)
        held = [all_minus_zero(column(dtype, op, factor, row.tobytes())) for row in rows]
        assert not (np.array(held) & ~may).any()
        # That format has no number below zero.
        assert may.any() or dtype == "float8_e8m0fnu"
        assert kind(dtype) == "complex" or not may.all()
