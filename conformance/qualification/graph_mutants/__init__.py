"""Wrong implementations of graphs, which the suite ``graphs`` has to find, and a right one on NumPy."""

from __future__ import annotations

import inspect
from typing import Final

from conformance.backends.exceptions import rank_error
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import GraphSubject, graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.verdict import Verdict
from conformance.qualification.graph_mutants import excess, faults, fusion_faults, storage_faults
from conformance.qualification.graph_mutants.eager import Eager
from conformance.runner.draws import numbered
from conformance.specs.graphs import CLAUSES
from conformance.specs.graphs.domain.cases import graph_cases

_BASES: Final = ("Eager", "Alu", "Reduces", "Moves", "Constants", "Cached")

MUTANTS: Final[dict[str, type[Eager]]] = {
    name: found
    for module in (excess, faults, fusion_faults, storage_faults)
    for name, found in vars(module).items()
    if inspect.isclass(found) and issubclass(found, Eager) and name not in _BASES
}
"""Every mutant by name."""

LONGEST: Final = 3000
"""Nodes of a case that is tried, at most: longer ones take a mutant in Python seconds."""


def tried(walk: type[Eager], subject: GraphSubject) -> Verdict:
    """Return the verdict on what an implementation gives for a legal case."""
    try:
        seen = Observation(results={key: (from_array(array),) for key, array in walk(subject.case).run().items()})
    except Exception as error:  # noqa: BLE001 - whatever a mutant raises is its observation
        seen = Observation(errors=(rank_error(error),))
    return judge_graph(subject, seen, CLAUSES, STANDARD)


def killed(examples: int, seed: int = 0) -> dict[str, tuple[int, str]]:
    """Return, for each mutant that a run of so many cases finds, how many that took and the clause to blame.

    The right implementation is tried beside them; its name is there if a case refuses it.
    """
    found: dict[str, tuple[int, str]] = {}
    domain = graph_cases()
    for number in range(examples):
        case: GraphCase = numbered(domain, seed, number)[0]
        subject = graph_meaning(case)
        if not subject.legal or len(case.graph.nodes) > LONGEST:
            continue
        every: dict[str, type[Eager]] = {"Eager": Eager, **MUTANTS}
        for name, walk in every.items():
            verdict = None if name in found else tried(walk, subject)
            if verdict is not None and verdict.outcome in ("failed", "errored") and verdict.blame is not None:
                found[name] = number + 1, verdict.blame.id
    return found
