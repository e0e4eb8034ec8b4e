"""Under which conditions mutants are wrong: one to three words about a collective, none of a dimension twice."""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import Final

from conformance.cases.tensor.dtypes import NUMPY
from conformance.qualification.auto.facts import KIND_OF, KINDS, kind_of_dtype
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.reference.reductions import ARITHMETIC, BITWISE, ORDER
from conformance.reference.spmd import ATTRIBUTES

FINE: Final[dict[str, tuple[str, ...]]] = {
    "op": tuple(OPERATIONS),
    "dtype": tuple(NUMPY),
    "world": tuple(map(str, range(1, 9))),
}
"""Dimensions with many words, for conditions of one or two; the others have the coarse ones below."""

COARSE: Final[dict[str, tuple[str, ...]]] = {
    "kind of op": tuple(KINDS),
    "kind of dtype": tuple(sorted({kind_of_dtype(dtype) for dtype in NUMPY})),
    "group": ("1", "2", "3", "4"),
    "reduction": (*ARITHMETIC, *ORDER, *BITWISE),
    "size": ("empty", "one", "few", "some", "many", "long"),
    "ndim": ("0", "1", "2", "3"),
    "groups": ("none", "even", "uneven", "unsorted", "strided", "singletons"),
    "axes": ("none", "one", "several", "reordered"),
    "mesh": ("1", "2", "3"),
    "layout": ("contiguous", "strided", "transposed", "flipped", "broadcast", "offset"),
    "form": ("plain", "into", "in place", "started", "started into", "started in place"),
    "position": ("0", "1", "2"),
    "steps": ("1", "2", "3"),
    "follows": ("nothing", "buffer", "view", "assign", "copy", "free", "done", *KINDS),
    "values": ("nan", "infinite", "negative zero", "subnormal", "extreme", "alike"),
    "operands": ("1", "2"),
    "trouble": ("apart", "late", "dies"),
    "attribute": tuple(
        f"{name}:{word}"
        for name, kinds in sorted(
            {name: hint for hints in ATTRIBUTES.values() for name, hint in hints.items() if name != "op"}.items()
        )
        for word in (
            ("true", "false") if kinds is bool else ("negative", "zero", "positive") if kinds is int
            else ("given", "empty") if "tuple" in str(kinds) else ()
        )
    ),
}  # fmt: skip

_SAME: Final = {"op": "kind of op", "dtype": "kind of dtype", "world": "group"}
"""Dimensions of which one says more about the same than another."""


def condition(random: Random, fixed: Collection[str] = ()) -> frozenset[str]:
    """Draw one to three words, the most particular ones for conditions of few; ``fixed`` are there anyway."""
    count = random.choice((1, 2, 3))
    fine = random.random() < (1.0, 0.6, 0.3)[count - 1]
    taken = {word.partition(":")[0] for word in fixed}
    found: list[str] = []
    dimensions = [name for name in (*COARSE, *(FINE if fine else ())) if name not in taken]
    while len(found) < count:
        name = random.choice(dimensions)
        word = random.choice({**COARSE, **FINE}[name])
        found.append(word if name == "attribute" else f"{name}:{word}")
        out = {name, _SAME.get(name, name), *(one for one, other in _SAME.items() if other == name)}
        if name in FINE:
            out |= set(FINE)
        dimensions = [each for each in dimensions if each not in out]
    return frozenset(found)


def impossible(words: Collection[str]) -> str | None:
    """Return why no legal case meets all of ``words``, ``None`` where nothing keeps one from it."""
    of: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition(":")
        if of.setdefault(name, value) != value and name not in ("values", "layout", "trouble", "groups", "axes"):
            return f"a collective has one {name}, not both {of[name]} and {value}"
    ops = [op for op in OPERATIONS if of.get("op", op) == op and of.get("kind of op", KIND_OF[op]) == KIND_OF[op]]
    ops = [op for op in ops if all(_has(op, word) for word in words)]
    if not ops:
        return "no operation is, has or takes all of this"
    dtypes = [dtype for dtype in NUMPY if of.get("dtype", dtype) == dtype]
    dtypes = [dtype for dtype in dtypes if of.get("kind of dtype", kind_of_dtype(dtype)) == kind_of_dtype(dtype)]
    dtypes = [dtype for dtype in dtypes if all(_holds(dtype, word) for word in words)]
    if not dtypes:
        return "no dtype has these values or this reduction"
    return next((reason for first, second, reason in _APART if _meets(first, words) and _meets(second, words)), None)


def _meets(wanted: str, words: Collection[str]) -> bool:
    return any(word == wanted or (wanted.endswith("*") and word.startswith(wanted[:-1])) for word in words)


BLOCKLESS: Final = frozenset(op for op in OPERATIONS if TABLE[op].operands == 0)
EQUAL: Final = frozenset({"all_gather", "all_to_all", "reduce_scatter", "scatter", "gather"})
"""Operations whose groups must have one size."""


