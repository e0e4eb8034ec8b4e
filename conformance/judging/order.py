"""Whether the order in which a reduction takes its members can show in its bits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from conformance.cases.case import Case
from conformance.cases.dtypes import NUMPY, Array, kind, logical
from conformance.cases.program import Step, rank_groups
from conformance.judging.contributions import FOLDING
from conformance.reference.reductions import ARITHMETIC, ORDER
from conformance.reference.spmd import check_step


def folds(case: Case) -> Iterator[Step]:
    """Yield the steps that compute with, or compare, inexact numbers of the case's own inputs across groups.

    Reductions along local axes are left out, for what lies in their columns is not of one place; and those whose
    result somebody may still write over.
    """
    for step in case.program.steps:
        if (
            step.op in FOLDING
            and (step.attrs.get("op") in ARITHMETIC or step.attrs.get("op") in ORDER)
            and not step.attrs.get("local_axes")
            and step.axes
            and not (step.into or step.start)
            and set(step.inputs) <= case.inputs.keys()
            and all(kind(case.inputs[name].blocks[0].dtype) in ("float", "complex") for name in step.inputs)
        ):
            yield step


def order_shows(case: Case) -> bool:
    """Return whether some partial result of some order may be inexact, in a legal program.

    Where ranks go their own ways any blocks may meet, so that every sum of floats may be inexact, and zeros may meet.
    """
    blocks = case.blocks()
    if case.troubled:
        return any(_may_show(step, [block for name in step.inputs for block in blocks[name]]) for step in folds(case))
    for step in folds(case):
        attrs = check_step(step)
        for group in rank_groups(case.program.mesh, step.axes, step.groups):
            for name in step.inputs:
                column = np.stack([blocks[name][rank].reshape(-1) for rank in group])
                if column.size and inexact(column, str(attrs["op"]), attrs["factor"]).any():
                    return True
    return False


def _may_show(step: Step, blocks: list[Array]) -> bool:
    """Return whether the order of a step may show, whichever blocks meet in it."""
    if step.attrs.get("op") in ARITHMETIC:
        return True
    zeros = [np.signbit(block[block == 0]) for block in blocks if block.dtype.kind != "c"]
    return any(signs.any() for signs in zeros) and not all(signs.all() for signs in zeros)


def inexact(columns: Array, op: str, factor: Any = 1.0) -> Array:
    """Return, for columns of shape (members, elements), in which of them some partial result may be inexact.

    This is asked of every reduction, so it is quick and errs on one side; ``judging.column`` decides it. The parts of
    the members of a column are multiples of a power of two each. All partial sums are multiples of the least of these,
    all partial products of their product; what no partial result exceeds is the sum, or the product, of the magnitudes.
    Where both fit the significant bits of the dtype, and the range, every order gives one result. Of max and min the
    order shows where both zeros meet.
    """
    dtype = columns.dtype
    if op in ORDER:
        signs = np.signbit(columns) if kind(logical(dtype)) == "float" else np.zeros(columns.shape, bool)
        zeros = columns == 0
        return np.asarray((zeros & signs).any(axis=0) & (zeros & ~signs).any(axis=0))
    with np.errstate(all="ignore"):
        if op == "premul_sum":
            columns = np.asarray(np.multiply(columns, np.array(factor, dtype)), dtype)
        parts = [np.abs(part.astype(np.float64)) for part in (columns.real, columns.imag)[: 1 + (dtype.kind == "c")]]
        grid = np.minimum.reduce([_unit(part) for part in parts])
        most = np.add.reduce(parts)
        info = ml_dtypes.finfo(parts_of(dtype))
        if op == "product":
            units = np.where(np.isinf(grid), 1.0, most / grid).prod(axis=0)
            spread = np.abs(np.log2(np.where(most > 0, most, 1.0))).sum(axis=0)
            return np.asarray((units > 2.0 ** (info.nmant + 1)) | (spread >= math.log2(float(info.max)) - 1))
        total, least = most.sum(axis=0), grid.min(axis=0)
        return np.asarray((total / least > 2.0 ** (info.nmant + 1)) | (total > float(info.max)))


def parts_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the parts of a number: its own unless it is complex."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else NUMPY[dtype.name]


def _unit(magnitudes: Array) -> Array:
    """Return the greatest power of two that each is a multiple of; infinity for zero and for what is not finite."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(magnitudes), magnitudes, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    unit = np.ldexp((whole & -whole).astype(np.float64), exponent - 53)
    return np.where(whole == 0, np.inf, unit)
