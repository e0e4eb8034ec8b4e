"""What is barely illegal: choices of what is right that are now and then wrong, one of a case at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from conformance.specs.domains import choices

T = TypeVar("T")


def only(kinds: Collection[str], choice: choices.Choice[T]) -> choices.Choice[T]:
    """Return a choice that is right where the goal is another kind of wrong than its own ``kinds``."""

    def make(draw: choices.Draw) -> T:
        goal = draw.goals.get("wrong")
        if goal is None or goal in kinds:
            return draw(choice)
        return choices.Draw(draw.source, {**draw.goals, "wrong": ""})(choice)

    return choices.Choice(make)


def wrong(kind: str, right: Sequence[T], options: Sequence[T]) -> choices.Choice[T]:
    """Return the choice of what is ``right`` or, where a wrong ``kind`` is the goal, of one of the other options.

    Options that are words are kinds of their own, ``kind option``.
    """
    listed = [(value, "") for value in right]
    listed += [(value, f"{kind} {value}" if isinstance(value, str) else kind) for value in options]
    return only(
        {word for _, word in listed},
        choices.steered(listed, ("wrong",), lambda each: (each[1],)).map(lambda each: each[0]),
    )
