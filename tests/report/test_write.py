"""Writing: everything at once, over nothing that is not the report's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cases.case import case_id
from conformance.cases.codec import load
from conformance.report import (
    Report,
    ReportError,
    Run,
    read_explanations,
    read_qualification,
    write_all,
)
from conformance.report.failures.findings import script_of
from conformance.report.formats.json import parse_json


def test_a_report_is_written_and_written_again(sample_report: Report, tmp_path: Path) -> None:
    first = write_all(sample_report, tmp_path / "out")
    assert write_all(sample_report, tmp_path / "out")[:4] == first[:4]
    assert {path.name for path in first} >= {"index.html", "report.json", "report.md", "junit.xml", "badge-hasty.svg"}
    assert not list((tmp_path / "out").glob(".report-*"))


def test_the_cases_beside_the_report_are_the_failing_ones(sample_report: Report, tmp_path: Path) -> None:
    write_all(sample_report, tmp_path)
    assert sample_report.buckets
    for bucket in sample_report.buckets:
        assert case_id(load(tmp_path / bucket.file)) == bucket.case


def test_a_report_can_lie_in_the_folder_of_its_run(sample_run: Run, sample_report: Report, tmp_path: Path) -> None:
    folder = shutil.copytree(sample_run.directory, tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write_all(sample_report, folder)
    assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize("name", ["index.html", "report.json", "report.md", "junit.xml", "badge-steady.svg"])
def test_a_foreign_file_is_kept_and_nothing_is_written(sample_report: Report, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ReportError, match=f"{name} was not written by a report; move it"):
        write_all(sample_report, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("name", ["index.html", "report.json"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(sample_report: Report, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(ReportError, match=f"{name}: it is no regular file; move it"):
        write_all(sample_report, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_foreign_case_file_is_kept(sample_report: Report, tmp_path: Path) -> None:
    target = tmp_path / sample_report.buckets[0].file
    target.parent.mkdir()
    target.write_text("mine")
    with pytest.raises(ReportError, match="was not written by a report"):
        write_all(sample_report, tmp_path)
    assert target.read_text() == "mine"


def test_an_unwritable_folder_is_one_line(sample_report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match=r"cannot write .*file/report/index.html: Not a directory"):
        write_all(sample_report, tmp_path / "file" / "report")


def test_replay_commands_work_from_where_the_report_was_made(
    sample_report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_all(sample_report, Path("reports/today"))
    assert "conformance replay reports/today/cases/" in Path("reports/today/report.md").read_text()
    write_all(sample_report, tmp_path.parent / "elsewhere")
    assert str(tmp_path.parent) not in (tmp_path.parent / "elsewhere" / "index.html").read_text()


def test_a_script_by_hand_is_linked_where_none_is_made_of_the_case(sample_report: Report, tmp_path: Path) -> None:
    told = [replace(one, script="scripts/by-hand.py") for one in sample_report.findings]
    (tmp_path / "scripts").mkdir()
    (tmp_path / script_of(told[0])).write_text("")
    write_all(replace(sample_report, findings=tuple(told)), tmp_path)
    assert {one.script for one in parse_json((tmp_path / "report.json").read_bytes()).findings[1:]} == {None}
    (tmp_path / "scripts/by-hand.py").write_text("")
    write_all(replace(sample_report, findings=tuple(told)), tmp_path)
    linked = [one.script for one in parse_json((tmp_path / "report.json").read_bytes()).findings]
    assert linked[0] == script_of(told[0])
    assert set(linked[1:]) == {"scripts/by-hand.py"}


def explained(**changes: str) -> str:
    entry = {
        "backends": ["a"],
        "causes": ["it ends"],
        "sentence": "s",
        "owner": "Ann",
        "expiry": "2999-12-31",
        **changes,
    }
    return json.dumps([entry])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}", "no list of explanations"),
        ('[{"backends": ["a"]}]', "missing required field"),
        ("[", "no list of expl"),
        (explained(expiry="2020-01-31"), r"explanation 1 \(a: it ends\) expired on 2020-01-31; .* ask Ann"),
        (explained(link="javascript:alert(1)"), "must begin with https://"),
        (explained(script="../bug.py"), "Expected `str` matching regex"),
        (f"{explained()[:-1]}, {explained()[1:]}", "this cause of a is explained before"),
    ],
)
def test_malformed_explanations_are_one_line(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "e.json").write_text(content)
    with pytest.raises(ReportError, match=says):
        read_explanations(tmp_path / "e.json")


def test_qualification_is_read_or_told(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text('{"mutants": [{"name": "m", "killed": true, "clause": "x.C1", "more": 1}]}')
    assert read_qualification(tmp_path / "q.json").mutants[0].clause == "x.C1"
    with pytest.raises(ReportError, match="cannot be read"):
        read_qualification(tmp_path / "absent.json")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the chromium browser")
def test_a_permalink_opens_its_panel_and_its_search_in_a_browser(sample_report: Report, tmp_path: Path) -> None:
    write_all(sample_report, tmp_path)
    bucket = sample_report.buckets[0]
    page = (tmp_path / "index.html").as_uri()
    found = opened(f"{page}#/cell/{bucket.backend}/{bucket.op}/{bucket.clause}?q=is%3Afailing", tmp_path)
    panel = found[found.index('id="panel"') :]
    assert f"{bucket.backend}: {bucket.clause}" in panel
    assert f"conformance replay {bucket.file}" in panel
    status = re.compile(r'id="status"[^>]*>([^<]*)')
    assert status.findall(found) != status.findall(opened(page, tmp_path))


def opened(address: str, folder: Path) -> str:
    """Return a page as a browser has it."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = ["chromium", *options, f"--user-data-dir={folder / 'p'}", "--virtual-time-budget=3000", "--dump-dom"]
    return subprocess.run([*command, address], capture_output=True, text=True, timeout=600, check=True).stdout
