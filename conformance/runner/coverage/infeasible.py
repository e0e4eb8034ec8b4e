"""Why two words of the table of case features cannot meet in one collective.

A *definition* keeps apart words that say contrary things of one collective. What is *refused* has no legal program: the
specification refuses each with both words. A call without a *form* has a meaning by the rules of programs, but no
source has such a call, so that none is drawn. Nothing else is infeasible.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final, Literal

import numpy as np

from conformance.cases.tensor.dtypes import DRAWN, Array, kind
from conformance.generate.calls.mistakes import accepted
from conformance.reference.operations import OPERATIONS as MEANT
from conformance.reference.operations import TABLE
from conformance.reference.rejection import Rejected
from conformance.reference.situations import FEATURES

Reason = Literal["definition", "refused", "form"]

OF_ATTRIBUTES: Final = {
    "reduction": ("op",),
    "factor": ("factor",),
    "local": ("local_axes",),
    "root": ("root",),
    "axis": ("axis", "split_axis"),
    "tiled": ("tiled",),
}
"""The features that attributes have, and which: the first of several that an operation has."""

OF_BLOCKS: Final = ("dtype", "extent", "rank", "layout", "values")
"""The features that say something of the first operand, and ``none`` where there is no operand."""

TABLES: Final = ("ragged_all_to_all", "all_to_all_uneven", "recv")
"""Operations that say what each member sends or expects, so that their groups have one size; the first one cuts rows,
over no axis too."""

RULES: Final = """
definition | factor=some | reduction=none,sum,mean,product,max,min,and,or,xor
definition | reduction=premul_sum | factor=none
definition | operands=none | reduction,factor,root,axis,local,tiled=some
definition | reduction=none | local=some
definition | extent=zero | values=some; rank=0; place=in_place,overlap
definition | place=in_place,overlap | values=none; operands=none
definition | extent=one,small,undivided,remainder,wide,many,long | values=none
definition | rank=0 | extent=small,undivided,remainder,wide,many,long; values=none; view=ordered; place=overlap
definition | rank=0 | axis=first,middle,last
definition | rank=1 | axis=middle
definition | rank=2,more | axis=only
definition | view=ordered | axis=only
definition | layout=broadcast | place=in_place,overlap
definition | layout=made | place=in_place,overlap; after=nothing
definition | layout=mixed | world=1
definition | extent=undivided | members=1; axes=none; groups=singletons; world=1; meetings=none
definition | place=into,in_place,overlap | after=nothing; operands=none
definition | view=some | after=nothing; operands=none
definition | groups=some | axes=none; meetings=none
definition | groups=even,strided,unsorted,uneven | world=1
definition | groups=strided | world=2,3; meetings=one
definition | groups=uneven | world=2; meetings=one
definition | groups=even,strided,unsorted,uneven | members=1
definition | groups=singletons | members=2,3,4,odd,even; root=middle,last
definition | axes=none | members=2,3,4,odd,even; axis=some; tiled=some; root=some
definition | meetings=none | members=2,3,4,odd,even; reduction,factor,axis,local,tiled,root=some
definition | world=1 | members=2,3,4,odd,even; root=middle,last; meetings=two,more
definition | world=2 | members=3,4,odd,even; root=middle; meetings=more
definition | world=3 | members=4,odd,even
definition | world=4 | members=odd,even
definition | members=1 | root=middle,last
definition | members=2 | root=middle
definition | local=some | place=in_place,overlap
definition | turn=first | after=reduce,gather,exchange,spread,query,start,done
definition | after=nothing | turn=second,later
definition | operation=recv | layout=none,contiguous,strided,transposed,flipped,broadcast,offset,mixed; turn=first
definition | operation=recv | after=nothing; values=negative_zero,subnormal,infinite,nan; place=in_place,overlap
definition | operation=send | place=into,in_place,overlap
definition | dtype=bool | values=negative_zero,extreme,subnormal,infinite,nan
refused | rank=0 | tiled=yes; local=some
refused | rank=1 | local=several
refused | groups=uneven | root=last; axis=some; tiled=some
refused | reduction=and,or,xor | values=negative_zero,subnormal,infinite,nan
form | operation=axis_index,axis_size,reduce_constant | place=into,in_place,overlap
form | operation=axis_index,axis_size | start=waited,later,never
form | operation=send,recv | operands=none,several,same; dtype,extent,rank,layout=none
"""
"""A reason, words of one feature, and those of others that they do not meet; ``some`` is every word but ``none``."""


@cache
def reasons() -> dict[tuple[str, str], Reason]:
    """Return why two words cannot meet, each as ``feature=word``, for pairs in the order of the table."""
    found: dict[tuple[str, str], Reason] = {}
    order = list(FEATURES)
    for reason, left, right in (*_written(), *_of_operations(), *_of_dtypes()):
        one, other = sorted((left, right), key=lambda word: order.index(word.partition("=")[0]))
        found.setdefault((one, other), reason)
    return found


def _written() -> Iterator[tuple[Reason, str, str]]:
    for line in RULES.strip().splitlines():
        reason, left, right = (part.strip() for part in line.split(" | "))
        assert reason in ("definition", "refused", "form")
        for part in right.split(";"):
            for one in _words(left):
                for other in _words(part):
                    yield reason, one, other  # type: ignore[misc]  # one of the three, as was asserted


def _words(part: str) -> Iterator[str]:
    features, _, words = part.strip().partition("=")
    for feature in features.split(","):
        for word in FEATURES[feature] if words == "some" else words.split(","):
            if word in FEATURES[feature] and not (words == "some" and word == "none"):
                yield f"{feature}={word}"


def _some(*features: str) -> list[str]:
    return [f"{feature}={word}" for feature in features for word in FEATURES[feature] if word != "none"]


def _of_operations() -> Iterator[tuple[Reason, str, str]]:
    """Yield what the signatures of operations say, and what the operations refuse."""
    has = {name: [op for op in TABLE if set(TABLE[op].attributes) & set(of)] for name, of in OF_ATTRIBUTES.items()}
    for name, ops in has.items():
        yield from (("definition", f"operation={op}", word) for op in TABLE if op not in ops for word in _some(name))
        for other, others in has.items():
            if other != name and not set(ops) & set(others):
                yield from (("definition", one, two) for one in _some(name) for two in _some(other))
    yield from (("definition", f"axis={word}", "tiled=none") for word in FEATURES["axis"] if word != "none")
    yield from (("definition", "axis=none", word) for word in _some("tiled"))
    for op in TABLE:
        if not TABLE[op].operands:
            words = _some(*OF_BLOCKS, "view", "operands")
            yield from (
                ("definition", f"operation={op}", word) for word in (*words, *_some("place")) if "=fresh" not in word
            )
        if TABLE[op].operands > 1:
            yield from (("definition", f"operation={op}", f"operands={word}") for word in ("none", "one"))
            yield from (
                ("definition", f"operation={op}", f"{name}=none") for name in ("dtype", "extent", "rank", "layout")
            )
        if not TABLE[op].started:
            yield from (("refused", f"operation={op}", f"start={word}") for word in ("waited", "later", "never"))
        yield from (("refused", f"operation={op}", word) for word in _refused(op))
    yield from (("refused", "operation=arg_reduce", f"reduction={word}") for word in FEATURES["reduction"]
                if word not in ("none", "max", "min"))  # fmt: skip


def _refused(op: str) -> Iterator[str]:
    """Yield the groups and blocks that an operation refuses in every call over axes; over none a block may be any."""
    calls: dict[str, tuple[list[Array], tuple[tuple[int, ...], ...]]] = {
        "groups=uneven": ([np.zeros((3, 3))] * 3, ((0,), (1, 2))),
        "extent=undivided": ([np.zeros((3,))] * 2, ((0, 1),)),
    }
    for word, (blocks, groups) in calls.items():
        if (
            TABLE[op].operands == 1
            and op not in TABLES
            and all(_illegal(op, blocks, attrs, groups) for attrs in _attributes(op, blocks))
        ):
            yield word
    if TABLE[op].groups == "equal":
        yield "groups=uneven"
    if op == TABLES[0]:
        yield "rank=0"


def _attributes(op: str, blocks: list[Array]) -> Iterator[dict[str, object]]:
    """Yield attributes that are right for some blocks: every axis, tiled or not."""
    rest: dict[str, object] = {
        "op": "max" if op == "arg_reduce" else "sum",
        "root": 0,
        "pairs": ((0, 0),),
        "exclusive": False,
    }
    rest |= {"sources": (0, 1, 2)[: len(blocks)]}
    rest = {name: value for name, value in rest.items() if name in TABLE[op].attributes}
    if "tiled" not in TABLE[op].attributes:
        yield rest
        return
    for tiled in (True, False):
        for axis in range(blocks[0].ndim + 1):
            axes = {name: axis for name in ("axis", "split_axis", "concat_axis") if name in TABLE[op].attributes}
            yield rest | axes | {"tiled": tiled}


def _illegal(op: str, blocks: list[Array], attrs: dict[str, object], groups: tuple[tuple[int, ...], ...]) -> bool:
    try:
        MEANT[op](list(blocks), **attrs, groups=groups)
    except (Rejected, ValueError):
        return True
    except TypeError:
        # It has an attribute of its own, of which nothing is known here.
        return False
    return False


def _of_dtypes() -> Iterator[tuple[Reason, str, str]]:
    """Yield the reductions that a dtype has not, and the values that it cannot hold."""
    for dtype in DRAWN:
        for word in FEATURES["reduction"]:
            if word != "none" and word not in accepted(dtype):
                yield "refused", f"dtype={dtype}", f"reduction={word}"
        if "premul_sum" not in accepted(dtype):
            yield from (("refused", f"dtype={dtype}", word) for word in _some("factor"))
        if kind(dtype) == "integer":
            for word in ("negative_zero", "subnormal", "infinite", "nan"):
                yield "definition", f"dtype={dtype}", f"values={word}"
    # Without an operand nothing is said of one.
    every = (*OF_BLOCKS[:4], "operands")
    rest = ("values", "reduction", "factor", "view", "axis", "local", "tiled", "root")
    for one in every:
        words = _some(*(name for name in (*every[:4], *rest) if name != one))
        words += [f"place={word}" for word in ("into", "in_place", "overlap")]
        words += [f"operands={word}" for word in ("one", "several", "same") if one != "operands"]
        yield from (("definition", f"{one}=none", word) for word in words)
