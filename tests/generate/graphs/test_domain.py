"""Drawn graph cases are well formed, and their meanings pass by themselves."""

from __future__ import annotations

import pytest

from conformance.backends.reference import Reference
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.validate import validate_graph
from conformance.generate.graphs.graphs import illegal, random_graphs, several
from conformance.generate.graphs.motifs import MOTIFS, Motif
from conformance.generate.graphs.packing import packed
from conformance.generate.row_search import nth_row
from conformance.generate.tables.graphs import TABLE_OF_GRAPHS
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.runner.draws import numbered
from conformance.specs.graphs import CLAUSES


@pytest.mark.parametrize(
    "domain",
    [random_graphs(), several(), illegal()],
    ids=["random", "several", "illegal"],
)
def test_the_oracle_passes_its_own_cases(domain: object) -> None:
    for number in range(40):
        case, _ = numbered(domain, 0, number)  # type: ignore[arg-type]  # a domain of graph cases
        subject = graph_meaning(case)
        assert bool(validate_graph(case)) == (not subject.legal)
        verdict = judge_graph(subject, Reference().graph(case), CLAUSES, STANDARD)
        assert verdict.outcome == "passed", verdict.detail


@pytest.mark.parametrize("motif", MOTIFS, ids=lambda each: each.name)
def test_motifs_are_legal_on_every_seed(motif: Motif) -> None:
    for number in range(3):
        subject = graph_meaning(numbered(motif.cases, 0, number)[0])
        assert subject.legal
        assert judge_graph(subject, Reference().graph(subject.case), CLAUSES, STANDARD).outcome == "passed"


def test_rows_side_by_side_have_the_values_that_they_have_alone() -> None:
    rows = [nth_row(TABLE_OF_GRAPHS, 0, number).case for number in range(8)]
    values = graph_meaning(packed(rows)).expected
    for at, case in enumerate(rows):
        for key, meant in graph_meaning(case).expected.items():
            assert values[f"{key}_{at}"].array.tobytes() == meant.array.tobytes()
