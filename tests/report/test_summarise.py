"""Counting and verdicts: what makes a backend conform, and what never may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import msgspec
import pytest
from msgspec import structs

from conformance.judging.clause import Requirement
from conformance.report import ClauseText, Explanation, Mutant, Qualification, Report, ReportError, read_run, summarise
from conformance.report.summary import Cell, ExercisedClaims
from conformance.runner.records.exercised import Exercised
from conformance.runner.records.record import BackendEntry, CaseRecord, Failure


def cell(report: Report, op: str, clause: str | None = None, backend: str = "acme") -> Cell:
    return next(c for c in report.cells if (c.backend, c.op, c.clause) == (backend, op, clause))


def failure(clause: str = "shift.C1", requirement: Requirement = "must") -> Failure:
    return Failure(
        backend="acme",
        op="shift",
        clause=clause,
        requirement=requirement,
        outcome="failed",
        case="min",
        file="cases/min.json",
        detail="1, expected 2",
        minimal=True,
        explains=("bad",),
    )


def broken(record: Callable[..., Any], *clauses: str, blame: str = "shift.C1", requirement: str = "must") -> CaseRecord:
    verdicts = {c: "broken" if c in clauses else "held" for c in ("shift.C1", "shift.C2", "family.C1")}
    return record(
        "bad", outcome="failed", clauses=verdicts, blame=blame, requirement=requirement, detail="1, expected 2"
    )


def test_a_whole_run_without_failure_conforms(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(record("a"), record("b", dtype="bool")))], specification)
    backend = report.backends[0]
    assert (backend.verdict, backend.must.held, backend.must.total, backend.cases) == ("conformant", 2, 2, 2)
    assert cell(report, "shift").tally.outcomes == {"passed": 2}
    assert sorted(cell(report, "shift", "shift.C1").by_dtype) == ["bool", "int32"]


def test_a_broken_must_does_not_conform(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    run = read_run(tiny(record("a"), broken(record, "shift.C1"), failure()))
    report = summarise([run], specification)
    assert report.backends[0].verdict == "not_conformant"
    assert cell(report, "shift").state == cell(report, "shift", "shift.C1").state == "fail"
    assert cell(report, "shift", "shift.C1").tally.must == 1
    assert [(b.clause, b.cases, b.outcome) for b in report.buckets] == [("shift.C1", 1, "failed")]


def test_a_broken_should_conforms_and_shows(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    bad = broken(record, "shift.C2", blame="shift.C2", requirement="should")
    report = summarise([read_run(tiny(record("a"), bad, failure("shift.C2", "should")))], specification)
    assert report.backends[0].verdict == "conformant"
    assert cell(report, "shift").state == "should_fail"
    assert report.backends[0].should.broken == 1


def test_a_clause_broken_only_beside_the_one_to_blame_is_shadowed(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    bad = broken(record, "shift.C1", "shift.C2", blame="shift.C1")
    report = summarise([read_run(tiny(bad, failure()))], specification)
    assert cell(report, "shift", "shift.C2").state == "shadowed"
    assert cell(report, "shift", "shift.C2").tally.shadowed == 1
    assert cell(report, "shift", "shift.C2").tally.should == 0


def test_a_failure_that_nothing_explains_blames_what_its_record_blames(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(broken(record, "shift.C1")))], specification)
    assert report.backends[0].verdict == "not_conformant"
    assert report.buckets[0].file is None
    assert any("no minimal case explains 1" in warning for warning in report.warnings)


def test_a_crash_without_any_clause_is_a_must(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    crash = record("bad", outcome="crashed", clauses={}, detail="signal 11")
    report = summarise([read_run(tiny(record("a"), crash))], specification)
    assert report.backends[0].verdict == "not_conformant"
    assert (report.buckets[0].clause, report.buckets[0].outcome) == (None, "crashed")
    assert "no clause explains" in report.backends[0].why[0]


@pytest.mark.parametrize("state", ["no footer", "not_run", "no case"])
def test_an_incomplete_run_never_conforms(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...], state: str
) -> None:
    records = {
        "no footer": [record("a")],
        "not_run": [record("a"), record("b", outcome="not_run", clauses={})],
        "no case": [],
    }[state]
    report = summarise([read_run(tiny(*records, footer=state != "no footer"))], specification)
    assert report.backends[0].verdict == "incomplete"
    assert not report.backends[0].complete
    assert state == "not_run" or report.warnings


def test_a_must_that_no_case_exercised_leaves_the_verdict_open(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(record("a", clauses={"shift.C1": "held"})))], specification)
    assert report.backends[0].verdict == "inconclusive"
    assert "Inconclusive: nothing was shown about family.C1" in report.backends[0].why[0]
    assert report.never_exercised == ("shift.C2", "family.C1")
    assert cell(report, "shift", "shift.C2").state == "not_run"


def test_a_run_of_some_operations_passes_what_was_asked_for_and_no_more(
    tiny: Callable[..., Any], record: Callable[..., Any], sample_report: Report, specification: tuple[ClauseText, ...]
) -> None:
    report = summarise([read_run(tiny(record("a")))], [*specification, *sample_report.clauses])
    assert report.backends[0].verdict == "partial"
    assert any("Not asked for: all_gather" in sentence for sentence in report.backends[0].why)


def test_unsupported_cases_are_counted_on_the_clauses_that_others_met(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    entries = tuple(
        BackendEntry(name=n, description={}, claims={"shift": {"dtype": ["bool"]}}) for n in ("acme", "other")
    )
    other = record("a", backend="other", outcome="unsupported", clauses={})
    report = summarise([read_run(tiny(record("a"), other, backends=entries))], specification)
    assert cell(report, "shift", "shift.C1", "other").state == "unsupported"
    assert report.backends[1].must.unsupported == 2
    assert report.backends[1].verdict == "inconclusive"
    said = "Inconclusive: no must clause was shown to hold; no case of shift was judged, claimed or asked for by name."
    assert report.backends[1].why[0] == said


def test_an_operation_that_no_claim_is_about_and_cases_judged_is_not_called_unclaimed(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    entry = BackendEntry(name="acme", description={}, claims={"turn": {}})
    for claimed, found in (({}, False), ({"under_claimed": True}, True)):
        run = read_run(tiny(record("a", **claimed), backends=(entry,), name=f"run{found}"))
        why = summarise([run], specification).backends[0].why
        assert ("Not claimed: shift." in why) is found


def test_an_operation_outside_the_claims_is_unsupported_even_if_never_asked(
    tiny: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    entry = BackendEntry(name="acme", description={}, claims={"other": {}})
    report = summarise([read_run(tiny(backends=(entry,)))], specification)
    assert cell(report, "shift").state == "unsupported"


def test_runs_of_one_backend_share_a_column_and_the_worst_outcome_counts(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    first = tiny(record("a"), record("b"), name="one")
    second = tiny(record("b", outcome="crashed", clauses={}), record("c"), name="two")
    report = summarise([read_run(first), read_run(second)], specification)
    assert [(b.label, b.cases, b.unstable) for b in report.backends] == [("acme", 3, 1)]
    assert report.backends[0].outcomes == {"passed": 2, "crashed": 1}


def test_operations_that_are_split_over_machines_conform_together_where_all_were_asked_somewhere(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    turned = structs.replace(specification[0], id="turn.C1", op="turn")
    entry = BackendEntry(name="acme", description={}, claims={"shift": {}, "turn": {}})
    one = read_run(tiny(record("a"), name="one", backends=(entry,)))
    other = record("b", op="turn", clauses={"turn.C1": "held", "family.C1": "held"})
    two = read_run(tiny(other, name="two", ops=("turn",), backends=(entry,)))
    verdicts = [summarise(runs, [*specification, turned]).backends[0].verdict for runs in ([one], [two], [one, two])]
    assert verdicts == ["partial", "partial", "conformant"]


def test_two_versions_of_a_backend_have_a_column_each(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    newer = BackendEntry(name="acme", description={"acme": "2"}, claims={"shift": {}})
    runs = [read_run(tiny(record("a"), name="one")), read_run(tiny(record("a"), name="two", backends=(newer,)))]
    assert [b.label for b in summarise(runs, specification).backends] == ["acme (one)", "acme (two)"]


def test_explanations_meet_their_finding_and_those_of_none_are_told(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    def explanation(cause: str, *backends: str) -> Explanation:
        day = date(2999, 12, 31)
        return Explanation(backends=backends, causes=(cause,), sentence="It truncates.", owner="Ann", expiry=day)

    broken_clause = "shift.C1 is broken: wrong"
    known = [explanation(broken_clause, "acme", "absent"), explanation("gone", "acme"), explanation("gone", "absent")]
    known.append(msgspec.structs.replace(known[1], rare=True))
    run = read_run(tiny(broken(record, "shift.C1"), failure(), suites=("collectives",), examples=300))
    report = summarise([run], specification, explanations=known)
    assert [found.explanation for found in report.findings if found.cause == broken_clause] == ["It truncates."]
    assert report.stale_explanations == (known[1],)
    assert report.buckets[0].finding == 0


def test_clauses_that_catch_no_mutant_are_listed(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    mutants = [Mutant(name="m", killed=True, clause="shift.C1"), Mutant(name="n", killed=False)]
    report = summarise([read_run(tiny(record("a")))], specification, qualification=Qualification(tuple(mutants)))
    assert report.unkilled_clauses == ("shift.C2", "family.C1")


def test_no_run_is_no_report(specification: tuple[ClauseText, ...]) -> None:
    with pytest.raises(ReportError, match="at least one run"):
        summarise([], specification)


def test_a_real_specification_is_judged_backend_by_backend(sample_report: Report) -> None:
    verdicts = {backend.name: backend.verdict for backend in sample_report.backends}
    assert verdicts["hasty"] == verdicts["sleepy"] == "not_conformant"
    assert verdicts["steady"] in {"conformant", "inconclusive"}
    for backend in sample_report.backends:
        cells = [c for c in sample_report.cells if c.backend == backend.label and c.clause is None]
        assert sum(c.tally.cases for c in cells) == backend.cases == sum(backend.outcomes.values())


def test_what_claims_promise_and_no_case_showed_is_told_by_operation(
    tiny: Callable[..., Any], record: Callable[..., Any], specification: tuple[ClauseText, ...]
) -> None:
    run = read_run(tiny(record("a")))
    missing = ("shift with dtype bool", "shift with ndim of any size", "turn at all")
    footer = structs.replace(run.footer, exercised={"acme": Exercised(promised=5, missing=missing)})
    (backend,) = summarise([replace(run, footer=footer)], specification).backends
    assert backend.exercised == ExercisedClaims(
        promised=5, exercised=2, missing={"shift": ("dtype bool", "ndim of any size"), "turn": ("at all",)}
    )
    assert any(line.startswith("2 of the 5 operations and words that it claims") for line in backend.why)
