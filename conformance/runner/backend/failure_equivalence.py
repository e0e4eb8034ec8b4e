"""When two failing cases show the same thing, and which of them shows it better."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from conformance.judging.applicability import specificity
from conformance.judging.cause import Signature, signature
from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.dialect import AnyDialect
from conformance.runner.outcomes import ENDING


def way(judged: Verdict) -> Signature:
    """Return what another case must share to fail in the same way: outcome, error class or signal, and deviation.

    Of what breaks no *must* the class of the error is enough: that refusals are worded in several ways is one finding.
    """
    found = signature(judged.outcome, judged.error, judged.detail)
    return found if breaks_must(judged) or judged.error is None else found._replace(says="")


def broken(judged: Verdict) -> set[str]:
    """Return the broken clauses."""
    return {clause for clause, held in judged.clauses.items() if held == "broken"}


def breaks_must(judged: Verdict) -> bool:
    """Return whether a *must* is to blame."""
    return judged.blame is not None and judged.blame.requirement == "must"


def telling(judged: Verdict, clauses: Sequence[AnyClause]) -> set[str]:
    """Return the broken clauses that not every case of the operation triggers: particular ones and options chosen."""
    general = {clause.id for clause in clauses if clause.general or clause.plain}
    return broken(judged) - general


def explains(smaller: Verdict, other: Verdict, clauses: Sequence[AnyClause]) -> bool:
    """Return whether a case fails in the way of a smaller one, and breaks every telling clause that one breaks.

    What breaks no *must* explains nothing that does.
    """
    alike = other.blame is not None and way(smaller) == way(other)
    return alike and telling(smaller, clauses) <= broken(other) and breaks_must(smaller) >= breaks_must(other)


def rivals(judged: Verdict, clauses: Sequence[AnyClause]) -> list[AnyClause]:
    """Return the most particular clauses that a failing case breaks: those that can be to blame."""
    assert judged.blame is not None
    tier = specificity(judged.blame, clauses)[:2]
    return [c for c in clauses if c.id in broken(judged) and specificity(c, clauses)[:2] == tier]


def blamable(judged: Verdict, clauses: Sequence[AnyClause]) -> list[AnyClause]:
    """Return the clauses that can be to blame: all that are broken where no answer came, which says nothing of why."""
    if judged.outcome in ENDING:
        return [clause for clause in clauses if clause.id in broken(judged)]
    return rivals(judged, clauses)


def blamed(judged: Verdict, clauses: Sequence[AnyClause], *, minimal: bool) -> AnyClause:
    """Return the clause to blame for the smallest case that was found.

    Where no answer came, every clause that speaks about the case is broken. What a particular one is about made no
    difference unless the case is ``minimal``, so that a general one is to blame, if one is broken.
    """
    assert judged.blame is not None
    if minimal or judged.outcome not in ENDING:
        return judged.blame
    whole = [clause for clause in blamable(judged, clauses) if clause.general and clause.requirement == "must"]
    return max(whole, key=lambda clause: specificity(clause, clauses), default=judged.blame)


def cost(judged: Verdict, case: object, clauses: Sequence[AnyClause], dialect: AnyDialect) -> tuple[int, ...]:
    """Return what makes a case worse to read than another, worst first: emptiness, clauses that break, ranks, data."""
    return (dialect.empty(case), len(telling(judged, clauses)), len(broken(judged)), *dialect.size(case))


def allowed(first: Verdict, clauses: Collection[AnyClause]) -> set[str]:
    """Return the clauses that a smaller case than ``first`` may break.

    General ones always; other values of an option only where a particular clause is to blame, for then the option is
    not what the failure is about.
    """
    free = {clause.id for clause in clauses if clause.general}
    if first.blame is not None and not first.blame.general and not first.blame.variant:
        free |= {clause.id for clause in clauses if clause.plain}
    return broken(first) | free
