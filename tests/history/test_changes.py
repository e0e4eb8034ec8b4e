"""The kinds of changes between two runs, what a comparison ends with, and its forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.history.changes import change_of
from conformance.history.error import HistoryError
from conformance.history.outline import CaseOutline, Expectation
from conformance.history.reading import read_outline
from tests.history.conftest import Lines, edited, environment, failing, lines_of, record, write

PASS = {"outcome": "passed"}
MUST = {"outcome": "failed", "blame": "o.C1", "requirement": "must"}
SHOULD = {**MUST, "requirement": "should"}
OUT = {"outcome": "unsupported"}
OWED = {"outcome": "not_run"}
KNOWN = {**MUST, "expected": Expectation("as_expected")}
EXPIRED = {**MUST, "expected": Expectation("expired")}


def seen(fields: dict[str, Any] | None) -> Any:
    return fields and CaseOutline("it", "a/b/0", **fields)


@pytest.mark.parametrize(
    ("then", "now", "kind"),
    [
        (PASS, PASS, None), (PASS, MUST, "regressed"), (PASS, SHOULD, "regressed"), (SHOULD, MUST, "regressed"),
        (MUST, PASS, "fixed"), (MUST, SHOULD, "fixed"), (MUST, {**MUST, "blame": "o.C2"}, "otherwise"),
        (MUST, {**MUST, "outcome": "crashed"}, "otherwise"), (PASS, {"outcome": "crashed"}, "regressed"),
        (PASS, OUT, "newly_unsupported"), (MUST, OUT, "newly_unsupported"), (PASS, OWED, "never_shown"),
        (PASS, {"outcome": "adapter_error"}, "never_shown"), (None, PASS, "new"), (None, MUST, "new"),
        (OUT, PASS, "new"),
        (OWED, MUST, "new"), (None, OUT, None), (OUT, OUT, None), (OUT, OWED, None), (PASS, KNOWN, None),
        (KNOWN, PASS, "fixed"), (KNOWN, EXPIRED, "regressed"), (KNOWN, MUST, "regressed"), (KNOWN, KNOWN, None),
        (PASS, {**MUST, "unrepeated": "crashed"}, "flaky"), (MUST, KNOWN, None),
    ],
)  # fmt: skip
def test_a_change_has_one_kind(then: dict[str, Any] | None, now: dict[str, Any], kind: str | None) -> None:
    assert change_of(seen(then), seen(now)) == kind


def diff(before: Lines, after: Lines, folder: Path, *options: str) -> int:
    return main(["diff", str(write(before, folder / "a")), str(write(after, folder / "b")), *options])


def test_a_regression_ends_with_1_and_what_is_missing_is_no_pass(base: Lines, tmp_path: Path) -> None:
    other = environment(processor="another")
    assert diff(base, base, tmp_path / "same") == 0
    assert diff(base, edited(base, failing(), other), tmp_path / "worse") == 1
    assert diff(edited(base, failing(), other), base, tmp_path / "better") == 0
    assert diff(base, edited(base, record({"outcome": "not_run"})), tmp_path / "owed") == 3
    assert diff(base, base[:-1], tmp_path / "killed") == 3
    assert diff(base, edited(base, record(None)), tmp_path / "gone") == 0


def test_json_has_the_counts_and_the_cause_of_a_removed_case(
    base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    diff(base, edited(base, record(None)), tmp_path, "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["counts"]["removed"], told["counts"]["regressed"]) == (0, 1, 0)
    assert told["groups"][0]["cause"]["sort"] == "unexplained"


def test_markdown_has_a_mark_a_row_a_cause_and_nothing_that_it_would_obey(
    base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = failing(clause="a|b<script>", detail="x\n\n# y")
    diff(base, edited(base, evil, environment(processor="another")), tmp_path, "-o", str(tmp_path / "c.md"))
    text = (tmp_path / "c.md").read_text()
    assert text.startswith("<!-- mesh-conformance diff -->\n## ✗ Conformance: 1 case regressed")
    assert "a\\|b\\<script\\>" in text
    assert "<script>" not in text
    assert "conformance diff" in text


BAD = [
    ([], "this file is empty|without it start the run again"),
    ([{"type": "footer", "finished": "x"}], "begins with a header"),
    ([{"type": "header", "format": 99}], "has format 99; this version reads formats up to 1"),
    ([{"type": "header", "format": 1}], "missing required field"),
]


@pytest.mark.parametrize(("lines", "says"), BAD)
def test_a_log_that_is_none_is_one_line(lines: Lines, says: str, tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=says):
        read_outline(write(lines, tmp_path))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"backend": "who"}, "its header does not name"),
        ({"outcome": "fine"}, "is no outcome"),
        ({"case": 3}, ":.*: not a record"),
    ],
)
def test_a_record_that_is_none_is_named(change: dict[str, Any], says: str, base: Lines, tmp_path: Path) -> None:
    lines = [*base[:3], {**base[3], **change}, *base[4:]]
    with pytest.raises(HistoryError, match=says):
        read_outline(write(lines, tmp_path))


def test_a_log_of_before_origins_and_digests_is_read(base: Lines, tmp_path: Path) -> None:
    older = [{key: value for key, value in line.items() if key not in ("origin", "observation")} for line in base]
    assert len(read_outline(write(older, tmp_path)).seen) == len(read_outline(write(base, tmp_path / "b")).seen)


def test_a_last_line_without_its_end_is_left_out(base: Lines, tmp_path: Path) -> None:
    folder = write(base, tmp_path)
    text = (folder / "run.jsonl").read_bytes()
    (folder / "run.jsonl").write_bytes(text[:-20])
    run = read_outline(folder)
    assert (run.foot, "never ended" in (run.why_incomplete or "")) == (None, True)
    assert len(lines_of(write(base, tmp_path / "b"))) == len(run.seen) + 3
