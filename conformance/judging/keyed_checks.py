"""What clauses about values that have keys ask: what values are made of, what is wrong, and what was refused."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Final, Protocol

from conformance.cases.observation import Observation
from conformance.judging.clause import SILENT
from conformance.judging.keyed_values import KeyedSubject, Words, WrongValue, WrongValues, said

WAYS: Final = ("form", "bounds", "replicas", "bits", "bound")
"""How a value can be wrong, in the order in which that is looked for: of a value the first way alone is known."""


class MadeOf(Protocol):
    """A subject that knows what its values are made of."""

    @property
    def legal(self) -> bool:
        """Return whether the case has a meaning."""

    @property
    def made_of(self) -> AbstractSet[Words]:
        """Return what some value is made of."""


class HasWrong(Protocol):
    """What was seen, with the wrong values."""

    @property
    def wrongs(self) -> WrongValues:
        """Return those values."""


class HasObservation(Protocol):
    """What was seen, with the observation that it was seen in."""

    @property
    def observation(self) -> Observation:
        """Return that observation."""


def illegal(subject: KeyedSubject[Any]) -> bool:
    """Return whether a case has no meaning."""
    return not subject.legal


def rejected_by(clause: str) -> Callable[[KeyedSubject[Any]], bool]:
    """Speak of cases that the reference refuses by one clause."""
    return lambda subject: subject.rejected is not None and subject.rejected.clause == clause


def refused(subject: KeyedSubject[Any], found: HasObservation) -> str | None:
    """Find values of what has none."""
    if found.observation.refused:
        return None
    error = next((error for error in found.observation.errors if error is not None), None)
    return f"{'values were given' if error is None else said(error)}; {subject.rejected} has none"


def as_argument(_: object, found: HasObservation) -> str | None:
    """Find a refusal that does not say that an argument was wrong; where nobody refused nothing is said."""
    for error in found.observation.errors:
        if error is not None and error.category not in ("invalid_argument", "unsupported", "no_answer"):
            return f"{error.kind} is no complaint about an argument: {error.message[:200]}"
    return None if found.observation.refused else SILENT


def about(*words: str) -> Callable[[MadeOf], bool]:
    """Speak of cases some value of which is made of all of several words."""
    wanted = frozenset(words)
    return lambda subject: subject.legal and any(wanted <= each for each in subject.made_of)


def right(*words: str) -> Callable[[object, HasWrong], str | None]:
    """Find a wrong value that is made of all of several words; say nothing where it may be wrong by what made it."""
    wanted = frozenset(words)
    return lambda _, found: _told(found.wrongs, lambda wrong: wanted <= wrong.words)


def way(how: str) -> Callable[[object, HasWrong], str | None]:
    """Find a value that is wrong in one way.

    Say nothing where it may be so by what made it, or where it is wrong in a way that is looked for before.
    """
    before = WAYS[: WAYS.index(how)]

    def check(_: object, found: HasWrong) -> str | None:
        told = _told(found.wrongs, lambda wrong: wrong.how == how)
        hidden = any(wrong.how in before for wrong in (*found.wrongs.first, *found.wrongs.follow))
        return SILENT if told is None and hidden else told

    return check


def _told(wrongs: WrongValues, mine: Callable[[WrongValue], bool]) -> str | None:
    first = next((wrong.detail for wrong in wrongs.first if mine(wrong)), None)
    return first or (SILENT if any(map(mine, wrongs.follow)) else None)
