"""What clauses about values that have keys ask: what values are made of, what is wrong, and what was refused."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from conformance.cases.observation import Observation
from conformance.judging.keyed_values import KeyedSubject, Words, Wrong


class MadeOf(Protocol):
    """A subject that knows what its values are made of."""

    @property
    def legal(self) -> bool:
        """Return whether the case has a meaning."""

    @property
    def made_of(self) -> AbstractSet[Words]:
        """Return what some value is made of."""


class HasWrong(Protocol):
    """What was seen, with the wrong value that is listed first, if there is one."""

    @property
    def wrong(self) -> Wrong | None:
        """Return that value."""


class HasObservation(Protocol):
    """What was seen, with the observation that it was seen in."""

    @property
    def observation(self) -> Observation:
        """Return that observation."""


def illegal(subject: KeyedSubject[Any]) -> bool:
    """Return whether a case has no meaning."""
    return not subject.legal


def refused(subject: KeyedSubject[Any], found: HasObservation) -> str | None:
    """Find values of what has none."""
    return None if found.observation.raised else f"values were given; {subject.rejected} has none"


def as_argument(_: object, found: HasObservation) -> str | None:
    """Find a refusal that does not say that an argument was wrong."""
    for error in found.observation.errors:
        if error is not None and error.category not in ("invalid_argument", "unsupported"):
            return f"{error.kind} is no complaint about an argument: {error.message[:200]}"
    return None


def about(*words: str) -> Callable[[MadeOf], bool]:
    """Speak of cases some value of which is made of all of several words."""
    wanted = frozenset(words)
    return lambda subject: subject.legal and any(wanted <= each for each in subject.made_of)


def right(*words: str) -> Callable[[object, HasWrong], str | None]:
    """Find the first wrong value, if it is made of all of several words."""
    wanted = frozenset(words)
    return lambda _, found: found.wrong.detail if found.wrong is not None and wanted <= found.wrong.words else None


def way(*hows: str) -> Callable[[object, HasWrong], str | None]:
    """Find the first wrong value, if it is wrong in one of several ways."""
    return lambda _, found: found.wrong.detail if found.wrong is not None and found.wrong.how in hows else None
