"""Known failures in every form of the report: with issue, owner and expiry, and apart from new ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from conformance.report import ClauseText, Report, read_run, summarise
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.junit import as_junit
from conformance.report.formats.markdown import as_markdown
from conformance.runner.records.known import Expected, Known
from conformance.runner.records.record import Failure
from tests.report.conftest import unfolded

ENTRY = Known(
    case="shift/int32-2/0123456789ab",
    backend="acme",
    clause="shift.C1",
    outcome="failed",
    issue="https://acme.example/7",
    owner="Ann <script>",
    expiry=date(2999, 12, 31),
)
MET = Expected(kind="known_failure", known=ENTRY, where="known.json:2", state="as_expected")
PASSES = msgspec.structs.replace(MET, state="unexpected_pass", says="passes although it is known to fail")

Make = Callable[..., Any]
Specification = tuple[ClauseText, ...]


@pytest.fixture
def report(tiny: Make, record: Make, specification: Specification) -> Callable[..., Report]:
    """Return the maker of the report on a known failure that covers the case ``bad``; ``new`` ones are of ``worse``."""

    def make(*, new: bool = False) -> Report:
        failing = {"outcome": "failed", "clauses": {"shift.C1": "broken", "shift.C2": "held"}, "blame": "shift.C1"}
        failing["requirement"] = "must"
        known = failure(ENTRY.case, "bad", known=MET)
        records = [record(ENTRY.case, **failing, expected=MET), record("a"), record("bad", **failing), known]
        records += [record("worse", **failing), failure("worse")] if new else []
        return summarise([read_run(tiny(*records))], specification)

    return make


def failure(case: str, *others: str, **known: Any) -> Failure:
    return Failure(
        backend="acme", op="shift", clause="shift.C1", requirement="must", outcome="failed", case=case,
        file="cases/x.json", detail="1, expected 2", minimal=False, explains=(case, *others), **known,
    )  # fmt: skip


def test_a_cell_of_known_failures_is_known_and_one_of_new_ones_fails(report: Callable[..., Report]) -> None:
    for new, state, known in ((False, "known", 2), (True, "fail", 2)):
        cells = {cell.clause: cell for cell in report(new=new).cells}
        assert cells[None].state == cells["shift.C1"].state == state
        assert cells[None].tally.known == cells["shift.C1"].tally.known == known
        assert cells["shift.C1"].tally.must == new


def test_a_known_failure_is_no_conformance_and_never_new(report: Callable[..., Report]) -> None:
    (backend,) = report().backends
    assert (backend.verdict, backend.title) == ("not_conformant", "Not conformant, known failures only")
    assert (backend.failing, backend.known, backend.known_only) == (2, 2, True)
    assert "1 of 2 must clauses is broken, all by known failures alone." in backend.why
    (backend,) = report(new=True).backends
    assert (backend.title, backend.failing, backend.known, backend.known_only) == ("Not conformant", 3, 2, False)


def test_new_and_known_failures_of_one_clause_are_two_buckets(report: Callable[..., Report]) -> None:
    first, second = report(new=True).buckets
    assert (first.known, first.cases) == (None, 1)
    assert (second.known, second.cases, second.case) == (MET, 2, ENTRY.case)


def test_every_form_shows_the_issue_the_owner_and_the_day(report: Callable[..., Report]) -> None:
    made = report()
    page = unfolded(as_html(made))
    assert 'data-known="1"' in page
    assert '<a href="https://acme.example/7" rel="noopener noreferrer">https://acme.example/7</a>' in page
    assert "Ann &lt;script&gt;" in page
    text = as_markdown(made)
    assert text.index("None that is new.") < text.index("## Known failures") < text.index("[https://acme.example/7](")
    assert "expires 2999-12-31" in text
    (skipped,) = (
        node for node in ElementTree.fromstring(as_junit(made)).iter("skipped") if "Ann" in node.get("message")
    )
    assert "https://acme.example/7" in skipped.get("message")
    assert parse_json(as_json(made).encode()).known == made.known
    assert made.known[0].expected == MET


def test_an_unexpected_pass_is_a_warning_and_a_failure_for_junit(
    tiny: Make, record: Make, specification: Specification
) -> None:
    made = summarise([read_run(tiny(record("a"), record(ENTRY.case, expected=PASSES)))], specification)
    says = f"known.json:2: {ENTRY.case} passes although it is known to fail"
    assert made.warnings == (f"acme: {says}.",)
    (found,) = ElementTree.fromstring(as_junit(made)).iter("failure")
    assert found.get("message") == says
    assert f"Attention.</strong> acme: {says}." in as_html(made)


def test_a_failure_that_one_run_calls_new_is_new(
    tiny: Make, record: Make, specification: Specification, tmp_path: Path
) -> None:
    broken = record("bad", outcome="failed", clauses={"shift.C1": "broken"}, blame="shift.C1", requirement="must")
    runs = [tiny(broken, failure("bad"), name="old"), tiny(broken, failure(ENTRY.case, "bad", known=MET), name="next")]
    made = summarise([read_run(folder) for folder in runs], specification)
    assert {cell.clause: cell.state for cell in made.cells}["shift.C1"] == "fail"
    assert not made.backends[0].known_only
