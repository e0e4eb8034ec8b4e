"""What domains draw from: choices, each of which comes down to numbers below a bound, 0 being the plain choice.

A case is what a sequence of such numbers makes. A run takes them from a generator of random numbers; where a case
fails, Hypothesis makes them smaller (``runner.hypothesis_shrinker``).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from typing import Concatenate, Final, Generic, ParamSpec, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
P = ParamSpec("P")


LAST_FIRST: Final = "last first"
"""A goal that says to grant goals in the other order, so that none always gives way to another."""


LIMIT: Final = "limit of "
"""What the goals begin with that list, with spaces between them, the words that claims leave of a feature."""

ROOMS: Final = frozenset({"domain", "domains", "effects", "families", "operations", "scenarios", "suites"})
"""Folders of ``specs`` that say what kind of file is in them."""


class Source(Protocol):
    """Where the numbers come from."""

    def below(self, bound: int, wanted: Sequence[int] = ()) -> int:
        """Return a number from 0 up to ``bound``; a source of random numbers returns one of ``wanted``, if any are."""


@dataclass(frozen=True)
class Draw:
    """Draws from choices. ``goals`` has words for features that a case should have, where a choice allows it."""

    source: Source
    goals: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, choice: Choice[T]) -> T:
        """Return one of the values of a choice."""
        return choice.make(self)

    def one(self, options: Sequence[T]) -> T:
        """Return one of several options, each as likely as the next."""
        return options[self.source.below(len(options))] if len(options) > 1 else options[0]


@dataclass(frozen=True, eq=False)
class Choice(Generic[T_co]):
    """Values of which one is drawn. The ``name`` of a domain tells its cases from those of other domains."""

    make: Callable[[Draw], T_co]
    name: str = ""

    def map(self, change: Callable[[T_co], U]) -> Choice[U]:
        """Return the choice of what ``change`` makes of the values."""
        make = self.make
        return Choice(lambda draw: change(make(draw)))


def composite(function: Callable[Concatenate[Draw, P], T]) -> Callable[P, Choice[T]]:
    """Let a function that draws be a function that returns the choice of what it draws."""

    @wraps(function)
    def choice(*args: P.args, **kwargs: P.kwargs) -> Choice[T]:
        every = (*args, *kwargs.values())
        given = ", ".join(one.name if isinstance(one, Choice) else repr(one) for one in every)
        return Choice(
            lambda draw: function(draw, *args, **kwargs), f"{_place(function.__module__)}.{function.__name__}({given})"
        )

    return choice


def _place(module: str) -> str:
    """Return the name of a module without its room, so that moving a file changes no case of a seed."""
    return ".".join(part for part in module.split(".") if part not in ROOMS)


def just(value: T) -> Choice[T]:
    """Return the choice of one value."""
    return Choice(lambda _: value)


def sampled_from(options: Sequence[T]) -> Choice[T]:
    """Return the choice of one of several values, each as likely as the next."""
    listed = tuple(options)
    return Choice(lambda draw: draw.one(listed))


def booleans() -> Choice[bool]:
    """Return the choice of yes or no, no being the plain one."""
    return sampled_from((False, True))


def integers(least: int, greatest: int) -> Choice[int]:
    """Return the choice of an integer, both ends included, the least being the plain one."""
    return sampled_from(range(least, greatest + 1))


def permutations(values: Sequence[T]) -> Choice[list[T]]:
    """Return the choice of an order, the given one being the plain one."""

    def make(draw: Draw) -> list[T]:
        found = list(values)
        for at in range(len(found) - 1):
            other = at + draw.source.below(len(found) - at)
            found[at], found[other] = found[other], found[at]
        return found

    return Choice(make)


def lists(each: Choice[T], *, min_size: int = 0, max_size: int) -> Choice[list[T]]:
    """Return the choice of a list of a length between two, both included."""
    lengths = integers(min_size, max_size)
    return Choice(lambda draw: [each.make(draw) for _ in range(lengths.make(draw))])


def one_of(*choices: Choice[T]) -> Choice[T]:
    """Return the choice of one of several choices, each as likely as the next."""
    return Choice(lambda draw: draw.one(choices).make(draw))


def subsets(values: Sequence[T]) -> Choice[list[T]]:
    """Return the choice of one or several of the values, in their order, the first alone being the plain one."""

    def make(draw: Draw) -> list[T]:
        found = [value for value in values if draw.source.below(2)]
        return found or list(values[:1])

    return Choice(make)


def within(options: Sequence[T], feature: str, word: Callable[[T], str] = str) -> Choice[T]:
    """Return the choice of one of several values, where claims limit their ``feature`` of one whose word they name.

    Where they name the word of none it is any of them.
    """
    listed = tuple(options)

    def make(draw: Draw) -> T:
        words = draw.goals.get(LIMIT + feature, "").split()
        wanted = [number for number, option in enumerate(listed) if word(option) in words] if words else []
        return listed[draw.source.below(len(listed), wanted)]

    return Choice(make)


def steered(options: Sequence[T], features: Sequence[str], words: Callable[[T], Sequence[str]]) -> Choice[T]:
    """Return the choice of one of several values that have words for features.

    Where words are goals it is one of those values that have the first feature's, of these one of those that have
    the second's, and so on; a goal that no value is left for is not granted. In every second draw (``LAST_FIRST``) the
    last feature comes first.
    """
    listed = tuple(options)
    of = _Words([tuple(words(option)) for option in listed])

    def make(draw: Draw) -> T:
        if not draw.goals or len(listed) < 2:
            return draw.one(listed)
        step = -1 if LAST_FIRST in draw.goals else 1
        return listed[draw.source.below(len(listed), _wanted(of, tuple(map(draw.goals.get, features)), step))]

    return Choice(make)


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of each option of a choice, feature by feature; it is equal to itself alone."""

    of: Sequence[tuple[str, ...]]


@lru_cache(maxsize=2048)
def _wanted(words: _Words, goals: tuple[str | None, ...], step: int) -> Sequence[int]:
    """Return the numbers of the options that reach the goals, as far as it is granted."""
    found: Sequence[int] = range(len(words.of))
    for at, goal in [*enumerate(goals)][::step]:
        found = array("I", [number for number in found if words.of[number][at] == goal]) or found
    return found
