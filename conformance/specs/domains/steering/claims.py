"""What a backend's claims allow, in the words by which draws are steered, so that a draw may lie within them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final

from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.reference.situations import FEATURES, dtype_word, world_word
from conformance.specs.domains import choices

Claimed = Mapping[str, Sequence[str]]
"""The claims of one operation: features and the words that they are limited to."""

PLAIN: Final[Mapping[str, tuple[str, Mapping[str, tuple[str, ...]]]]] = {
    "operands": ("operands", {"none": ("none",), "one": ("one",), "several": ("several", "same")}),
    "axes": ("axes", {"none": ("none",), "one": ("one", "inner"), "several": ("inner", "whole", "permuted")}),
    "size": (
        "extent",
        {
            "empty": ("zero",),
            "one": ("one",),
            "many": ("small", "undivided", "remainder", "wide"),
            "long": ("long", "past"),
        },
    ),
    "values": (
        "values",
        {
            "nan": ("nan",),
            "negative_zero": ("negative_zero",),
            "plain": ("plain", "extreme", "subnormal", "infinite"),
        },
    ),
    "tiled": ("tiled", {"true": ("yes",), "false": ("no",)}),
    "root": ("root", {"nonnegative": ("first", "middle", "last")}),
    "axis": ("axis", {"negative": ("negative",), "nonnegative": ("only", "first", "middle", "last")}),
    "local_axes": ("local", {"given": ("one", "several"), "negative": ("negative",)}),
}
"""For a feature of claims: the feature of the table of case features, and what each word allows there."""


LISTED: Final = (
    *("across", "axes", "casts", "checks", "dtype", "groups", "local_axes", "mapped", "op", "refused", "starts"),
    *("steps", "tiled", "to"),
)
"""Features of claims whose words programs on types choose among: the table has none for most of them."""

PLACES: Final = ("world", "groups", "axes", "meeting")
"""Features that say together how many members meet, and in how many groups, so that these goals may rule theirs out."""


def narrowed(goals: Mapping[str, str], limits: Claimed, seed: str, number: int) -> dict[str, str]:
    """Return goals in which every word that lies outside ``limits`` is another that lies within.

    These are dealt by ``seed``: as ``number`` goes on all of them come before one comes again. Nothing is wrong where
    the claims are about legal programs alone.
    """
    found = dict(goals)
    for feature, words in allowed(limits).items():
        if words and found.get(feature) not in words:
            turn, at = divmod(number, len(words))
            # Not for secrets: the same seed must give the same cases.
            order = Random(f"{seed}, {feature}, {turn}").sample(words, len(words))  # noqa: S311 - an order, not a secret
            found[feature] = order[at]
    if not limits.keys().isdisjoint(PLACES):
        found.pop("members", None)
        found.pop("meetings", None)
    if "illegal" not in limits.get("calls", ("illegal",)):
        found["wrong"] = ""
    return found


def listed(limits: Claimed) -> dict[str, str]:
    """Return goals that list the words which claims leave of each feature that programs on types choose among."""
    return {choices.LIMIT + name: " ".join(limits[name]) for name in LISTED if name in limits}


def allowed(limits: Claimed) -> dict[str, tuple[str, ...]]:
    """Return the words that claims leave of the features of the table, of those features that they limit.

    Effects that are not named are not asked.
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, words in {"effects": (), **limits}.items():
        for feature, left in _left(name, words):
            before = found.get(feature, left)
            found[feature] = tuple(word for word in left if word in before)
    return found


def _left(name: str, words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if name in PLAIN:
        feature, table = PLAIN[name]
        always = ("none",) if name == "local_axes" else ()
        yield feature, (*always, *(word for each in words for word in table.get(each, ())))
    elif name in _RULES:
        yield from _RULES[name](words)


def _dtypes(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "dtype", tuple(dict.fromkeys(dtype_word(each) for each in words if each in NUMPY))


def _reductions(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Read ``sum of float`` and the like: the reduction, and the dtypes of that kind."""
    pairs = [each.partition(" of ")[::2] for each in words]
    kinds = {of for _, of in pairs}
    yield "reduction", tuple(dict.fromkeys(op for op, _ in pairs if op in FEATURES["reduction"]))
    yield from _dtypes([each for each in NUMPY if kind(each) in kinds])


def _ops(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "reduction", tuple(each for each in words if each in FEATURES["reduction"])


def _worlds(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "world", tuple(dict.fromkeys(world_word(int(each)) for each in words))


def _ranks(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "rank", tuple(dict.fromkeys(each if int(each) < 3 else "more" for each in words))


def _meeting(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Read ``world`` and ``reordered`` as axes that are all of the mesh, without groups."""
    if "groups" not in words:
        yield "groups", ("none",)
        yield "axes", ("one", "whole", *(["permuted"] if "reordered" in words else []))


def _effects(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "place", ("fresh", *(each for each in ("into", "in_place", "overlap") if each in words))
    if "start" not in words:
        yield "start", ("no",)
    if "view" not in words:
        yield "view", ("none",)


def _same(feature: str) -> Callable[[Sequence[str]], Iterator[tuple[str, tuple[str, ...]]]]:
    def rule(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield feature, tuple(each for each in words if each in FEATURES[feature])

    return rule


_RULES: Final[Mapping[str, Callable[[Sequence[str]], Iterator[tuple[str, tuple[str, ...]]]]]] = {
    "dtype": _dtypes,
    "op": _ops,
    "reduction": _reductions,
    "world": _worlds,
    "ndim": _ranks,
    "effects": _effects,
    "layout": _same("layout"),
    "groups": _same("groups"),
    "meeting": _meeting,
}
