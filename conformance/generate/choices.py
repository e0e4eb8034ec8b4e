"""What domains draw from: choices, each of which comes down to numbers below a bound, 0 being the plain choice.

A case is what a sequence of such numbers makes. A run takes them from a generator of random numbers; where a case
fails, Hypothesis makes them smaller (``runner.hypothesis_shrinker``).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from typing import Concatenate, Final, Generic, Literal, ParamSpec, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
P = ParamSpec("P")


# fmt: off
Factor = Literal[
    "axes", "axis", "beyond", "dtype", "extent", "groups", "layout", "local", "operands", "place", "rank", "reduction",
    "root", "start", "tiled", "values", "view", "world", "wrong",
]
"""What choices are steered by. ``wrong`` is the kind of mistake of an illegal case, and ``NOTHING`` of a legal one;
``beyond`` is how an axis is none; the others are features of a situation (``reference.situations``)."""

Limited = Literal[
    "across", "axes", "casts", "checks", "computed", "computes", "dtype", "groups", "local_axes", "mapped", "op",
    "refused", "starts", "steps", "tiled", "to",
]
# fmt: on
"""Features of claims that choices are held to."""

NOTHING: Final = ""
"""The level of ``wrong`` where nothing is."""


@dataclass(frozen=True)
class Goals:
    """What a case is to have, as far as choices allow it: of some factors one level each.

    A choice that is steered by several factors reaches for the first, or with ``last_first`` for the last: so none
    always gives way to another. ``limits`` are the words that claims leave of features.
    """

    levels: Mapping[Factor, str] = field(default_factory=dict)
    limits: Mapping[Limited, tuple[str, ...]] = field(default_factory=dict)
    last_first: bool = False

    def legal(self) -> Goals:
        """Return the goals of a case about which nothing is wrong."""
        return replace(self, levels={**self.levels, "wrong": NOTHING})


Kind = Literal["grown", "row", "call", "motif", "illegal"]
"""A case that grows by drawn steps, a row of a covering array, one of all small calls, one for a bug that somebody had,
and one wrong in one place."""


@dataclass(frozen=True)
class DealtDraw:
    """A draw is of a ``kind`` (``generate.deal``), of which ``nth`` draws of the ``seed`` came before it."""

    kind: Kind
    nth: int
    seed: int


class Source(Protocol):
    """Where the numbers come from."""

    def below(self, bound: int, wanted: Sequence[int] = ()) -> int:
        """Return a number from 0 up to ``bound``; a source of random numbers returns one of ``wanted``, if any are."""


@dataclass(frozen=True)
class Draw:
    """Draws from choices. ``dealt`` is what kind of case it is to be; ``None`` leaves that to the domain."""

    source: Source
    goals: Goals = Goals()
    dealt: DealtDraw | None = None

    def __call__(self, choice: Choice[T]) -> T:
        """Return one of the values of a choice."""
        return choice.make(self)

    @property
    def turn(self) -> int:
        """Return a number for what comes in turn: as many as its kind came before, from the seed on."""
        return self.dealt.nth + self.dealt.seed if self.dealt else 0

    def one(self, options: Sequence[T]) -> T:
        """Return one of several options, each as likely as the next."""
        return options[self.source.below(len(options))] if len(options) > 1 else options[0]


@dataclass(frozen=True, eq=False)
class Choice(Generic[T_co]):
    """Values of which one is drawn. A domain, from which cases are drawn, has a ``name`` of its own."""

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
        return Choice(lambda draw: function(draw, *args, **kwargs))

    return choice


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


def within(options: Sequence[T], feature: Limited, word: Callable[[T], str] = str) -> Choice[T]:
    """Return the choice of one of several values, where claims limit their ``feature`` of one whose word they name.

    Where they name the word of none it is any of them.
    """
    listed = tuple(options)

    def make(draw: Draw) -> T:
        words = draw.goals.limits.get(feature, ())
        wanted = [number for number, option in enumerate(listed) if word(option) in words] if words else []
        return listed[draw.source.below(len(listed), wanted)]

    return Choice(make)


def steered(options: Sequence[T], factors: Sequence[Factor], levels: Callable[[T], Sequence[str]]) -> Choice[T]:
    """Return the choice of one of several values that have levels of factors.

    Where levels are goals it is one of those values that have the first factor's, of these one of those that have
    the second's, and so on; a goal that no value is left for is passed over.
    """
    listed = tuple(options)
    of = _Levels([tuple(levels(option)) for option in listed])

    def make(draw: Draw) -> T:
        if not draw.goals.levels or len(listed) < 2:
            return draw.one(listed)
        step = -1 if draw.goals.last_first else 1
        return listed[draw.source.below(len(listed), _wanted(of, tuple(map(draw.goals.levels.get, factors)), step))]

    return Choice(make)


@dataclass(frozen=True, eq=False)
class _Levels:
    """The levels of each option of a choice, factor by factor; it is equal to itself alone."""

    of: Sequence[tuple[str, ...]]


@lru_cache(maxsize=2048)
def _wanted(levels: _Levels, goals: tuple[str | None, ...], step: int) -> Sequence[int]:
    """Return the numbers of the options that reach the goals, passing over those that none is left for."""
    found: Sequence[int] = range(len(levels.of))
    for at, goal in [*enumerate(goals)][::step]:
        found = array("I", [number for number in found if levels.of[number][at] == goal]) or found
    return found
