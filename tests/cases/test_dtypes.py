"""A dtype is one row, and the reference moves and computes with all of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.tensor.dtypes import DRAWN, DTYPES, NUMPY, infinite, kind, logical
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.reference.graph.elementwise import apply
from conformance.reference.operations import OPERATIONS
from conformance.reference.reductions import REDUCTIONS, check
from conformance.reference.rejection import Rejected
from conformance.reference.situations import FEATURES, dtype_word

GROUPS = ((0, 1, 2),)
OTHERS = ("bcomplex32", "complex32", "int1", "uint1")
"""Types of ml_dtypes that later versions than the oldest allowed one brought."""


def test_every_type_of_ml_dtypes_has_a_row() -> None:
    numbers = {name for name in ml_dtypes.__all__ if name not in ("finfo", "iinfo", *OTHERS)}
    assert {name for name in numbers if isinstance(getattr(ml_dtypes, name), type)} <= set(DTYPES)
    assert all(logical(row.holds) == name and dtype_word(name) in FEATURES["dtype"] for name, row in DTYPES.items())
    assert [name for name in DTYPES if kind(name) == "float" and infinite(name)] == [
        *("float8_e5m2", "float16", "bfloat16", "float32", "float64", "float8_e3m4", "float8_e4m3"),
    ]


@pytest.mark.filterwarnings("error")
def test_a_complex_type_has_the_infinities_of_its_parts_and_nobody_is_warned() -> None:
    assert infinite("complex64")
    assert infinite("complex128")


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name not in DRAWN])
def test_the_reference_reduces_scans_and_moves_it(dtype: str) -> None:
    blocks = [np.ones(2, np.float32).astype(NUMPY[dtype])] * 3
    for op in REDUCTIONS:
        try:
            check(dtype, op)
        except Rejected:
            continue
        for name, attrs in (("all_reduce", {}), ("scan", {"exclusive": True})):
            assert all(block.shape == (2,) for block in OPERATIONS[name](blocks, op=op, groups=GROUPS, **attrs))
    assert OPERATIONS["arg_reduce"](blocks, op="max", groups=GROUPS)[2].tolist() == [0, 0]
    assert OPERATIONS["permute"](blocks, pairs=((0, 1),), groups=GROUPS)[0].tobytes() == b"\0\0"


def test_where_there_is_no_zero_the_bits_of_zero_stand_for_the_least_number() -> None:
    blocks = [np.ones(1, NUMPY["float8_e8m0fnu"])] * 2
    filled = OPERATIONS["permute"](blocks, pairs=(), groups=((0, 1),))[0]
    assert filled.astype(np.float32).tolist() == [2.0**-127]


def test_bits_that_an_element_does_not_use_are_no_part_of_it() -> None:
    extended = to_array(Tensor(dtype="int4", shape=(2,), bits="fd03"))
    assert extended.tolist() == [-3, 3]
    assert from_array(extended.view(np.uint8).astype(np.int8).view(NUMPY["int4"])).bits == "0d03"
    assert from_array(np.array([0xFD], np.uint8).view(NUMPY["int4"])).bits == "0d"
    assert apply("neg", [extended]).view(np.uint8).tolist() == [3, 0xD]
