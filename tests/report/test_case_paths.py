"""A path out of a log is followed where it lies in the run, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.report.failures.case_example import inside, read_example


@pytest.mark.parametrize("file", ["a\0b", "\ud800", "../up.json", "/etc/passwd", "", ".", "loop", "a/" * 3000 + "b"])
def test_what_is_no_path_inside_the_run_is_said(tmp_path: Path, file: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    shown = read_example(tmp_path, file, "broadcast/int32-2/0123456789ab")
    assert shown.problem is not None
    assert "\n" not in shown.problem


def test_a_file_of_the_run_is_inside(tmp_path: Path) -> None:
    assert inside(tmp_path, "cases/a.json") == tmp_path.resolve() / "cases" / "a.json"
