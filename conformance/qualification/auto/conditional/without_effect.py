"""Under which words an effect can change nothing, so that no case can tell the mutant from the unchanged code."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Final

from conformance.cases.tensor.dtypes import DRAWN, DTYPES, Dtype
from conformance.generate.calls.mistakes import accepted
from conformance.qualification.auto.conditional.collective_words import Words
from conformance.qualification.auto.conditional.faulty_collectives import WAYS
from conformance.qualification.auto.conditional.wrong_results import NARROWER
from conformance.reference.situations import CLASS_OF, FEATURES, OF_CASE

NO_BLOCK: Final = ("operation=send", "operation=barrier")
QUERIES: Final = tuple(f"operation={op}" for op, word in CLASS_OF.items() if word == "query")
INTEGERS: Final = (*QUERIES, "operation=arg_reduce")
"""Operations whose results are integers, whatever they read."""

VALUELESS: Final = ("another dtype", "an axis too many", "an axis of one dropped", "no block on one rank")
"""Effects that need no element."""

PAST: Final = ("the target's last slice not written", "written past the target")

LIKE: Final = ("the operand instead of the result", "the result shares the operand's storage")
"""Effects that need a result of the operand's shape and dtype."""

SECOND: Final = (
    "neighbouring element stored twice", "off by one slice", "off by one inside a row", "slices in the other order",
    "axes exchanged", "an axis of one dropped",
)  # fmt: skip
"""Effects that need a second element, or an axis."""


def _dtypes(which: Callable[[Dtype], bool]) -> tuple[str, ...]:
    return tuple(f"dtype={name}" for name in DRAWN if which(DTYPES[name]))


def _some(feature: str) -> tuple[str, ...]:
    return tuple(f"{feature}={word}" for word in (FEATURES | OF_CASE)[feature] if word != "none")


_FLOATS: Final = tuple(name for name in DRAWN if DTYPES[name].kind == "float")

_OF_BITS: Final = tuple(
    f"reduction={op}" for op in FEATURES["reduction"] if not any(op in accepted(name) for name in _FLOATS)
)
"""The reductions that no float has."""

_UNSIGNED_BITS: Final = _dtypes(lambda row: row.kind == "bool" or (row.kind == "integer" and row.bits < 8))

_WHOLE: Final = _dtypes(lambda row: row.kind in ("bool", "integer"))

_NEVER: Final = (
    (("off by one slice", "slices in the other order"), ("rank=0",), "no axis has slices"),
    (("off by one inside a row", "axes exchanged"), ("rank=0", "rank=1"), "there is no second axis"),
    (("an axis of one dropped",), ("rank=0",), "there is no axis"),
    (("axes exchanged",), ("extent=one",), "one axis of the result at most has a second element"),
    (("sign flipped",), _UNSIGNED_BITS, "no bit is a sign"),
    (("NaN lost", "negative zero lost"), _dtypes(lambda row: row.kind != "float"), "only floats are looked at"),
    (("NaN lost", "negative zero lost"), (*INTEGERS, *_OF_BITS), "its results are no floats"),
    (SECOND, QUERIES, "its results are single numbers"),
    (LIKE, QUERIES, "it reads no blocks"),
    (("the operand instead of the result",), ("axes=none", "meetings=none"), "who meets nobody has its operand"),
    (("the operand read when it is waited for",), ("start=waited",), "nothing is done before it is waited for"),
    (LIKE, _some("local"), "the result has fewer axes than the operand"),
    (("rounded through a narrower dtype", "extremes cut"), ("factor=zero",), "all that is not NaN is zero"),
    (("the result shares the operand's storage",), _some("trouble"), "nothing writes where ranks go their own ways"),
    (("extremes cut",), _dtypes(lambda row: row.kind in ("bool", "complex")), "nothing is extreme"),
    (("rounded through a narrower dtype",), _dtypes(lambda row: row.name not in NARROWER), "none is narrower"),
    (
        ("the next rank's block", "two ranks' blocks exchanged", "two members in the other order",
         "a member's block read twice"),
        ("world=1",),
        "there is one rank",
    ),
)  # fmt: skip
"""Effects, words of which one is enough, and why the effect changes nothing with it."""


_WRONG: Final = tuple(effect for effect, way in WAYS.items() if way != "refusal")

_OF_RESULTS: Final = tuple(effect for effect in _WRONG if effect != "the operand overwritten")

_OF_PARTS: Final = (
    *_some("reduction"), *_some("root"),
    *(f"operation={op}" for op in ("all_gather", "gather", "reduce_scatter", "scatter")),
)  # fmt: skip
"""Words that, beside one of ``tiled``, leave operations alone whose results have other shapes than their operands."""

_SEVERAL: Final = (*(f"members={word}" for word in FEATURES["members"] if word != "1"), "root=middle", "root=last")

_TOGETHER: Final = (
    (_WRONG, (("trouble=dies",), ("world=1",)), "nobody is left"),
    (_WRONG, (("meetings=none",), _some("axes")), "it has no operand"),
    (_OF_RESULTS, (("place=fresh",), ("start=never",)), "nobody waits for its result"),
    (LIKE, (("reduction=mean",), _WHOLE), "a mean of integers is a float"),
    (LIKE, (_OF_PARTS, ("tiled=no",)), "the result has another number of axes"),
    (LIKE, (_OF_PARTS, ("tiled=yes",), _SEVERAL), "the result has other extents"),
    (PAST, (("rank=0",), ("place=in_place",)), "such a target is one element of a buffer of one"),
)
"""The same, with words of each group."""


def without_effect(effect: str, words: Words) -> str | None:
    """Return why an effect can change nothing in a collective that meets all of ``words``, if it can not."""
    way = WAYS[effect]
    if way == "refusal":
        return "where a rank dies the others may raise" if "trouble=dies" in words else None
    if words.intersection(NO_BLOCK):
        return "its results are no blocks"
    if way == "operand" and words.intersection(QUERIES):
        return "it reads no blocks"
    if "extent=zero" in words and effect not in VALUELESS and not effect.startswith("the operand read"):
        return "there is no element"
    together = (
        why
        for effects, groups, why in _TOGETHER
        if effect in effects and all(words.intersection(any_of) for any_of in groups)
    )
    alone = (why for effects, any_of, why in _NEVER if effect in effects and words.intersection(any_of))
    return next(chain(alone, together), None)
