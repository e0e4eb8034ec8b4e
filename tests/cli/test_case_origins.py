"""Where a failing case came from is in the record, in the report, and shown by a replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cli.reporting import report_of
from conformance.report.formats.html import as_html
from conformance.report.formats.markdown import as_markdown
from conformance.runner.dialects import load_case, name_of, suites
from conformance.runner.drawn_again import drawn_again
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.origin import Origin, origin_of
from conformance.runner.records.record import CaseRecord, Header
from conformance.runner.worker.in_process import InProcess
from conformance.vectors.deck import deck
from tests.cli.conftest import Conformance
from tests.report.conftest import unfolded


class Wrong(Reference):
    def barrier(self, **rest: Any) -> Any:
        raise RuntimeError("no")

    def axis_index(self, **rest: Any) -> Any:
        return [block + 1 for block in super().__getattr__("axis_index")(**rest)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("origins")
    plan = Plan(ops=("axis_index",), examples=300, suites=("collectives",), profile="deck", decked=True)
    explore(plan, {"it": InProcess(BackendSpec("it", ()), backend=Wrong())}, made)
    return made


def test_a_record_of_the_deck_says_how_its_case_was_made(folder: Path) -> None:
    made = {one.name: one.origin for one in deck().cases}
    records = [record for record in read(folder / "run.jsonl") if isinstance(record, CaseRecord)]
    assert records
    assert all(record.origin == f"deck: {made[record.case]}" for record in records)


def test_a_log_says_which_deck_was_asked_and_which_commit_it_is_of(folder: Path) -> None:
    header = read(folder / "run.jsonl")[0]
    assert isinstance(header, Header)
    assert header.environment["deck"] == deck().digest[:16]
    assert len(header.environment.get("commit", "0" * 40)) == 40


def test_the_report_says_where_the_case_of_a_finding_is_from(folder: Path) -> None:
    report = report_of([folder])
    (first, *_) = report.findings
    assert first.origin is not None
    assert first.origin.startswith("deck: ")
    assert f"From {first.origin}" in as_markdown(report)
    assert first.origin in unfolded(as_html(report))


def test_a_replay_says_where_the_case_is_from(folder: Path, conformance: Conformance) -> None:
    file = next((folder / "cases").glob("*.json"))
    ended = conformance("replay", file, "-b", "reference", "--in-process")
    assert "of it from" in ended.out
    assert "deck: " in ended.out
    said = json.loads(conformance("replay", file, "-b", "reference", "--in-process", "--json").out)
    assert list(said["origins"]) == ["it"]


def test_a_case_without_a_log_beside_it_is_replayed_without_an_origin(
    folder: Path, tmp_path: Path, conformance: Conformance
) -> None:
    file = next((folder / "cases").glob("*.json"))
    (tmp_path / "alone.json").write_bytes(file.read_bytes())
    ended = conformance("replay", tmp_path / "alone.json", "-b", "reference", "--in-process")
    assert (ended.status, " from " in ended.out.splitlines()[1]) == (0, False)


@pytest.mark.parametrize("suite", list(suites()))
def test_a_draw_of_each_suite_is_made_again_by_the_command(
    suite: str, conformance: Conformance, tmp_path: Path
) -> None:
    op = next(iter(suites()[suite].domains))
    origin = Origin(suite, op, 3, 2)
    assert origin_of(str(origin)) == origin
    ended = conformance("draw", 3, 2, suite, "--op", op, "-o", tmp_path / "drawn")
    assert ended.status == 0, ended.err
    assert name_of(load_case(Path(ended.out.strip()))) == name_of(drawn_again(origin))


def test_every_record_of_a_run_of_all_suites_names_a_draw_that_makes_its_case_again(tmp_path: Path) -> None:
    ops = tuple(dict.fromkeys(next(iter(suite.domains)) for suite in suites().values()))
    plan = Plan(ops=ops, examples=10, suites=tuple(suites()))
    explore(plan, {"it": InProcess(BackendSpec("it", ()), backend=Reference())}, tmp_path)
    records = [record for record in read(tmp_path / "run.jsonl") if isinstance(record, CaseRecord)]
    drawn = {record.case: origin_of(record.origin or "") for record in records}
    several = {draws.suite for draws in plan.draws() if draws.examples > 1}  # the plainest draw of some is none
    assert several <= {origin.suite for origin in drawn.values() if origin}
    for name, origin in drawn.items():
        assert origin is not None
        assert name_of(drawn_again(origin, Reference().claims)) == name
