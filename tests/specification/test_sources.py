"""Every clause cites a source that is listed, and every listed source is cited."""

from __future__ import annotations

import pytest

from conformance.cases.declarations.terms import SYSTEMS
from conformance.runner.dialects import further_clauses
from conformance.specification.sources import SOURCES, SourceError, cited, described, uncited
from conformance.specs import OPS, every_clause
from conformance.specs.graphs import CLAUSE_BY_ID as GRAPHS

CITATIONS = [clause.source for clause in (*every_clause().values(), *further_clauses().values(), *GRAPHS.values())]
CITATIONS += [example.source for op in OPS.values() for example in op.examples]


def test_every_clause_and_example_cites_a_known_source() -> None:
    assert all(cited(each) for each in CITATIONS)


def test_every_source_is_cited() -> None:
    assert uncited(CITATIONS) == ()
    assert "mpi.barrier" in uncited(each for each in CITATIONS if each != "mpi.barrier")


@pytest.mark.parametrize(
    ("citation", "problem"),
    [("001", "unknown source '001'"), ("jax.psum; jax.pmode", "jax.pmode"), ("ours: ", "empty")],
)
def test_a_citation_of_nothing_is_refused_by_name(citation: str, problem: str) -> None:
    with pytest.raises(SourceError, match=problem):
        cited(citation)


def test_every_divergence_is_that_of_a_system_with_sources() -> None:
    followed = {each.source for clause in every_clause().values() for each in clause.diverges}
    assert followed <= set(SYSTEMS) <= {name.partition(".")[0] for name in SOURCES}


def test_a_citation_in_full_has_place_version_and_licence() -> None:
    assert described("tinygrad.multi: all_reduce") == (
        "tinygrad.multi (tinygrad, multi-device buffers, commit 62e5d96446, 2024-12-19: "
        "tinygrad/multi.py, all_reduce; MIT)"
    )
