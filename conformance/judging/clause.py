"""Clauses: numbered, testable sentences about what a case means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.judging.subject import ElementMasks, Subject

Requirement = Literal["must", "should", "may"]
SILENT: Final = ""
"""What a check returns that can tell neither that its clause holds nor that it is broken."""

Held = Literal["held", "broken", "diverges"]
"""What a clause that speaks says of an observation; it ``diverges`` where a source that the backend follows does."""

Outcome = Literal[
    "passed",
    "failed",
    "errored",
    "crashed",
    "timeout",
    "protocol_error",
    "flaky",
    "adapter_error",
    "unsupported",
    "not_run",
]


class AnyClause(Protocol):
    """What is common to the clauses of every dialect of cases; see ``Clause``."""

    @property
    def id(self) -> str:
        """Return the id, the family or operation before the number."""

    @property
    def requirement(self) -> Requirement:
        """Return how binding it is."""

    @property
    def text(self) -> str:
        """Return the sentence."""

    @property
    def source(self) -> str:
        """Return who says so."""

    @property
    def suite(self) -> str:
        """Return the suite whose cases trigger it."""

    @property
    def general(self) -> bool:
        """Return whether every case triggers it."""

    @property
    def variant(self) -> bool:
        """Return whether it is about one value of an option that every case has."""

    @property
    def plain(self) -> bool:
        """Return whether that value is the plain one."""


@dataclass(frozen=True)
class Divergence:
    """What a source says where a clause says something else.

    ``shown`` tells whether an observation is what the source says. For a backend that follows the ``source`` the clause
    then is neither held nor broken: the divergence is recorded, and nothing else is asked of the values. A source that
    has a case mean what another one means gives that one ``otherwise``.
    """

    source: str
    text: str
    shown: Callable[[Subject, Observation], bool]
    otherwise: Callable[[Case], Case | None] | None = None


Needs = tuple[tuple[str, tuple[str, ...]], ...]
"""Features with words, of each of which every case has one that a clause speaks about: claims without leave it out."""


@dataclass(frozen=True)
class Clause:
    """One sentence. ``check`` returns ``None`` when it holds, else what was seen and what was expected.

    A ``variant`` clause speaks about one value of an option that every case has (tiled or not, sum or
    max); it is blamed before a ``general`` clause and after a particular one, last where the value is a ``plain`` one,
    with which shrinking ends. A clause for ``each`` collective speaks
    about one and the results that it made, any other about the whole program. The clause of a ``guarantee`` is a *may*
    of the specification, and a *must* for the backends that give it (``held_to``); its source is their word.

    A *should* or *may* about values settles whether there is a value at all, unless ``settles`` tells the elements that
    it is about: then every *must* holds for all others, and for there being an answer.

    ``diverges`` lists what sources say otherwise; ``admitted`` are those of them that a backend follows (``held_to``).

    Every case that it speaks about has, of each feature that it ``needs``, one of the words: claims that have none of
    them leave out all there is to show. One about how a program does what some ``words`` of ``effects`` or ``flow`` say
    is to blame only where a wrong result shows it.
    """

    id: str
    requirement: Requirement
    text: str
    when: Callable[[Subject], bool]
    check: Callable[[Subject, Observation], str | None]
    source: str
    suite: str = "collectives"
    variant: bool = False
    plain: bool = False
    general: bool = False
    each: bool = False
    guarantee: Guarantee | None = None
    settles: Callable[[Subject], ElementMasks | None] | None = None
    diverges: tuple[Divergence, ...] = ()
    admitted: tuple[Divergence, ...] = ()
    needs: Needs = ()
    words: tuple[str, ...] = ()


def held_to(clauses: Sequence[Clause], terms: Terms) -> tuple[Clause, ...]:
    """Return ``clauses`` as a backend of these ``terms`` is held to them."""
    return tuple(_held_to(clause, terms) for clause in clauses)


def _held_to(clause: Clause, terms: Terms) -> Clause:
    admitted = tuple(each for each in clause.diverges if each.source in terms.follows)
    must = clause.guarantee in terms.guarantees
    if not admitted and not must:
        return clause
    return replace(clause, requirement="must" if must else clause.requirement, admitted=admitted)


def legal(subject: Subject) -> bool:
    """Speak about every program that has a meaning."""
    return subject.legal


def always(subject: Subject) -> bool:  # noqa: ARG001 - the signature of ``Clause.when``
    """Speak about every case."""
    return True
