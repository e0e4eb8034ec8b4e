"""The elementwise operations and folds that graphs and kernel bodies name, and what each takes."""

from __future__ import annotations

from typing import Final, Literal, get_args

from conformance.cases.tensor.dtypes import Kind, kind

Unary = Literal["neg", "not", "abs", "recip", "sqrt", "exp2", "log2", "sin", "trunc"]
Binary = Literal["add", "sub", "mul", "div", "mod", "max", "min", "and", "or", "xor", "shl", "shr", "lt", "ne", "eq"]
Ternary = Literal["where"]
Fold = Literal["add", "mul", "max", "min", "and", "or", "xor"]

COMPARISONS: Final = ("lt", "ne", "eq")
ARITY: Final = {
    **dict.fromkeys(get_args(Unary), 1),
    **dict.fromkeys(get_args(Binary), 2),
    **dict.fromkeys(get_args(Ternary), 3),
}
"""How many values an elementwise operation takes."""


_BITS: Final[frozenset[Kind]] = frozenset({"bool", "integer"})
_ORDERED: Final[frozenset[Kind]] = frozenset({"integer", "float"})
_NUMBERS: Final[frozenset[Kind]] = frozenset({"integer", "float", "complex"})
_INTEGERS: Final[frozenset[Kind]] = frozenset({"integer"})
_FLOATS: Final[frozenset[Kind]] = frozenset({"float"})

TAKES: Final[dict[str, frozenset[Kind]]] = {
    **dict.fromkeys(("and", "or", "xor", "not"), _BITS),
    **dict.fromkeys(("shl", "shr"), _INTEGERS),
    **dict.fromkeys(("max", "min", "lt"), _BITS | _ORDERED),
    **dict.fromkeys(("abs", "mod"), _ORDERED),
    **dict.fromkeys(("neg", "sub", "div"), _NUMBERS),
    **dict.fromkeys(("sqrt", "exp2", "log2", "sin", "trunc"), _FLOATS),
    "recip": frozenset({"float", "complex"}),
}
"""The kinds of dtype that an operation takes; one that is not here takes all. ``add`` of bool is or, ``mul`` is and."""


def check_kind(op: str, dtype: str) -> None:
    """Raise ``ValueError`` unless ``op`` has a meaning for ``dtype``."""
    if kind(dtype) not in TAKES.get(op, {kind(dtype)}):
        raise ValueError(f"{op} of {dtype}: it takes {' and '.join(sorted(TAKES[op]))} only")
