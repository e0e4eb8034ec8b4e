"""Random numbers as a source of cases (pass 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeVar

from conformance.generate.choices import Choice, Draw
from conformance.generate.claims import Claimed, narrowed
from conformance.generate.deal import dealt

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

    Draw 0 is the plainest of all. With ``limits`` it lies within these claims, as far as its choices allow; every
    tenth does not, so that it is seen where claims are too small.
    """
    # Not for secrets: the same seed must give the same cases.
    name = f"{domain.name}, {seed}, {number}"
    numbers = Numbers(Random(name) if number else None)  # noqa: S311 - they choose cases, and are no secret
    if limits and number % OUTSIDE:
        # What is enumerated is held to no claims, so that all of these draws grow.
        return Draw(numbers, narrowed(limits, f"{domain.name}, {seed}", number))(domain), numbers
    # Of draws for one backend only these are dealt: by a count of their own, for a row is found after all before it.
    dealt_as = number // OUTSIDE if limits else number
    return Draw(numbers, dealt=dealt(seed, dealt_as) if number else None)(domain), numbers


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
