"""Words that should meet because mistakes hide where they do: they are dealt together, every conjunction in turn.

Each feature alone is dealt anyhow (``goals``). Here are the conjunctions that an implementation has code of its own
for: a dtype with a reduction, and with values that it treats in its own way; and what is wrong with a call, for blocks
of every size, since some checks are passed over where there is nothing to do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Final

from conformance.cases.tensor.dtypes import DRAWN, kind
from conformance.reference.operations import TABLE
from conformance.reference.reductions import ORDER
from conformance.reference.situations import CLASS_OF
from conformance.specs.domains.reductions import accepted

FLOATS: Final = tuple(dtype for dtype in DRAWN if kind(dtype) in ("float", "complex"))

VALUES: Final = {
    "bool": ("plain",),
    "integer": ("extreme", "plain", "extreme"),
    **dict.fromkeys(
        ("float", "complex"),
        ("nan", "infinite", "subnormal", "extreme", "negative_zero", "plain", "nan", "plain"),
    ),
}
"""Values of each family of dtypes; the blocks of the most dangerous have the others too, so that they come twice."""

_UNEVEN: Final = {"groups": "uneven", "world": "8", "meetings": "more", "local": "none"}

SIZES: Final[tuple[Mapping[str, str], ...]] = (
    {**_UNEVEN, "members": "3", "extent": "wide"},
    {"members": "2", "extent": "remainder", "local": "none"},
    {"members": "odd", "extent": "wide"},
    {**_UNEVEN, "members": "4", "extent": "undivided"},
    {"members": "3", "extent": "wide", "local": "none"},
    {"members": "even", "extent": "undivided"},
    {**_UNEVEN, "members": "odd", "extent": "remainder"},
    {"members": "4", "extent": "small", "local": "none"},
)
"""Numbers of members that a dtype and a reduction have, in turn, in blocks of enough elements for every column.

Groups of three sizes show several at once.
"""

_LOCAL: Final = {"groups": "uneven", "rank": "more", "extent": "small", "chained": "no"}
_NOTHING: Final = {"extent": "zero", "operands": "several", "local": "one", "chained": "no"}

LOCAL: Final[tuple[Mapping[str, str], ...]] = (
    *SIZES[:3],
    _NOTHING,
    *SIZES[3:5],
    {**_LOCAL, "local": "negative"},
    *SIZES[5:7],
    _NOTHING,
    *SIZES[7:],
    {**_LOCAL, "local": "several"},
)
"""The same where axes of blocks may be reduced too. What a reduction of nothing comes to is for each dtype to say."""

WRONG: Final[Mapping[str, tuple[str, ...]]] = {
    "axis": ("axis",),
    "split_axis": ("split_axis",),
    "concat_axis": ("concat_axis",),
    "root": ("root beyond", "root negative"),
    "pairs": ("pairs source", "pairs destination", "pairs beyond", "pairs negative"),
    "op": ("reduction",),
    "local_axes": ("local",),
}
"""What may be wrong about an attribute."""

REMAINDERS: Final[tuple[Mapping[str, str], ...]] = tuple(
    {"wrong": f"remainder {how}", "tiled": tiled, "extent": extent, "members": members}
    for tiled, ways in (("yes", ("more", "less")), ("no", ("more", "less", "twice")))
    for how in ways
    for extent, members in (("zero", "odd"), ("wide", "even"))
)
"""How an axis does not split into pieces. A group of one splits every axis that is tiled."""

BEYOND: Final = ("past", "before", "wrapped")
"""How an axis is none: one past the last, one before the first, or as much as makes it another one in circles."""

_OPERATION: Final = re.compile("'(" + "|".join(TABLE) + ")'")


@cache
def operation_of(name: str) -> str:
    """Return the operation of the domain ``name``, or no word where it does not tell."""
    found = _OPERATION.search(name)
    if found:
        return found[1]
    numeric = re.search(r"numerics\.(\w+)s\(", name)
    return (
        numeric[1] if numeric else "recv" if "received" in name else "ragged_all_to_all" if "exchanged" in name else ""
    )


@cache
def dangerous(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the conjunctions for the draws of a domain."""
    op = operation_of(name)
    if not op or not TABLE[op].operands:
        return ()
    if "op" not in TABLE[op].attributes:
        return tuple(
            {"dtype": dtype, "values": values} for dtype in DRAWN for values in VALUES[kind(dtype)]
        )  # fmt: skip
    dtypes = FLOATS if "numerics" in name else DRAWN
    pairs = [(dtype, reduction) for dtype in dtypes for reduction in accepted(dtype)]
    pairs = [(dtype, reduction) for dtype, reduction in pairs if op != "arg_reduce" or reduction in ORDER]
    if "numerics" in name:
        # Infinities and zeros in complex products have clauses of their own, and each draw has few families.
        pairs += [(dtype, "product") for dtype in FLOATS if kind(dtype) == "complex"] * 3
    # Of each factor there are as few as of a fifth of a reduction.
    pairs += [pair for pair in pairs if pair[1] == "premul_sum"] * 2
    # Of a sum of bools a count and a disjunction are right, element by element, so that it takes more sizes to tell.
    pairs += [pair for pair in pairs if pair == ("bool", "sum")] * 3
    return tuple({"dtype": dtype, "reduction": reduction} for dtype, reduction in pairs)


@cache
def beside(name: str) -> tuple[Mapping[str, str], ...]:
    """Return the words that a dtype and a reduction have beside them in draws of a domain, in turn."""
    op = operation_of(name)
    return LOCAL if "local_axes" in TABLE[op].attributes and "with_chains" in name else SIZES


@cache
def wrongs(name: str) -> tuple[Mapping[str, str], ...]:
    """Return what may be wrong about the draws of a domain of plain calls, with the extent of the block."""
    op = operation_of(name)
    if "with_chains" not in name or not op or not TABLE[op].operands:
        return ()
    kinds = ["groups invalid", *(["groups uneven"] if TABLE[op].groups == "equal" else [])]
    kinds += ["ranks dtype", "ranks shape", *(word for name in TABLE[op].attributes for word in WRONG.get(name, ()))]
    every = [{"wrong": wrong, "extent": extent} for wrong, extent in product(kinds, ("zero", "one", "wide"))]
    every += [{"wrong": "axes unknown"}, {"wrong": "axes twice"}]
    past = [{**words, "beyond": end} for words in every if words["wrong"].endswith("axis") for end in BEYOND]
    rest = [words for words in every if not words["wrong"].endswith("axis")]
    if "tiled" in TABLE[op].attributes and CLASS_OF[op] != "gather":
        rest += [dict(words) for words in REMAINDERS]
    return tuple({**words, "chained": "no"} for words in (*rest, *past))
