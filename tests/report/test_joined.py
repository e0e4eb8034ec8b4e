"""Findings of one cause are one, however they end where a person explained them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from conformance.report.error import ReportError
from conformance.report.failures.explained_findings import explained
from conformance.report.failures.findings import findings
from conformance.report.failures.shared_causes import BackendFinding, joined, one_framework
from conformance.report.inputs.explanations import Explanation, Searches, explains, read_explanations
from conformance.runner.records.record import Failure

CHECKED = {"frame": "1.0", "mode": "checked"}
FREE = {"frame": "1.0", "mode": "free"}
TOLD = Explanation(backends=("a", "b"), causes=("any",), sentence="So.", owner="Ann", expiry=date(2999, 12, 31))


def failure(backend: str, clause: str = "op.C1", detail: str = "1 of 1 elements differ: 2", **more: object) -> Failure:
    case = f"op/int32-2/{clause}"
    told = Failure(
        backend=backend, op="op", clause=clause, requirement="must", outcome="failed", case=case, file="cases/x.json",
        detail=detail, minimal=True, explains=(case, f"op/int8-2/{backend}"),
    )  # fmt: skip
    return msgspec.structs.replace(told, **more)


def found(
    one: Failure, description: dict[str, str] = CHECKED, explanation: Explanation | None = None
) -> BackendFinding:
    ((finding, members),) = findings([one], [], {})
    return BackendFinding(finding, one.backend, description, members, explanation)


def test_one_case_that_two_ways_fail_with_the_same_elements_is_one_finding() -> None:
    (one,) = joined([found(failure("a")), found(failure("b"), FREE)])
    assert (one.finding.backend, one.finding.others, one.finding.cases) == ("a", ("b",), 3)


@pytest.mark.parametrize(
    "changed",
    [
        {"detail": "1 of 1 elements differ: 3"},
        {"case": "op/int32-2/another"},
        {"clause": "op.C2"},
        {"requirement": "should"},
        {"outcome": "crashed", "error": "SIGSEGV"},
        {"outcome": "errored", "error": "ValueError", "detail": "raised ValueError: no"},
    ],
)
def test_another_value_case_clause_or_end_is_another_finding(changed: dict[str, object]) -> None:
    assert len(joined([found(failure("a")), found(failure("b", **changed), FREE)])) == 2  # type: ignore[arg-type]


def test_two_implementations_are_two_findings_whatever_they_fail() -> None:
    other = {"frame": "2.0", "mode": "free"}
    assert len(joined([found(failure("a")), found(failure("b"), other)])) == 2
    assert not one_framework({"frame": "1.0"}, {"frame": "2.0"})
    assert not one_framework({**CHECKED, "threads": "1"}, FREE)


def test_one_message_of_two_ways_is_one_finding_in_whatever_case() -> None:
    error = {"outcome": "errored", "error": "TypeError"}
    first = failure("a", detail="rank 0 raised TypeError: 3 takes no list", **error)
    second = failure("b", "op.C7", "rank 1 raised TypeError: 5 takes no list", case="op/int8-4/1", **error)
    (one,) = joined([found(first), found(second, FREE)])
    assert one.finding.clauses == ("op.C1", "op.C7")


def test_the_operations_are_those_that_the_smallest_cases_end_in() -> None:
    drawn = [failure("a", op="permute", case=f"{case}/int32-2/1") for case in ("broadcast", "send+recv", "graph_3_1")]
    (one,) = joined([found(each) for each in drawn[:1]])
    assert one.finding.ops == ("broadcast",)
    assert [finding.ops for finding, _ in findings(drawn[1:], [], {})] == [("permute", "recv")]


def test_one_explanation_joins_clauses_and_ends() -> None:
    error = {"outcome": "errored", "error": "TypeError", "detail": "raised TypeError: no"}
    members = [failure("a"), failure("a", "op.C2"), failure("a", "op.C3", **error)]
    (one,) = joined([found(each, explanation=TOLD) for each in members])
    assert (one.finding.clauses, one.finding.outcome) == (("op.C1", "op.C2", "op.C3"), "failed")
    assert (one.finding.explanation, one.finding.others) == ("So.", ())
    apart = [replace(found(each), explanation=TOLD if each.clause == "op.C1" else None) for each in members[:2]]
    assert len(joined(apart)) == 2


def test_an_expression_that_is_looked_for_without_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.report.inputs.explanations.PATIENCE", 0.2)
    endless = msgspec.structs.replace(TOLD, shows=("(a+)+$",))
    with pytest.raises(ReportError, match=r"shows '\(a\+\)\+\$' takes more than 0.2 s to look for"):
        explains(endless, ["a" * 40 + "b"])


def test_all_searches_of_a_report_together_have_an_end() -> None:
    searches = Searches(left=0.3)
    slow = msgspec.structs.replace(TOLD, shows=("(a+)+$",))
    texts = ["a" * length + "b" for length in range(10, 60)]
    with pytest.raises(ReportError, match="to look for"):
        list(map(partial(explains, slow, searches=searches), ([text] for text in texts)))
    assert searches.left < 0.3


@pytest.mark.parametrize(
    ("shows", "says"),
    [
        (["x" * 4000] * 300, "over the limit of 1 MiB"),
        (["(?i)" + "[\x01-\U0010ffff]" * 200] * 10, "take more than 0.5 s"),
    ],
    ids=["long", "dear to read"],
)
def test_a_file_of_explanations_has_an_end(
    shows: list[str], says: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("conformance.report.inputs.explanations.IN_ALL", 0.5)
    said = {**msgspec.to_builtins(TOLD), "shows": shows}
    (tmp_path / "explanations.json").write_bytes(msgspec.json.encode([said]))
    with pytest.raises(ReportError, match=says):
        read_explanations(tmp_path / "explanations.json")


def test_an_explanation_holds_where_every_case_shows_what_it_is_about() -> None:
    about = msgspec.structs.replace(TOLD, shows=("float8", "groups"))
    assert explains(about, ["x: float8_e5m2 over i, groups {0 1}"])
    assert not explains(about, ["x: float8_e5m2 over i, groups {0 1}", "x: float8_e5m2 over i"])
    assert not explains(about, [])


def test_explanations_tell_the_cases_of_one_cause_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.report.failures.explained_findings.shown", lambda _, each: each.case)
    cases = [failure("a", case=f"{op}/int32-2/1") for op in ("gather", "shuffle", "gather", "scan")]
    cause = findings(cases, [], {})[0][0].cause
    told = [msgspec.structs.replace(TOLD, causes=(cause,), shows=(op,), sentence=op) for op in ("shuffle", "gather")]
    run: Any = SimpleNamespace(directory=Path())
    column: Any = SimpleNamespace(
        entry=SimpleNamespace(name="a", description=CHECKED), label="a", records=(), sequences=(),
        failures=[(run, each) for each in cases],
    )  # fmt: skip
    seen = {
        one.explanation and one.explanation.sentence: len(one.members) for one in explained(column, told, Searches())
    }
    assert seen == {"gather": 2, "shuffle": 1, None: 1}
    (all_,) = explained(column, [msgspec.structs.replace(TOLD, causes=(cause,))], Searches())
    assert len(all_.members) == 4
