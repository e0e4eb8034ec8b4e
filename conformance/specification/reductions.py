"""The chapter on reductions: what each computes, of which dtypes, and the dtype of its result."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, logical
from conformance.reference.reductions import REDUCTIONS, check, fold
from conformance.reference.rejection import Rejected

MEANINGS: Final = {
    "sum": "the terms added",
    "mean": "the sum, divided by the number of terms",
    "premul_sum": "the sum of the products of each term and the attribute `factor`, a real number",
    "product": "the terms multiplied",
    "max": "the greatest term",
    "min": "the least term",
    "and": "the bits that are set in every term",
    "or": "the bits that are set in at least one term",
    "xor": "the bits that are set in an odd number of terms",
}

FAMILIES: Final = {"bool": "bool", "integer": "int8", "float": "float32", "complex": "complex64"}
"""A dtype of each family, of which the reference is asked."""


def reduction_lines() -> list[str]:
    """Return the lines of the chapter; where a result has another dtype than its terms, the reference says so."""
    return [
        "## Reductions",
        "",
        "A result has the dtype of its terms where nothing else is said.",
        "",
        "| reduction | value | dtypes of the terms |",
        "| --- | --- | --- |",
        *[f"| `{op}` | {MEANINGS[op]} | {_dtypes(op)} |" for op in REDUCTIONS],
        "",
    ]


def _dtypes(op: str) -> str:
    return ", ".join(said for family, name in FAMILIES.items() if (said := _of(op, family, NUMPY[name])))


def _of(op: str, family: str, dtype: np.dtype[np.generic]) -> str:
    """Return the family with the dtype of its result, and nothing where the reduction is refused."""
    try:
        check(logical(dtype), op)
    except Rejected:
        return ""
    made = logical(fold([np.ones((), dtype)], op).dtype)
    return family if made == logical(dtype) else f"{family} (gives {made})"
