"""The search for the cause of a change: what two logs prove, then replays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date

from conformance.history.causes.cause import Cause, unexplained
from conformance.history.causes.facts import Facts, Laboratory
from conformance.history.causes.of_records import cause_of_records
from conformance.history.causes.of_replays import cause_of_replays
from conformance.history.causes.of_versions import Trial, cause_of_versions
from conformance.history.changes import Change, Comparison, grouped

Laboratories = Callable[[str], Laboratory | None]
"""Gives the laboratory of a backend by its name; ``None`` where it cannot be asked."""


def cause_of(
    change: Change,
    comparison: Comparison,
    today: date,
    laboratory: Laboratory | None = None,
    times: int = 10,
    trial: Trial | None = None,
) -> Cause:
    """Return why a case came out otherwise.

    Without a laboratory nothing is replayed here, and without a ``trial`` nowhere else. Where replays here do not say
    why, versions of packages are tried.
    """
    facts = Facts(change, comparison, today, laboratory, times)
    found = cause_of_records(facts)
    if found is not None:
        return found
    here = cause_of_replays(facts, laboratory) if laboratory is not None else None
    if trial is not None and (here is None or here.sort in ("package", "unexplained")):
        told = cause_of_versions(facts, trial)
        if told is not None:
            return told
    if here is not None:
        return here
    then = f"conformance diff {comparison.before.path.parent} {comparison.after.path.parent} --replay"
    return unexplained("the two runs observed different things, and nothing was replayed", then=then)


def causes(
    comparison: Comparison,
    changes: Iterable[Change],
    today: date,
    laboratories: Laboratories,
    times: int = 10,
    trial: Trial | None = None,
) -> dict[tuple[str, str], Cause]:
    """Return the causes of changes, by backend and case: of those that a reader looks at once, that of the first.

    A case that is its own proof has its own cause; where a backend must be asked, one of a group is.
    """
    found: dict[tuple[str, str], Cause] = {}
    for _, group in grouped(changes):
        open_ones = []
        for one in group:
            told = cause_of_records(Facts(one, comparison, today))
            if told is None:
                open_ones.append(one)
            else:
                found[one.backend, one.case] = told
        if open_ones:
            first = open_ones[0]
            said = cause_of(first, comparison, today, laboratories(first.backend), times, trial)
            found |= {(one.backend, one.case): said for one in open_ones}
    return found
