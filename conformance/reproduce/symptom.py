"""What a script has to show: how an observation differs from what a case means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from conformance.cases.observation import Observation
from conformance.judging.clause import AnyClause, Clause
from conformance.judging.compare import same
from conformance.judging.numbers.admissible import admissible, admissible_strictly
from conformance.judging.numbers.arithmetic import arithmetic
from conformance.judging.subject import Subject
from conformance.judging.verdict import Verdict

Kind = Literal["crashed", "timeout", "raised", "accepted", "uneven", "error", "changed", "values"]

SENTENCES: dict[Kind, str] = {
    "crashed": "the process is ended by a signal",
    "timeout": "there is no answer in time",
    "raised": "a legal program is refused",
    "accepted": "a program without meaning is not refused",
    "uneven": "some ranks refuse and others do not",
    "error": "the error is of this kind, and does not blame the argument",
    "changed": "an input is changed",
    "values": "the results are not the expected ones",
}


@dataclass(frozen=True)
class Symptom:
    """A kind of difference, with the expected and the observed results, the ranks' errors and what is compared how.

    ``several`` says that more results than the expected one are right, or that they are beside the point: then the
    script looks for the observed ones.
    ``loose`` are results in which one NaN is as good as another.
    """

    kind: Kind
    expected: dict[str, list[Any]]
    observed: dict[str, list[Any]]
    errors: dict[int, str]
    refusal: str
    several: bool
    loose: tuple[str, ...]


def symptom(subject: Subject, verdict: Verdict, seen: Observation | None) -> Symptom:
    """Return what went wrong in an answer that failed."""
    results = seen.results if seen is not None else {}
    return Symptom(
        kind=_kind(subject, verdict, seen),
        expected={name: list(blocks) for name, blocks in subject.expected.items()},
        observed={name: list(blocks) for name, blocks in results.items()},
        errors={} if seen is None else {r: error.kind for r, error in enumerate(seen.errors) if error is not None},
        refusal=str(subject.rejected) if subject.rejected is not None else "",
        several=subject.folds.order_shows or not _asks_for_expected(verdict.blame),
        loose=tuple(sorted(arithmetic(subject.case.program))),
    )


def _asks_for_expected(blame: AnyClause | None) -> bool:
    """Return whether a clause holds results against the expected ones, and not against each other or a form."""
    return not isinstance(blame, Clause) or blame.check in (same, admissible, admissible_strictly)


def _kind(subject: Subject, verdict: Verdict, seen: Observation | None) -> Kind:
    if seen is None:
        return "timeout" if verdict.outcome == "timeout" else "crashed"
    raised = {rank for rank, error in enumerate(seen.errors) if error is not None}
    if any(error is not None and error.kind == "Crash" for error in seen.errors):
        return "crashed"  # of a rank that has a process of its own
    if subject.legal and raised:
        return "raised"
    if not subject.legal and not raised:
        return "accepted"
    if not subject.legal:
        return "uneven" if len(raised) < subject.case.program.world else "error"
    inputs = {touch.input for touch in seen.touched} & subject.case.inputs.keys()
    return "changed" if inputs else "values"
