"""Mutants are many, small and documented: one for every clause, found by nothing but their place."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import pytest

from conformance.backends.base import Backend
from conformance.backends.opencl import OpenCL
from conformance.backends.reference import Reference
from conformance.qualification.graph_mutants import MUTANTS as GRAPHS
from conformance.qualification.judged_mutant import tells_little
from conformance.qualification.mutants import backends_in, mutants
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.sharded_mutants import MUTANTS as SHARDED
from conformance.qualification.typed_mutants import MUTANTS as TYPED
from conformance.qualification.violations import violations
from conformance.specs import every_clause
from conformance.specs.schedules import CLAUSE_BY_ID


def test_every_clause_has_a_mutant_and_every_mutant_a_clause() -> None:
    assert {mutant.breaks for mutant in mutants()} == set(every_clause())


def test_a_clause_that_every_operation_shares_has_one_mutant_and_all_others_a_clause_of_their_own() -> None:
    shared = [mutant.breaks for mutant in mutants() if tells_little(mutant.breaks)]
    assert sorted(shared) == sorted(clause for clause in every_clause() if tells_little(clause))


def test_names_are_unique() -> None:
    names = [mutant.__name__ for mutant in mutants()]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.__name__)
def test_a_mutant_is_small_and_says_what_it_stands_for(mutant: type[Backend]) -> None:
    doc = inspect.getdoc(mutant) or ""
    assert issubclass(mutant, Reference)
    assert doc.endswith(".")
    reports = [
        report.split(" ")[0].split("/162")[0].removesuffix("-thread").removesuffix("-review")
        for report in getattr(mutant, "corpus", ())
    ]
    assert all(report in doc for report in reports)
    assert len(inspect.getsource(mutant).splitlines()) <= 25


def test_every_public_report_has_a_mutant_or_a_reason_why_not() -> None:
    rows = (*mutants(), *schedule_mutants(), *violations())
    stood_for = {report for row in rows for report in getattr(row, "corpus", ())}
    assert stood_for <= {report.id for report in CORPUS}
    shown = {report.id for report in CORPUS if report.ways}
    assert {report.id for report in CORPUS if report.missing is None} == stood_for | shown
    assert {name for report in CORPUS for name in report.ways} <= {*GRAPHS, *SHARDED, *TYPED}


def test_the_table_of_public_reports_has_a_row_of_each_with_its_mutants_or_what_is_lacking() -> None:
    rows = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text(encoding="utf-8").splitlines()
    for report in CORPUS:
        (row,) = (row for row in rows if row.startswith(f"| [{report.id}]({report.url}) |"))
        assert all(f"`{name}`" in row for name in report.ways)
        assert (report.missing or "") in row


def test_private_abstract_and_borrowed_classes_are_no_mutants() -> None:
    module = ModuleType("somewhere")
    own = type("Own", (Reference,), {"__module__": "somewhere"})
    module.Own, module.Reference, module._Own = own, Reference, own
    assert backends_in(module) == (own,)


@pytest.mark.parametrize("mutant", schedule_mutants(), ids=lambda mutant: mutant.__name__)
def test_an_engine_that_schedules_wrongly_is_small_too(mutant: type[Backend]) -> None:
    doc = inspect.getdoc(mutant) or ""
    assert issubclass(mutant, OpenCL)
    assert mutant.breaks in CLAUSE_BY_ID
    assert doc.endswith(".")
    assert all(report.split(" ")[0].removesuffix("b") in doc for report in getattr(mutant, "corpus", ()))
    assert len(inspect.getsource(mutant).splitlines()) <= 30
