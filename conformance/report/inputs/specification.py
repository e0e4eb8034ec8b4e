"""The specification as the report needs it: one plain value for each clause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec
from msgspec.structs import replace

from conformance.cases.declarations.guarantees import Guarantee
from conformance.judging.clause import AnyClause, Clause, Needs, Requirement


class ClauseText(msgspec.Struct, frozen=True, kw_only=True):
    """A clause to read.

    ``op`` is the operation that owns it. A ``shared`` clause is spoken by every operation, and its ``op`` is
    the family (``collective``). ``summary`` and ``aliases`` (framework to names) are those of the operation.
    ``needs`` are features with words, of each of which every case that it is about has one.
    ``guarantee`` names what a backend gives for which the clause is a *must*, and ``divergences`` what sources say
    otherwise. ``document`` is the page and the anchor where the specification has it.
    """

    op: str
    id: str
    requirement: Requirement
    text: str
    source: str = ""
    suite: str = "collectives"
    summary: str = ""
    aliases: dict[str, tuple[str, ...]] = {}
    shared: bool = False
    guarantee: Guarantee | None = None
    divergences: dict[str, str] = {}
    needs: Needs = ()
    document: str = ""


class Operation(Protocol):
    """The part of an operation of the specification that a report shows."""

    @property
    def name(self) -> str:
        """Return the neutral name."""

    @property
    def summary(self) -> str:
        """Return one sentence on what it does."""

    @property
    def clauses(self) -> Iterable[Clause]:
        """Return its own clauses, in order."""

    @property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """Return its names in each framework."""


def clause_texts(
    ops: Iterable[Operation],
    common: Iterable[AnyClause] = (),
    described: Callable[[str], str] = str,
    documented: Callable[[str], str] = lambda _: "",
) -> tuple[ClauseText, ...]:
    """Return every clause of ``ops`` in order, then the ``common`` ones, marked as shared.

    ``described`` writes out in full what a clause cites as its source, and ``documented`` says where the specification
    has a clause, by its id.
    """
    own = [_text(op.name, clause, op.summary, dict(op.aliases)) for op in ops for clause in op.clauses]
    shared = [_text(clause.id.partition(".")[0], clause, "", {}, shared=True) for clause in common]
    return tuple(replace(text, source=described(text.source), document=documented(text.id)) for text in (*own, *shared))


def _text(
    op: str, clause: AnyClause, summary: str, aliases: dict[str, tuple[str, ...]], *, shared: bool = False
) -> ClauseText:
    return ClauseText(
        op=op,
        id=clause.id if "." in clause.id else f"{op}.{clause.id}",
        requirement=clause.requirement,
        text=clause.text,
        source=clause.source,
        suite=clause.suite,
        summary=summary,
        aliases=aliases,
        shared=shared,
        guarantee=clause.guarantee if isinstance(clause, Clause) else None,
        divergences={each.source: each.text for each in getattr(clause, "diverges", ())},
        needs=clause.needs if isinstance(clause, Clause) else (),
    )
