"""What has no meaning, and is refused."""

from __future__ import annotations

from conformance.judging.graphs.clause import GraphClause, Seen
from conformance.judging.graphs.subject import GraphSubject


def _illegal(subject: GraphSubject) -> bool:
    return not subject.legal


def _refused(subject: GraphSubject, found: Seen) -> str | None:
    return None if found.observation.raised else f"values were given; {subject.rejected} has none"


def _as_argument(_: GraphSubject, found: Seen) -> str | None:
    """Find a refusal that does not say that an argument was wrong."""
    for error in found.observation.errors:
        if error is not None and error.category not in ("invalid_argument", "unsupported"):
            return f"{error.kind} is no complaint about an argument: {error.message[:200]}"
    return None


REFUSED = (
    GraphClause(
        "graph.C4",
        "must",
        "Movement that leaves its source is refused: a range past an extent, an axis that is not there, a reshape to "
        "another number of elements, an expansion of an extent other than 1.",
        "stablehlo.operations: slice, transpose, reshape, broadcast_in_dim, reverse, reduce",
        _illegal,
        _refused,
    ),
    GraphClause(
        "graph.C5",
        "should",
        "The error that refuses a graph reports a wrong argument.",
        "ours",
        _illegal,
        _as_argument,
    ),
)
