"""Results of which several values are right, held against the bounds of the program's graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.cases.observation import Observation
from conformance.judging.graphs.values import beyond, off, unlike
from conformance.judging.subject import Subject
from conformance.reference.graph.evaluate import BoundedValue

Problems = dict[str, str]
"""Results, and one line of why each is wrong."""


Known = Mapping[str, Sequence[BoundedValue | None]]
"""What results mean on each rank by the program's graph."""


def out_of_bounds(subject: Subject, seen: Observation, known: Known) -> Problems:
    """Return the results that are not within the bounds that are ``known``, and where they are not.

    What is folded from inputs alone is judged by trees.
    """
    found: Problems = {}
    for name, each in known.items():
        for rank, (meant, given) in enumerate(zip(each, seen.results.get(name, ()), strict=False)):
            if meant is None or given is None or name in subject.folds.by_result or name not in subject.open:
                continue
            if unlike(meant, given) is not None:
                continue  # That is told by the comparison with what is expected.
            problem = off(meant, given, subject.numbers) or beyond(meant, given, subject.numbers)
            if problem:
                found.setdefault(name, f"{name} on rank {rank}: {problem}")
    return found
