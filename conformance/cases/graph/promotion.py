"""The dtype of an operation on operands of several dtypes: the least that all can be converted to.

Each dtype has the next ones up. This is the lattice of JAX's page on type promotion, in which no float is converted to
an integer and no conversion depends on values. PyTorch and tinygrad agree with what is here; left out is what they do
not agree on: int64 with uint64, float8 and int4 with anything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

_FLOATS: Final = ("bfloat16", "float16")

_UP: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("uint8", "int8"),
    "uint8": ("uint16", "int16"),
    "uint16": ("uint32", "int32"),
    "uint32": ("uint64", "int64"),
    "uint64": _FLOATS,
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": _FLOATS,
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "complex64": ("complex128",),
    "complex128": (),
}


@cache
def _above(dtype: str) -> frozenset[str]:
    return frozenset({dtype}).union(*(_above(each) for each in _UP.get(dtype, ())))


def promoted(dtypes: Iterable[str]) -> str | None:
    """Return the least dtype that all of several can be converted to, or ``None`` where no one least is agreed on."""
    given = frozenset(dtypes)
    if len(given) == 1:
        return next(iter(given))
    if "uint64" in given and any(each.startswith("int") for each in given):
        return None
    common = frozenset.intersection(*(_above(each) for each in given))
    least = [each for each in common if common <= _above(each)]
    return least[0] if least else None
