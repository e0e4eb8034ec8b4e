"""Known failures: replayed and not shrunk, covering what they explain, and never green by accident."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case, case_id
from conformance.runner import hypothesis_shrinker
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.known.failures import too_often
from conformance.runner.log.reading import read
from conformance.runner.records.known import Flaky, Known
from conformance.runner.records.record import CaseRecord, Failure, Footer
from conformance.runner.shrinking import minimise
from conformance.runner.shrinking.shrinking import SmallestCase
from conformance.runner.worker.in_process import InProcess
from tests.runner.conftest import broadcast_of
from tests.runner.known.known_broadcast import CASE, Silent, entry, run


class Anywhere(Silent):
    """Sends nothing, and takes every root."""

    def broadcast(self, blocks: Any, *, root: int, groups: Any) -> Any:
        return super().broadcast(blocks, root=0, groups=groups)


def test_a_known_failure_is_replayed_not_shrunk_and_does_not_fail_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: Any) -> None:
        raise AssertionError("a known failure was shrunk again")

    monkeypatch.setattr(hypothesis_shrinker, "shrink", never)
    result = run(Silent(), tmp_path, entry())
    records = read(tmp_path / "run" / "run.jsonl")
    replayed = next(record for record in records if isinstance(record, CaseRecord))
    assert (result.status, result.failures, result.unmet) == (0, (), ())
    assert (replayed.case, replayed.outcome) == (case_id(CASE), "failed")
    assert replayed.expected is not None
    assert (replayed.expected.kind, replayed.expected.state) == ("known_failure", "as_expected")
    assert replayed.expected.known == entry()
    assert replayed.observation is not None


def test_it_covers_the_failing_cases_that_break_all_it_breaks_and_names_them(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    plain = run(Anywhere(), tmp_path / "plain")
    result = run(Anywhere(), tmp_path, entry())
    (known,) = result.known
    (same,) = (failure for failure in plain.failures if failure.clause == "broadcast.C1")
    assert set(known.explains) == {*same.explains, case_id(CASE)}
    assert known.known is not None
    assert (known.clause, known.requirement, known.known.known.issue) == ("broadcast.C1", "must", entry().issue)
    assert (tmp_path / "run" / known.file).is_file()
    assert {f.clause for f in result.failures} == {f.clause for f in plain.failures} - {"broadcast.C1"}


def test_a_new_failure_beside_a_known_one_fails_the_run(tmp_path: Path) -> None:
    result = run(Anywhere(), tmp_path, entry())
    assert result.status == 1
    assert "broadcast.C3" in {failure.clause for failure in result.failures}


WRONG = [
    (
        Reference,
        {},
        "unexpected_pass",
        "passes although it is known to fail; if https://acme.example/issues/7 is mended",
    ),
    (Silent, {"clause": "collective.C1"}, "changed", "is failed by broadcast.C1 where the entry expects failed by"),
    (Silent, {"outcome": "crashed"}, "changed", "where the entry expects crashed by broadcast.C1"),
    (Silent, {"expiry": date(2026, 1, 31)}, "expired", "has an entry that expired on 2026-01-31"),
]


@pytest.mark.parametrize(("backend", "changes", "state", "says"), WRONG, ids=["passes", "clause", "outcome", "expired"])
def test_what_is_not_as_expected_fails_the_run(
    tmp_path: Path, backend: type[Reference], changes: dict[str, Any], state: str, says: str
) -> None:
    result = run(backend(), tmp_path, entry(**changes), examples=20)
    (record,) = result.unmet
    assert result.status == 1
    assert record.expected is not None
    assert (record.expected.state, record.expected.met) == (state, False)
    assert says in (record.expected.says or "")
    assert record.expected.where.endswith(":9" if state == "expired" else ":2")


def test_a_failure_in_another_way_is_a_new_failure(tmp_path: Path) -> None:
    result = run(Silent(), tmp_path, entry(outcome="crashed"))
    assert result.known == ()
    assert "broadcast.C1" in {failure.clause for failure in result.failures if case_id(CASE) in failure.explains}


def test_entries_of_other_backends_and_operations_are_left_alone(tmp_path: Path) -> None:
    result = run(Reference(), tmp_path, entry(backend="reference"))
    assert (result.status, result.replayed) == (0, ())


def test_an_entry_is_replayed_whichever_suite_its_clause_belongs_to(tmp_path: Path) -> None:
    result = run(Silent(), tmp_path, entry(), suites=("aliasing",))
    assert [record.case for record in result.replayed] == [case_id(CASE)]


FLAKES = {"now and then": (range(0, 30, 3), "as_expected"), "once": (range(7, 8), "as_expected")}
FLAKES |= {"never": (range(0), "unexpected_pass"), "always": (range(30), "too_often")}
FLAKES |= {"all but once": (range(29), "too_often")}


@pytest.mark.parametrize(("fails", "state"), FLAKES.values(), ids=FLAKES)
def test_a_flake_fails_at_least_once_and_no_more_often_than_its_evidence(
    tmp_path: Path, fails: range, state: str
) -> None:
    result = run(Silent(fails), tmp_path, entry(flaky=Flaky(failed=10, of=30)), examples=1)
    (record,) = result.replayed
    assert record.expected is not None
    assert (record.expected.kind, record.expected.state) == ("known_flake", state)
    assert record.expected.failed == len(fails)
    assert (result.unmet == ()) is (state == "as_expected")


def test_too_often_is_the_exact_test_of_fisher() -> None:
    assert [too_often(failed, Flaky(failed=1, of=20)) for failed in (1, 10, 11, 12)] == [False, False, True, True]
    assert [too_often(failed, Flaky(failed=2, of=5)) for failed in (4, 5)] == [False, True]


def test_a_resumed_run_replays_known_failures_and_counts_each_case_once(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    first = run(Silent(), tmp_path / "whole", entry())
    log = tmp_path / "whole" / "run" / "run.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:30]))
    again = run(Silent(), tmp_path / "whole", entry(expiry=date(2026, 1, 31)), resume=True)
    cases = [record.case for record in read(log) if isinstance(record, CaseRecord)]
    assert (first.status, again.status) == (0, 1)
    assert len(cases) == len(set(cases))
    assert first.counts == again.counts


def test_other_smallest_cases_of_a_failure_are_stored() -> None:
    cases = [broadcast_of(first) for first in (1, 2)]
    backend = BackendRun("it", InProcess(BackendSpec("it", ()), backend=Silent()), lambda record: None)
    found = minimise._Way(
        {
            case_id(c): minimise._Confirmed(SmallestCase(c, backend.queries.ask(c), minimal=True), alone=None)
            for c in cases
        }
    )
    stored: dict[str, Case] = {}
    failure = minimise._failure(backend, "broadcast", found, lambda name, case: str(stored.setdefault(name, case)))
    assert {failure.case, *failure.alike} == stored.keys() == {case_id(case) for case in cases}


def test_a_spent_time_budget_leaves_known_failures_not_run(tmp_path: Path) -> None:
    known: tuple[Known, ...] = (entry(),)
    result = run(Silent(), tmp_path, *known, time_budget=0.0)
    assert result.status == 3
    assert [record.outcome for record in result.replayed] == ["not_run"]
    assert not any(isinstance(record, Failure) for record in read(tmp_path / "run" / "run.jsonl"))
    assert isinstance(read(tmp_path / "run" / "run.jsonl")[-1], Footer)
