"""Clauses about steps of typed programs: they speak where a value that is asked for shows what such a step does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from conformance.cases.observation import Observation
from conformance.cases.types.typed_program import TypedStep
from conformance.judging.typed import TypedClause, TypedDivergence
from conformance.judging.typed_comparisons import Names
from conformance.reference.transforms.meaning import TypedMeaning

When = Callable[[TypedMeaning], bool]
Fits = Callable[[TypedMeaning, TypedStep], bool]


class Compared(Protocol):
    """A comparison of all that was given with what is right, or of some names."""

    def __call__(self, meaning: TypedMeaning, seen: Observation, names: Names = None) -> str | None:
        """Return the first difference."""


@dataclass(frozen=True)
class OfSteps:
    """Compares the values that show what the steps do which ``fits`` tells, and no others."""

    compared: Compared
    fits: Fits

    def __call__(self, meaning: TypedMeaning, seen: Observation) -> str | None:
        """Return the first difference."""
        return self.compared(meaning, seen, shown(meaning, self.fits))


def about_steps(
    id: str,
    text: str,
    source: str,
    when: When,
    check: OfSteps,
    *diverges: TypedDivergence,
    suite: str = "transforms",
) -> TypedClause:
    """Return a *must* about steps: it says nothing where no value that is asked for shows what one of them does."""

    def speaks(meaning: TypedMeaning) -> bool:
        return when(meaning) and bool(shown(meaning, check.fits))

    return TypedClause(id, "must", text, source, speaks, check, suite, diverges=diverges)


def shown(meaning: TypedMeaning, fits: Fits) -> frozenset[str]:
    """Return the values asked for that are made of what some steps give, or come back through their transposes.

    Automatic casts are steps, too, of a program that is transposed.
    """
    program = meaning.case.program
    if meaning.case.kind != "transposed":
        made = set[str]()
        for step in program.steps:
            if fits(meaning, step) or made.intersection(step.inputs):
                made.add(step.output)
        return frozenset(made.intersection(program.results))
    through = set[str]()
    for step in meeting_cotangents(meaning):
        if step.output in through or fits(meaning, step):
            through.update(step.inputs)
    return frozenset(through.intersection(program.inputs))


def meeting_cotangents(meaning: TypedMeaning) -> Iterator[TypedStep]:
    """Yield the steps that a cotangent comes back to, automatic casts among them, the last first."""
    program, met = meaning.case.program, set(meaning.case.cotangents)
    for step in reversed(meaning.written.steps if program.checked else program.steps):
        if step.output in met:
            met.update(step.inputs)
            yield step
