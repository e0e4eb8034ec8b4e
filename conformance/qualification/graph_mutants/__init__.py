"""Wrong implementations of graphs, which the suite ``graphs`` has to find, and a right one on NumPy.

Here: mistakes by what they are about: values, storage, fusing, refusals.
Not here: changes that nobody wrote (``auto``), and mistakes in schedules (``schedule_mutants``).
"""

from __future__ import annotations

import inspect
from typing import Final

from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array
from conformance.judging.graphs.subject import GraphSubject, graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.verdict import Verdict
from conformance.qualification.graph_mutants import excess, faults, fusion_faults, refusal_faults, storage_faults
from conformance.qualification.graph_mutants.eager import Eager
from conformance.specs.graphs import CLAUSES

_BASES: Final = ("Eager", "Alu", "Reduces", "Moves", "Constants", "Cached")

MUTANTS: Final[dict[str, type[Eager]]] = {
    name: found
    for module in (excess, faults, fusion_faults, refusal_faults, storage_faults)
    for name, found in vars(module).items()
    if inspect.isclass(found) and issubclass(found, Eager) and name not in _BASES
}
"""Every mutant by name."""


class Walked(Reference):
    """The reference with graphs evaluated by a walk of their own."""

    def __init__(self, walk: type[Eager]) -> None:
        """Run graphs by that walk."""
        self._evaluation = walk

    def run_graph(self, case: GraphCase) -> dict[str, Array]:
        """Run a legal case; what has no meaning is refused, but by the clause that the walk leaves ``unrefused``."""
        rejected = graph_meaning(case).rejected
        if rejected is not None and rejected.clause != getattr(self._evaluation, "unrefused", ""):
            raise rejected
        return dict(self._evaluation(case).run())


def observed(walk: type[Eager], case: GraphCase) -> Observation:
    """Return what an implementation gives for a case, or raises."""
    return Walked(walk).graph(case)


def tried(walk: type[Eager], subject: GraphSubject) -> Verdict:
    """Return the verdict on what an implementation gives for a case."""
    return judge_graph(subject, observed(walk, subject.case), CLAUSES, STANDARD)
