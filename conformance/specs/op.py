"""An operation: its domain, its clauses, its worked examples and its names in each framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis.strategies import SearchStrategy

from conformance.cases.case import Case
from conformance.judging.clause import Clause, Requirement, Subject, legal
from conformance.judging.compare import refused, same

Blocks = list[Any]


@dataclass(frozen=True)
class Example:
    """A worked example of a source: nested lists, one block a rank, in and out."""

    source: str
    dtype: str
    attrs: Mapping[str, Any]
    blocks: Blocks
    results: Blocks
    groups: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class Op:
    """One operation of the specification."""

    name: str
    summary: str
    domain: SearchStrategy[Case]
    clauses: tuple[Clause, ...]
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()


def value(
    id: str, text: str, source: str, when: Callable[[Subject], bool] = legal, requirement: Requirement = "must"
) -> Clause:
    """Return a clause about results: where it speaks, they are the reference's."""

    def speaks(subject: Subject) -> bool:
        return subject.legal and when(subject)

    return Clause(id, requirement, text, legal if when is legal else speaks, same, source)


def variant(id: str, text: str, source: str, when: Callable[[Subject], bool]) -> Clause:
    """Return a *must* clause about results for one value of an option that every case has."""
    return replace(value(id, text, source, when), variant=True)


def rejection(id: str, text: str, source: str, requirement: Requirement = "must") -> Clause:
    """Return a clause about a program without meaning: the implementation refuses it."""

    def speaks(subject: Subject) -> bool:
        return subject.rejected is not None and subject.rejected.clause == id

    return Clause(id, requirement, text, speaks, refused, source)


def attr(name: str, *wanted: object) -> Callable[[Subject], bool]:
    """Speak about cases whose first step has one of the ``wanted`` values of attribute ``name``."""
    return lambda subject: subject.step.attrs[name] in wanted
