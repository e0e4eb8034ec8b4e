"""The words of every feature, so that what a backend claims can be told from what nobody would ever ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from conformance.cases.program.computing import ALL_WORDS
from conformance.cases.program.computing_words import FLOW as COMPUTING_FLOW
from conformance.cases.program.effect_words import CAPABILITIES, FLOW
from conformance.cases.program.rank_faults import WORDS as FAULTS
from conformance.cases.tensor.dtypes import NUMPY, Kind
from conformance.cases.tensor.layout import LAYOUTS

COUNTED: Final = ("world", "ndim")
"""Features whose words are whole numbers in digits."""

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "dtype": tuple(NUMPY),
    "layout": LAYOUTS,
    "axes": ("none", "one", "several", "invalid"),
    "operands": ("none", "one", "several"),
    "ranks": ("alike", "rows", "apart", "different"),
    "size": ("empty", "one", "many", "long"),
    "values": ("nan", "negative_zero", "plain"),
    "groups": ("none", "even", "uneven", "strided", "unsorted", "singletons", "invalid"),
    "meeting": ("world", "reordered", "groups", "invalid"),
    "effects": CAPABILITIES,
    "flow": (*FLOW, *COMPUTING_FLOW),
    "faults": FAULTS,
    "computes": ALL_WORDS,
    "computed": tuple(NUMPY),
    "tokens": ("received", "unreceived"),
    "calls": ("legal", "illegal"),
}
"""The features that cases have, but for those counted, and their words; attributes have features of their own."""

OF_TRUTH: Final = ("true", "false")
OF_NUMBER: Final = ("negative", "nonnegative")
OF_TUPLE: Final = ("given", "empty", "negative", "repeated")
"""The words of attributes by their type."""

PARTIAL: Final = {"root": "partial", "pairs": "partial"}
"""The word of attributes that hold for some positions or groups alone."""

REDUCTIONS: Final = ("sum", "mean", "premul_sum", "product", "max", "min", "and", "or", "xor")
"""The names of reductions, which are words of claims."""

UNKNOWN: Final = "unknown"
"""The word of a reduction that has another name: to claim it is to claim that such a program is refused."""

UNKNOWN_REDUCTION: Final = "median"
"""What programs name that ask for a reduction which does not exist."""


def reduction_word(name: str) -> str:
    """Return the word of a reduction by the name that a program gives."""
    return name if name in REDUCTIONS else UNKNOWN


def reduction_words() -> tuple[str, ...]:
    """Return the words of the feature ``reduction``: each reduction, and an unknown one, of each kind of dtype."""
    return tuple(f"{op} of {kind}" for op in (*REDUCTIONS, UNKNOWN) for kind in get_args(Kind))
