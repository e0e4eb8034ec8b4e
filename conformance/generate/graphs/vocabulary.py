"""What graphs are drawn from: dtypes, and the operations that have a meaning for one."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.elementwise import TAKES
from conformance.cases.tensor.dtypes import Kind, kind

DTYPES: Final = (
    *("float32", "int32", "float32", "int32", "float16", "bfloat16", "float64", "uint8", "bool"),
    *("int16", "int64", "uint32", "float32", "float64", "bool", "int8", "uint16", "uint64"),
    *("float16", "float8_e4m3fn", "float8_e5m2", "int32"),
    *("complex64", "complex128", "int4", "uint4"),
)
"""Dtypes of buffers, the common ones more often. ``float16`` and its like count as one class."""

POWERS: Final = "float8_e8m0fnu"
"""The dtype that has powers of two alone."""


def taking(dtype: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of several operations that have a meaning for a dtype.

    A sum of two powers of two may lie in the middle between two others, and no source says to which it is rounded.
    """
    left = (word for word in words if dtype != POWERS or word not in ("add", "sub"))
    return tuple(word for word in left if kind(dtype) in TAKES.get(word, frozenset[Kind]({kind(dtype)})))


def plainest(dtype: str) -> str:
    """Return an operation, and a fold, that means something for any dtype."""
    return taking(dtype, ("max", "add"))[0]
