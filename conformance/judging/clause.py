"""Clauses: numbered, testable sentences about what a case means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from conformance.cases.case import Case
from conformance.cases.dtypes import Array
from conformance.cases.features import Features, features
from conformance.cases.observation import Observation
from conformance.cases.program import Groups, Step, rank_groups
from conformance.judging.contributions import contributions
from conformance.reference.reductions import Terms
from conformance.reference.rejected import Rejected

Requirement = Literal["must", "should", "may"]
Held = Literal["held", "broken"]
Outcome = Literal["passed", "failed", "errored", "crashed", "timeout", "protocol_error", "unsupported", "not_run"]


@dataclass(frozen=True)
class Subject:
    """A case and what it means: the blocks of every result, or the clause it breaks."""

    case: Case
    expected: dict[str, list[Array | None]] = field(default_factory=dict)
    rejected: Rejected | None = None

    @cached_property
    def features(self) -> Features:
        """Return the facts of the case."""
        return features(self.case)

    @cached_property
    def terms(self) -> dict[str, list[Terms | None]]:
        """Return what every element of the last step's results is folded from, where the step folds."""
        return contributions(self.case)

    @property
    def legal(self) -> bool:
        """Return whether the program has a meaning."""
        return self.rejected is None

    @property
    def step(self) -> Step:
        """Return the last collective, the step that clauses of an operation speak about."""
        return self.case.program.collectives[-1]

    @cached_property
    def groups(self) -> Groups:
        """Return the groups of the step as ranks; only for steps whose axes the mesh has."""
        return rank_groups(self.case.program.mesh, self.step.axes, self.step.groups)

    def has(self, feature: str, *words: str) -> bool:
        """Return whether ``feature`` has any of ``words``."""
        return not self.features.get(feature, frozenset()).isdisjoint(words)


@dataclass(frozen=True)
class Clause:
    """One sentence. ``check`` returns ``None`` when it holds, else what was seen and what was expected.

    A ``variant`` clause speaks about one value of an option that every case has (tiled or not, sum or
    max); it is blamed before a ``general`` clause and after a particular one.
    """

    id: str
    requirement: Requirement
    text: str
    when: Callable[[Subject], bool]
    check: Callable[[Subject, Observation], str | None]
    source: str
    suite: str = "collectives"
    variant: bool = False
    general: bool = False


def legal(subject: Subject) -> bool:
    """Speak about every program that has a meaning."""
    return subject.legal


def illegal(subject: Subject) -> bool:
    """Speak about every program that has none."""
    return not subject.legal


def always(subject: Subject) -> bool:  # noqa: ARG001 - the signature of ``Clause.when``
    """Speak about every case."""
    return True
