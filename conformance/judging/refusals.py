"""Comparisons of a refusal with what a case means: who raised, and what was said."""

from __future__ import annotations

from conformance.cases.observation import Observation
from conformance.judging.cause import told_errors
from conformance.judging.clause import SILENT
from conformance.judging.compare import one_line
from conformance.judging.subject import Subject


def refused(subject: Subject, seen: Observation) -> str | None:
    """Demand that some rank raised, and of ranks that go their own ways each that cannot go on.

    Who gives no answer, or whose process ended, has raised nothing.
    """
    ranks = subject.rejected.ranks if subject.rejected else None
    silent = [rank for rank in range(subject.case.program.world) if ranks is None or rank in ranks]
    errors = [(rank, error) for rank, error in enumerate(seen.errors) if error is not None and rank in silent]
    raised = [rank for rank, error in errors if error.category != "no_answer"]
    if raised if ranks is None else len(raised) == len(silent):
        return None
    problem = next((f"rank {rank}: {one_line(error)}" for rank, error in errors if rank not in raised), None)
    if problem is None and ranks is not None:
        problem = f"rank {min(set(silent) - set(raised))} did not raise"
    return f"{problem or 'accepted without an error'}; {subject.rejected}"


def refused_by_all(subject: Subject, seen: Observation) -> str | None:
    """Demand that, where one rank raised, every rank raised; that one does is for other clauses to demand."""
    errors = seen.errors or (None,) * subject.case.program.world
    raised = [rank for rank, error in enumerate(errors) if error is not None and error.category != "no_answer"]
    silent = sorted({*range(len(errors))} - {*raised})
    if not raised or not silent:
        return None if raised else SILENT
    error = errors[silent[0]]
    return f"rank {silent[0]} {'did not raise' if error is None else f'raised {one_line(error)}'}, others did"


def blames_argument(subject: Subject, seen: Observation) -> str | None:
    """Demand that every error raised is about an argument and not about the implementation's inside.

    That a rank raises at all is for other clauses to demand: where none did nothing is said. One that gave no answer
    has raised nothing. Of one that heard of the end of another nothing is demanded, unless all say so: who was first
    had another reason.
    """
    told = [(rank, error) for rank, error in told_errors(seen.errors) if error.category != "no_answer"]
    for rank, error in told:
        if error.category != "invalid_argument":
            return f"rank {rank} raised {one_line(error)}, which is {error.category}; {subject.rejected}"
    return None if told else SILENT
