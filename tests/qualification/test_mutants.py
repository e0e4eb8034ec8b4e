"""Mutants are many, small and documented: one for every clause, found by nothing but their place."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from conformance.backends.base import Backend
from conformance.backends.opencl import OpenCL
from conformance.backends.reference import Reference
from conformance.qualification.judged_mutant import tells_little
from conformance.qualification.mutants import backends_in, mutants
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.violations import violations
from conformance.specs import every_clause
from conformance.specs.schedules import EVERY


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
    known = {report.id: report.missing for report in CORPUS}
    assert stood_for <= set(known)
    assert {report for report, missing in known.items() if missing is None} == stood_for


def test_private_abstract_and_borrowed_classes_are_no_mutants() -> None:
    module = ModuleType("somewhere")
    own = type("Own", (Reference,), {"__module__": "somewhere"})
    module.Own, module.Reference, module._Own = own, Reference, own
    assert backends_in(module) == (own,)


@pytest.mark.parametrize("mutant", schedule_mutants(), ids=lambda mutant: mutant.__name__)
def test_an_engine_that_schedules_wrongly_is_small_too(mutant: type[Backend]) -> None:
    doc = inspect.getdoc(mutant) or ""
    assert issubclass(mutant, OpenCL)
    assert mutant.breaks in EVERY
    assert doc.endswith(".")
    assert all(report.split(" ")[0].removesuffix("b") in doc for report in getattr(mutant, "corpus", ()))
    assert len(inspect.getsource(mutant).splitlines()) <= 30
