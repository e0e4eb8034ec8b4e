"""What a backend's claims allow, as the levels by which draws are steered, so that a draw may lie within them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Final, get_args

from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.generate.choices import Factor, Goals, Limited
from conformance.reference.situations import FEATURES, dtype_word, world_word

Claimed = Mapping[str, Sequence[str]]
"""The claims of one operation: features and the words that they are limited to."""

Left = Iterator[tuple[Factor, tuple[str, ...]]]
"""The levels that a feature of claims leaves of factors."""

PLAIN: Final[Mapping[str, tuple[Factor, Mapping[str, tuple[str, ...]]]]] = {
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
"""For a feature of claims: the factor that it limits, and the levels that each word allows."""

LISTED: Final[tuple[Limited, ...]] = get_args(Limited)
"""Features of claims whose words programs on types, and steps that compute, choose among."""


def narrowed(limits: Claimed, seed: str, number: int) -> Goals:
    """Return goals by which a draw lies within ``limits``: for each factor that they limit one of its levels.

    These are dealt by ``seed``: as ``number`` goes on all of them come before one comes again. Nothing is wrong where
    the claims are about legal programs alone.
    """
    found: dict[Factor, str] = {}
    for factor, levels in allowed(limits).items():
        if levels:
            turn, at = divmod(number, len(levels))
            found[factor] = _order(f"{seed}, {factor}, {turn}", levels)[at]
    listed = {name: tuple(limits[name]) for name in LISTED if name in limits}
    goals = Goals(found, listed, last_first=bool(number % 2))
    return goals if "illegal" in limits.get("calls", ("illegal",)) else goals.legal()


@lru_cache(4096)
def _order(seed: str, levels: tuple[str, ...]) -> Sequence[str]:
    """Return the levels in an order that a seed gives; as many draws in a row ask for it as there are levels."""
    # Not for secrets: the same seed must give the same cases.
    return Random(seed).sample(levels, len(levels))  # noqa: S311 - an order, not a secret


def allowed(limits: Claimed) -> dict[Factor, tuple[str, ...]]:
    """Return the levels that claims leave of the factors that they limit.

    Effects that are not named are not asked.
    """
    found: dict[Factor, tuple[str, ...]] = {}
    for name, words in {"effects": (), **limits}.items():
        for factor, left in _left(name, words):
            before = found.get(factor, left)
            found[factor] = tuple(level for level in left if level in before)
    return found


def _left(name: str, words: Sequence[str]) -> Left:
    if name in PLAIN:
        factor, table = PLAIN[name]
        always = ("none",) if name == "local_axes" else ()
        yield factor, (*always, *(word for each in words for word in table.get(each, ())))
    elif name in _RULES:
        yield from _RULES[name](words)


def _dtypes(words: Sequence[str]) -> Left:
    yield "dtype", tuple(dict.fromkeys(dtype_word(each) for each in words if each in NUMPY))


def _reductions(words: Sequence[str]) -> Left:
    """Read ``sum of float`` and the like: the reduction, and the dtypes of that kind."""
    pairs = [each.partition(" of ")[::2] for each in words]
    kinds = {of for _, of in pairs}
    yield "reduction", tuple(dict.fromkeys(op for op, _ in pairs if op in FEATURES["reduction"]))
    yield from _dtypes([each for each in NUMPY if kind(each) in kinds])


def _ops(words: Sequence[str]) -> Left:
    yield "reduction", tuple(each for each in words if each in FEATURES["reduction"])


def _worlds(words: Sequence[str]) -> Left:
    yield "world", tuple(dict.fromkeys(world_word(int(each)) for each in words))


def _ranks(words: Sequence[str]) -> Left:
    yield "rank", tuple(dict.fromkeys(each if int(each) < 3 else "more" for each in words))


def _meeting(words: Sequence[str]) -> Left:
    """Read ``world`` and ``reordered`` as axes that are all of the mesh, without groups."""
    if "groups" not in words:
        yield "groups", ("none",)
        yield "axes", ("one", "whole", *(["permuted"] if "reordered" in words else []))


def _effects(words: Sequence[str]) -> Left:
    yield "place", ("fresh", *(each for each in ("into", "in_place", "overlap") if each in words))
    if "start" not in words:
        yield "start", ("no",)
    if "view" not in words:
        yield "view", ("none",)


def _same(factor: Factor) -> Callable[[Sequence[str]], Left]:
    def rule(words: Sequence[str]) -> Left:
        yield factor, tuple(each for each in words if each in FEATURES[factor])

    return rule


_RULES: Final[Mapping[str, Callable[[Sequence[str]], Left]]] = {
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
