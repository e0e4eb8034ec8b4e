"""Arguments that are right, and now and then barely wrong: axes, roots, and extents that are to split."""

from __future__ import annotations

from functools import cache
from typing import Final

from conformance.generate import choices
from conformance.generate.calls.draft import TILED, Draft
from conformance.generate.calls.mistakes import wrong
from conformance.generate.calls.shapes import Shape, axis_beside, axis_of, beyond, root_of, same_axis, split

_WRONG_AXIS: Final = {name: wrong(name, [False] * 21, [True]) for name in ("axis", "split_axis", "concat_axis")}
_WRONG_ROOT: Final = wrong("root", ["right"] * 15, ["beyond", "negative"])
_REMAINDER: Final = {
    True: wrong("remainder", ["none"] * 12, ["more", "less"]),
    False: wrong("remainder", ["none"] * 18, ["more", "less", "twice"]),
}
"""How an extent does not split, of tiled calls and others: it is one more or one less than would.

Where the axis has one slice for each member, it may also be twice as much."""
_RARELY: Final = choices.sampled_from([False] * 19 + [True])
_OTHER_AXIS: Final = choices.sampled_from([False, False, False, False, True])


def axis_near(draw: choices.Draw, rank: int, name: str = "axis") -> int:
    """Draw an axis of ``rank`` axes from both ends, and now and then one beyond."""
    return draw(axis_beside(rank) if rank == 0 or draw(_WRONG_AXIS[name]) else axis_of(rank))


def axis_like(draw: choices.Draw, at: int, rank: int, name: str = "axis") -> int:
    """Draw an axis, mostly ``at``, from both ends, and now and then one beyond.

    Beyond it is by so much that an implementation that counts in circles would take it for ``at``.
    """
    if draw(_WRONG_AXIS[name]):
        return draw(_beyond(at, rank))
    return draw(axis_of(rank) if rank > 1 and draw(_OTHER_AXIS) else same_axis(at, rank))


@cache
def _beyond(at: int, rank: int) -> choices.Choice[int]:
    return beyond([(at + rank, "wrapped"), (rank, "past"), (at - 2 * rank, "wrapped"), (-rank - 1, "before")])


def root_near(draw: choices.Draw, size: int) -> int:
    """Draw a position of a group of ``size``, and now and then one just beyond either end."""
    how = draw(_WRONG_ROOT)
    return {"beyond": size, "negative": -1}[how] if how != "right" else draw(root_of(size))


def joinable(drawn: Draft) -> tuple[Shape, int, bool]:
    """Draw a shape, whether blocks are joined along an axis that they have, and the axis, or one just beyond."""
    # A block without axes has no axis to be concatenated along.
    tiled = drawn.draw(TILED)
    shape = drawn.shape(0 if drawn.draw(_RARELY) else tiled)
    return shape, axis_near(drawn.draw, len(shape) + (not tiled)), tiled


def splittable(drawn: Draft, tiled: bool) -> tuple[Shape, int]:
    """Draw a shape and an axis of it that splits into a piece a member, or now and then just fails to."""
    found, at = split(drawn.draw, drawn.width, drawn.group_size, tiled=tiled)
    how = drawn.draw(_REMAINDER[tiled])
    right = found[at]
    more = {"none": 0, "more": 1, "less": -1 if right else 1, "twice": right}[how]
    return (*found[:at], right + more, *found[at + 1 :]), at
