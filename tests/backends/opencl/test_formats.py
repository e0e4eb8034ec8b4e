"""Every format against the NumPy type it stands for, on the bits, also those that cases do not speak of yet."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph import Buffer, whole
from conformance.backends.opencl.lower.direct import direct
from conformance.backends.opencl.operations import collective
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.schedule import schedule
from conformance.cases.dtypes import Array

REDUCTIONS = {"sum": np.add, "product": np.multiply, "max": np.maximum, "min": np.minimum}


def numpy_type(dtype: str) -> np.dtype:  # type: ignore[type-arg]
    return np.dtype(getattr(ml_dtypes, dtype, None) or dtype)


def reduced(session: Session, dtype: str, op: str, one: Array, other: Array) -> Array:
    """Return the reduction of two blocks as member 0 of a group of two receives it."""
    blocks = tuple(whole(Buffer(rank, dtype, one.size, "x"), (one.size,)) for rank in range(2))
    result = direct(collective("all_reduce", blocks, {"op": op}, ((0, 1),)), (0, 1))[0]
    inputs = {("x", rank): block.view(np.uint8) for rank, block in enumerate((one, other))}
    launch = session.launch(schedule((result,), session.platform.alignment), inputs)
    found = launch.read(result.node)
    launch.close()
    return found.view(numpy_type(result.node.dtype))


def pairs(dtype: str) -> tuple[Array, Array]:
    """Return every pair of bit patterns of an 8-bit type, or 4096 random ones of a wider type."""
    kind = numpy_type(dtype)
    if kind.itemsize == 1:
        patterns = np.arange({"bool": 2, "int4": 16, "uint4": 16}.get(dtype, 256), dtype=np.uint8).view(kind)
        return np.repeat(patterns, patterns.size), np.tile(patterns, patterns.size)
    random = np.random.default_rng(0).bytes(2 * 4096 * kind.itemsize)
    one, other = np.frombuffer(random, kind).reshape(2, 4096)
    return one, other


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("op", REDUCTIONS)
def test_a_format_computes_the_bits_of_its_numpy_type(dtype: str, op: str, session: Session) -> None:
    one, other = pairs(dtype)
    if "complex" in dtype and op == "product":
        # NumPy's own product is fused on some processors, so only exact products have one answer.
        one, other = (np.resize(np.array([1 + 2j, -3 + 1j, 0.5j, 4]), 16).astype(dtype) for _ in range(2))
        other = other[::-1].copy()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        left, right = (
            (one.astype(np.int32), other.astype(np.int32))
            if dtype == "bool" and op in ("sum", "product")
            else (one, other)
        )
        # ml_dtypes widens max and min of its 4-bit integers.
        wanted = REDUCTIONS[op](left, right).astype(left.dtype)
    found = reduced(session, dtype, op, one, other)
    assert found.dtype == wanted.dtype
    differ = (found.view(np.uint8) != wanted.view(np.uint8)).reshape(wanted.size, -1).any(axis=1)
    # Which NaN a sum or product gives is not part of its meaning; which one max and min choose is.
    if op in ("sum", "product") and np.dtype(wanted.dtype).kind in "fcV":
        differ &= ~(np.isnan(found) & np.isnan(wanted))
    assert not differ.any(), (one[differ][:4], other[differ][:4], found[differ][:4], wanted[differ][:4])
