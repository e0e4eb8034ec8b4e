"""Slices are files that somebody may have changed or mixed up: what does not belong together is named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.backends.reference import Reference
from conformance.cli.reporting import report_of
from conformance.report.inputs.run import read_run
from conformance.runner.log.reading import LogError, read
from conformance.runner.records.record import CaseRecord
from conformance.runner.slices.joining import join_slices
from tests.faults import slices
from tests.runner.slices.test_slices import PLAN, Wrong
from tests.runner.slices.test_slices import slices as slices_of

SMALL = replace(PLAN, ops=("broadcast",), examples=20)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    slices_of(Wrong, folder, 2, SMALL)
    return folder


def test_a_part_of_a_run_is_not_the_whole_one_because_a_note_says_so(made: Path, tmp_path: Path) -> None:
    first = Path(shutil.copytree(made / "1-of-2", tmp_path / "first"))
    slices.note(of=1)(first, first)
    with pytest.raises(LogError, match="is of slice 1/1, and the log of '1/2'"):
        join_slices([first])


def test_what_is_wrong_is_no_refusal_because_a_note_says_so(tmp_path: Path) -> None:
    folders = slices_of(Wrong, tmp_path, 1, replace(PLAN, ops=("broadcast",), examples=10))
    every = [one.case for one in read(folders[0] / "run.jsonl") if isinstance(one, CaseRecord)]
    slices.note(refused={"it": every})(folders[0], folders[0])
    with pytest.raises(LogError, match="no record of the log says so"):
        join_slices(folders)


def test_a_slice_alone_is_reported_as_a_part_of_a_run(tmp_path: Path) -> None:
    folders = slices_of(Reference, tmp_path, 2, replace(PLAN, ops=("broadcast",), examples=20))
    for reported in (folders[:1], folders):
        (backend,) = report_of(reported).backends
        assert (backend.verdict, backend.complete) == ("incomplete", False)
    assert read_run(folders[0]).why_incomplete == "it is slice 1/2 of a run; `conformance merge` joins all of them"
