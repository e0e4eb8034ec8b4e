"""Comparison of what several steps that wait for one started collective return."""

from __future__ import annotations

from conformance.cases.observation import Observation
from conformance.judging.numbers.admissible import admissible
from conformance.judging.subject import Subject


def as_first(subject: Subject, seen: Observation) -> str | None:
    """Demand of every result what ``admissible`` does, and of those of one handle the same bits on every rank.

    Each may be right for some order of terms, and yet be computed anew and in another order than the first.
    """
    problem = admissible(subject, seen)
    if problem:
        return problem
    firsts: dict[str, str] = {}
    waits = (step for step in subject.case.program.steps if step.op == "done")
    for handle, name in (pair for step in waits for pair in zip(step.inputs, step.outputs, strict=True)):
        if name not in seen.results:
            continue
        first = firsts.setdefault(handle, name)
        for rank, (one, other) in enumerate(zip(seen.results[first], seen.results[name], strict=True)):
            if one != other and (name not in subject.expected or subject.expected[name][rank] is not None):
                return f"{name} on rank {rank} has other bits than {first}, the result of the first done"
    return None
