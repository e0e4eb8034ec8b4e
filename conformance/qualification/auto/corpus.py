"""Which mutants a number and a seed make: at least a third under conditions, the others of changed code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random  # not for secrets: the same seed must give the same mutants
from typing import Final, Literal

from conformance.qualification.auto.conditional.conditions import condition, impossible
from conformance.qualification.auto.conditional.faulty_collectives import WAYS, Fault, forms, needs
from conformance.qualification.auto.conditional.faulty_values import value_faults
from conformance.qualification.auto.conditional.without_effect import without_effect
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.families import ENGINE, REFERENCE, RUNNER, every_change
from conformance.qualification.auto.source.judge_family import JUDGE
from conformance.qualification.auto.source.shadow import source_of

FamilyName = Literal["reference", "engine", "conditional", "runner", "judge"]
FAMILIES: Final[tuple[FamilyName, ...]] = ("reference", "engine", "conditional")
"""Those that drawn cases judge, and that are made where none is named."""

EVERY_FAMILY: Final[tuple[FamilyName, ...]] = (*FAMILIES, "runner", "judge")


@dataclass(frozen=True)
class AutoMutant:
    """A mutant that nobody wrote. ``void`` says why no legal case meets its condition, where none does."""

    family: FamilyName
    made: Change | Fault
    void: str | None = None

    @property
    def digest(self) -> str:
        """Return the 16 hex digits that name it."""
        return self.made.digest

    @property
    def name(self) -> str:
        """Return the family and the digest."""
        return f"{self.family}-{self.digest}"

    @property
    def seen(self) -> bool:
        """Return whether it is in the half whose survivors are named; of the other they are only counted.

        Of the runner all are: nothing is chosen by them, and tests are written for those that live.
        """
        return self.family == "runner" or int(self.digest, 16) % 2 == 0

    @property
    def diff(self) -> str:
        """Return what is changed, or the effect and its condition."""
        return self.made.diff(source_of(self.made.module)) if isinstance(self.made, Change) else str(self.made)


def corpus(
    count: int, seed: int, families: Sequence[FamilyName] = FAMILIES, code: Sequence[str] = ()
) -> tuple[AutoMutant, ...]:
    """Return those of some families among ``count`` different mutants, a third of which, rounded up, is conditional.

    With ``code`` only modules are changed whose names have one of these words, and fewer where they have no more to
    change. They are the same for the same number, seed and sources.
    """
    of = sizes(count)
    made = (_made(family, of[family], seed, code) for family in EVERY_FAMILY if family in families)
    return tuple(mutant for mutants in made for mutant in mutants)


def _made(family: FamilyName, count: int, seed: int, code: Sequence[str]) -> list[AutoMutant]:
    return _conditional(count, seed) if family == "conditional" else _changed(family, count, seed, code)


def sizes(count: int) -> Mapping[FamilyName, int]:
    """Return how many of so many mutants are of each family; those of runner and judge are beside the others."""
    conditional = -(-count // 3)
    reference = (count - conditional) // 2
    return {
        "reference": reference,
        "engine": count - conditional - reference,
        "conditional": conditional,
        "runner": count,
        "judge": count,
    }


MOST_MUTANTS: Final = 6_000
"""Mutants of one seed, at most: a third of them are changes of the reference's code, of which there are some 2,300."""


def _changed(family: FamilyName, count: int, seed: int, code: Sequence[str]) -> list[AutoMutant]:
    every = every_change({"reference": REFERENCE, "engine": ENGINE, "runner": RUNNER, "judge": JUDGE}[family])
    if code:
        every = tuple(change for change in every if any(word in change.module for word in code))
        count = min(count, len(every))
    return [AutoMutant(family, change) for change in Random(f"{family} {seed}").sample(every, count)]  # noqa: S311 - as said where it is imported


def _conditional(count: int, seed: int) -> list[AutoMutant]:
    found: dict[str, AutoMutant] = {}
    programs = _faults(Random(f"conditional {seed}"))  # noqa: S311 - as said where it is imported
    others = value_faults(Random(f"values {seed}"), seed)  # noqa: S311 - as above
    while len(found) < count:
        fault = next(others if len(found) % 3 == 2 else programs)
        found.setdefault(fault.digest, AutoMutant("conditional", fault, _void(fault)))
    return list(found.values())


def _void(fault: Fault) -> str | None:
    if fault.of_values:  # a drawn case meets its condition
        return None
    return impossible(fault.condition) or without_effect(fault.effect, fault.condition)


def _faults(random: Random) -> Iterator[Fault]:
    while True:
        effect = random.choice(sorted(WAYS))
        fixed = needs(effect)
        if forms(effect):
            fixed |= {random.choice(forms(effect))}
        yield Fault(effect, condition(random, fixed) | fixed, random.choice((0, 1, -1)), random.choice((0, 1, -1)))
