"""Random numbers as a source of cases (pass 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

from conformance.specs.domains.choices import Choice, Draw
from conformance.specs.domains.steering.chained import chain_goals
from conformance.specs.domains.steering.claims import Claimed, listed, narrowed
from conformance.specs.domains.steering.goals import goals_of
from conformance.specs.domains.steering.seldom_draws import seldom_goal

T = TypeVar("T")

OUTSIDE: Final = 10
"""Of so many draws for one backend one is not held to its claims."""

LONGEST: Final = 20
"""Times as many draws as asked for, at most, for the sake of distinct cases: barrier, which has only meshes and
groups to draw, came to 1,000 distinct cases after some 4,000 draws."""


@dataclass
class Numbers:
    """Random numbers, and a record of them: each with its bound."""

    random: Random | None
    taken: list[tuple[int, int]] = field(default_factory=list)

    def below(self, bound: int, wanted: Sequence[int] = ()) -> int:
        """Return a random number from 0 up to ``bound``, one of ``wanted`` if any are; 0 without a generator."""
        if bound < 2:
            return 0
        number = int(self.random.random() * (len(wanted) or bound)) if self.random else 0
        number = wanted[number] if wanted else number
        self.taken.append((number, bound))
        return number


def numbered(domain: Choice[T], seed: int, number: int, limits: Claimed | None = None) -> tuple[T, Numbers]:
    """Return one draw of a domain, the same for the same seed and number, and the numbers it is made of.

    Draw 0 is the plainest of all. With ``limits`` it lies within these claims, as far as goals are granted; every
    tenth does not, so that it is seen where claims are too small.
    """
    # Not for secrets: the same seed must give the same cases.
    name = f"{domain.name}, {seed}, {number}"
    numbers = Numbers(Random(name) if number else None)  # noqa: S311 - they choose cases, and are no secret
    wanted = (chain_goals(domain.name, seed, number) or goals_of(domain.name, seed, number)) if number else {}
    if limits and number % OUTSIDE:
        wanted = {**narrowed(wanted, limits, f"{domain.name}, {seed}", number), **listed(limits)}
    return Draw(numbers, {**wanted, **seldom_goal(number)})(domain), numbers


def chain_words(domain: Choice[T], seed: int, number: int) -> Mapping[str, str]:
    """Return the goals of a graph: its kind, and how long it is, which say how many numbers make its draw."""
    return {**chain_goals(domain.name, seed, number), **seldom_goal(number)} if number else {}


def draw_cases(
    domain: Choice[T],
    examples: int,
    seed: int,
    sink: Callable[[T], object],
) -> None:
    """Hand ``sink`` the cases of a domain: the same for the same seed, repeats included."""
    for number in range(examples):
        case, _ = numbered(domain, seed, number)
        sink(case)
