"""A topic: clauses that a reader looks for under one name."""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """A name, a sentence, the clauses, and the operations that a case has one of, if they are not all.

    The clauses of a ``free`` topic are *may*: what does not keep them is another right way.
    """

    id: str
    text: str
    clauses: tuple[str, ...]
    steps: tuple[str, ...] = ()
    free: bool = False


def clauses_of(family: str, *numbers: int) -> tuple[str, ...]:
    """Return the ids of clauses of one family."""
    return tuple(f"{family}.C{number}" for number in numbers)
