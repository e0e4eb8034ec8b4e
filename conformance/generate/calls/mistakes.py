"""What is barely illegal: choices of what is right that are now and then wrong, one of a case at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import cycle, product
from typing import Final, TypeVar

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.choices import NOTHING, Factor, Goals
from conformance.reference.operations import FOLDED, TABLE
from conformance.reference.reductions import REDUCTIONS, check
from conformance.reference.rejection import Rejected
from conformance.reference.situations import CLASS_OF

T = TypeVar("T")


def only(kinds: Collection[str], choice: choices.Choice[T]) -> choices.Choice[T]:
    """Return a choice that is right where the goal is another kind of wrong than its own ``kinds``."""

    def make(draw: choices.Draw) -> T:
        goal = draw.goals.levels.get("wrong")
        if goal is None or goal in kinds:
            return draw(choice)
        return choices.Draw(draw.source, draw.goals.legal())(choice)

    return choices.Choice(make)


def wrong(kind: str, right: Sequence[T], options: Sequence[T]) -> choices.Choice[T]:
    """Return the choice of what is ``right`` or, where a wrong ``kind`` is the goal, of one of the other options.

    Options that are words are kinds of their own, ``kind option``.
    """
    listed = [(value, NOTHING) for value in right]
    listed += [(value, f"{kind} {value}" if isinstance(value, str) else kind) for value in options]
    return only(
        {word for _, word in listed},
        choices.steered(listed, ("wrong",), lambda each: (each[1],)).map(lambda each: each[0]),
    )


WRONG: Final[Mapping[str, tuple[str, ...]]] = {
    "axis": ("axis",),
    "split_axis": ("split_axis",),
    "concat_axis": ("concat_axis",),
    "root": ("root beyond", "root negative"),
    "sources": ("sources repeat", "sources beyond", "sources short"),
    "pairs": ("pairs source", "pairs destination", "pairs beyond", "pairs negative"),
    "op": ("reduction",),
    "local_axes": ("local",),
}
"""What may be wrong about an attribute."""

OF_EACH_KIND: Final = ("int32", "float32", "complex64", "bool")
"""A dtype of each kind: which reductions one has follows from its kind."""

BEYOND: Final = ("past", "before", "wrapped")
"""How an axis is none: one past the last, one before the first, or as much as makes it another one in circles."""


def ways(op: str) -> tuple[Mapping[Factor, str], ...]:
    """Return what may be wrong about a call of an operation, as levels, on blocks with elements and without.

    Checks are passed over where there is nothing to do.
    """
    if not TABLE[op].operands:
        return ()
    kinds = ["groups invalid", *(["groups uneven"] if TABLE[op].groups == "equal" else [])]
    kinds += ["ranks dtype", "ranks shape", *(word for name in TABLE[op].attributes for word in WRONG.get(name, ()))]
    if "tiled" in TABLE[op].attributes and CLASS_OF[op] != "gather":
        kinds += ["remainder more", "remainder less", "remainder twice"]
    extents, axes = ("wide", "zero", "one"), [kind for kind in kinds if kind.endswith("axis")]
    found: list[dict[Factor, str]] = [{"wrong": "axes unknown"}, {"wrong": "axes twice"}]
    if op in FOLDED:
        kinds.remove("reduction")
        pairs = [(dtype, word) for dtype in OF_EACH_KIND for word in REDUCTIONS if word not in accepted(dtype)]
        found += [
            {"wrong": "reduction", "dtype": dtype, "reduction": word, "extent": extent}
            for (dtype, word), extent in zip(pairs, cycle(extents), strict=False)
        ]
    found += [{"wrong": kind, "extent": extent} for kind, extent in product(kinds, extents) if kind not in axes]
    found += [{"wrong": kind, "extent": extent, "beyond": end} for end, kind, extent in product(BEYOND, axes, extents)]
    return tuple(found)


@cache
def accepted(dtype: str) -> tuple[str, ...]:
    """Return the reductions that a dtype has."""
    found = []
    for op in REDUCTIONS:
        try:
            check(dtype, op)
        except Rejected:
            continue
        found.append(op)
    return tuple(found)


def mistaken(op: str, domain: choices.Choice[Case]) -> choices.Choice[Case] | None:
    """Return the choice of cases of a domain in which one thing is wrong, each way in turn; nothing if none can be."""
    every = ways(op)
    if not every:
        return None
    return choices.Choice(lambda draw: choices.Draw(draw.source, Goals(every[draw.turn % len(every)]))(domain))
