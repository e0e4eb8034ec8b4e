"""What every form of a comparison says: groups of changes, each with its cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from conformance.history.causes.cause import Cause
from conformance.history.changes import KINDS, Comparison, Kind, grouped

Causes = Mapping[tuple[str, str], Cause]
"""By backend and case."""

HEADINGS: Final[dict[Kind, str]] = {
    "regressed": "Regressed",
    "flaky": "Flaky",
    "never_shown": "Never shown",
    "newly_unsupported": "Newly unsupported",
    "removed": "Removed",
    "otherwise": "Fails otherwise",
    "fixed": "Fixed",
    "new": "New",
}

MEANINGS: Final[dict[Kind, str]] = {
    "regressed": "passed, or broke less, and now breaks a clause",
    "flaky": "came to both within one environment and revision",
    "never_shown": "was judged, and the later run was to judge it and did not",
    "newly_unsupported": "was judged, and now lies outside the claims or is refused",
    "removed": "was judged, and the later run has no record of it; that is no pass",
    "otherwise": "fails as gravely as before in another way",
    "fixed": "breaks less than before, or nothing",
    "new": "was not judged by the earlier run",
}

LISTED: Final = 20
"""Cases of a group that JSON lists; how many more there are ``cases`` says."""


class Group(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Changes of one kind, backend, operation, clause, outcomes and cause; ``listed`` are some of the ``cases``."""

    kind: Kind
    backend: str
    op: str
    clause: str | None
    words: str
    cases: int
    listed: tuple[str, ...]
    detail: str | None = None
    cause: Cause | None = None


def groups(comparison: Comparison, causes: Causes) -> list[Group]:
    """Return the changes of two runs as groups, in the order in which they are looked at."""
    found: list[Group] = []
    for (_, backend, op, clause, words), changes in grouped(comparison.changes):
        parted: dict[tuple[str, str] | None, list[int]] = {}
        for number, one in enumerate(changes):
            cause = causes.get((one.backend, one.case))
            parted.setdefault((cause.sort, cause.says) if cause else None, []).append(number)
        for numbers in parted.values():
            first = changes[numbers[0]]
            found.append(
                Group(
                    kind=first.kind,
                    backend=backend,
                    op=op,
                    clause=clause,
                    words=words,
                    cases=len(numbers),
                    listed=tuple(changes[number].case for number in numbers[:LISTED]),
                    detail=first.last.detail,
                    cause=causes.get((first.backend, first.case)),
                )
            )
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.backend, one.op))


def sentence(comparison: Comparison) -> str:
    """Return what differs in one sentence."""
    counts = {kind: len(comparison.of(kind)) for kind in KINDS}
    told = [f"{count:,} {HEADINGS[kind].lower()}" for kind, count in counts.items() if count]
    alike = f"{sum(comparison.alike.values()):,} came out alike"
    return f"{', '.join(told)}; {alike}" if told else f"nothing changed; {alike}"
