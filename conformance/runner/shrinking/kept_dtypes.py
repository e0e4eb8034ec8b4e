"""Whether a smallest case that kept a dtype of its own stands for cases of other dtypes."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import telling
from conformance.runner.reductions.neutral_moves import PLAIN_DTYPES


def of_another_dtype(smaller: str, other: str, judged: Verdict, clauses: Sequence[AnyClause]) -> bool:
    """Return whether a smallest case, by its id, is about dtypes that another case has none of.

    No clause names a dtype, and shrinking goes to a plain one where the failure does: what kept another, breaks nothing
    that tells and says nothing of its cause stands for no case of other dtypes.
    """
    silent = judged.outcome != "errored" and not telling(judged, clauses)
    return silent and not dtypes_of(smaller) <= dtypes_of(other) | {*PLAIN_DTYPES, "none"}


def dtypes_of(name: str) -> set[str]:
    """Return the dtypes that the id of a case names."""
    return set(name.split("/")[1].rpartition("-")[0].split("+")) if name.count("/") == 2 else set()