def _has(op: str, word: str) -> bool:  # noqa: PLR0911 - one a dimension
    """Return whether a call of ``op`` may meet a word."""
    name, _, value = word.partition(":")
    if name == "reduction":
        return "op" in ATTRIBUTES[op] and (op != "arg_reduce" or value in ORDER)
    if name != "op" and any(name in hints for hints in ATTRIBUTES.values()):
        return name in ATTRIBUTES[op]
    if op in BLOCKLESS and name in ("dtype", "kind of dtype", "size", "ndim", "values", "layout"):
        return False
    if name == "operands":
        return TABLE[op].operands == 1 or (value == "2") == (TABLE[op].operands > 1)
    if name == "form" and op in ("send", "recv", "barrier"):
        return value == "plain" or (op == "recv" and value in ("into", "in place"))
    if name == "form" and op in BLOCKLESS:
        return value in ("plain", "started")
    if name == "groups" and value == "uneven":
        return op not in EQUAL
    return not (name == "size" and value == "empty" and op == "recv")


def _holds(dtype: str, word: str) -> bool:
    """Return whether blocks of ``dtype`` may meet a word."""
    name, _, value = word.partition(":")
    sort = kind_of_dtype(dtype)
    if name == "values" and value != "alike":
        infinite = dtype != "float8_e4m3fn"
        return (
            ("float" in sort and (value != "infinite" or infinite))
            or sort == "complex"
            or (value == "extreme" and sort in ("signed", "unsigned"))
        )
    if name == "reduction":
        if value in BITWISE:
            return sort in ("bool", "signed", "unsigned")
        if value in ORDER:
            return sort != "complex"
        return value != "premul_sum" or "float" in sort or sort == "complex"
    return True


_APART: Final = (
    ("size:empty", "values:*", "no element has a value"),
    ("size:empty", "ndim:0", "a block without axes has one element"),
    *((f"size:{size}", "ndim:0", "a block without axes has one element") for size in ("few", "some", "many", "long")),
    ("ndim:0", "layout:strided", "a block without axes is placed as it is"),
    ("ndim:0", "layout:transposed", "a block without axes is placed as it is"),
    ("ndim:0", "layout:flipped", "a block without axes is placed as it is"),
    ("ndim:0", "layout:broadcast", "a block without axes is placed as it is"),
    ("ndim:0", "tiled:true", "a block without axes has none to concatenate or to split"),
    ("size:long", "values:*", "values of long blocks are no words"),
    ("world:1", "group:2", "a group is within the world"),
    ("world:1", "group:3", "a group is within the world"),
    ("world:1", "group:4", "a group is within the world"),
    ("world:2", "group:3", "a group is within the world"),
    ("world:2", "group:4", "a group is within the world"),
    ("world:3", "group:4", "a group is within the world"),
    ("world:1", "groups:uneven", "one rank is one group"),
    ("world:2", "groups:uneven", "two ranks part into equal groups"),
    ("world:1", "groups:unsorted", "one rank has one order"),
    ("world:1", "groups:strided", "one rank has no gap"),
    ("world:2", "groups:strided", "two ranks have no gap"),
    ("world:3", "groups:strided", "equal groups of three ranks have no gap"),
    ("axes:none", "groups:even", "groups are of positions along axes"),
    ("axes:none", "groups:uneven", "groups are of positions along axes"),
    ("axes:none", "groups:unsorted", "groups are of positions along axes"),
    ("axes:none", "groups:strided", "groups are of positions along axes"),
    ("axes:none", "groups:singletons", "groups are of positions along axes"),
    ("axes:none", "group:2", "over no axis a rank is alone"),
    ("axes:none", "group:3", "over no axis a rank is alone"),
    ("axes:none", "group:4", "over no axis a rank is alone"),
    ("axes:several", "mesh:1", "there is one axis"),
    ("axes:reordered", "mesh:1", "there is one axis"),
    ("group:1", "groups:even", "groups of one are singletons, which need no other word"),
    ("group:1", "groups:uneven", "the larger group has two"),
    ("group:1", "groups:unsorted", "one member has one order"),
    ("group:1", "groups:strided", "one member has no gap"),
    ("groups:singletons", "group:2", "singletons have one member"),
    ("groups:singletons", "group:3", "singletons have one member"),
    ("groups:singletons", "group:4", "singletons have one member"),
    ("groups:singletons", "groups:uneven", "singletons have one size"),
    ("position:1", "steps:1", "the second of one"),
    ("position:2", "steps:1", "the third of one"),
    ("position:2", "steps:2", "the third of two"),
    ("position:0", "follows:done", "something was started before"),
    *((f"position:{at}", "follows:nothing", "something was before") for at in "12"),
    *(("position:0", f"follows:{kind}", "a collective was before") for kind in KINDS),
    *(("steps:1", f"follows:{kind}", "a collective was before") for kind in KINDS),
    ("steps:1", "follows:done", "something was started before"),
    ("follows:nothing", "form:into", "a target is made before"),
    ("follows:nothing", "form:in place", "a target is made before"),
    ("follows:nothing", "form:started into", "a target is made before"),
    ("follows:nothing", "form:started in place", "a target is made before"),
    *(
        (f"trouble:{word}", f"form:{form}", "ranks that go their own ways write nothing")
        for word in ("apart", "late", "dies")
        for form in ("into", "in place", "started", "started into", "started in place")
    ),
    *(
        (f"trouble:{word}", f"follows:{effect}", "ranks that go their own ways make no storage")
        for word in ("apart", "late", "dies")
        for effect in ("buffer", "view", "assign", "copy", "free", "done")
    ),
    ("trouble:apart", "world:1", "one rank goes no way of its own"),
)
"""Pairs of words, why no collective of a legal case meets both; ``*`` stands for any word."""
