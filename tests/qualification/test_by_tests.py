"""Changes of the runner die by the tests of the suite, in copies of the clone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.qualification.auto import by_tests
from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.source.families import RUNNER, every_change

TEST = """
from conformance.runner.{module} import {name}


def test_it() -> None:
    {asserted}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asserted", "fate"),
    [
        ("assert case_file('a_b') == 'cases/a_b.json'", "killed"),
        ("assert case_file('a')", "survived"),
        ("assert case_file", "not_reached"),
        ("assert case_file('a_b') == 'no such file'", "not_reached"),
    ],
)
def test_a_change_is_killed_by_a_test_that_fails_on_it_alone(
    asserted: str, fate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [each for each in every_change(RUNNER) if each.function == "case_file"]
    (tmp_path / "tests").mkdir()
    text = TEST.format(module="records.record", name="case_file", asserted=asserted)
    (tmp_path / "tests/test_it.py").write_text(text)
    shutil.copytree(by_tests.clone() / "conformance", tmp_path / "conformance")
    monkeypatch.setattr(by_tests, "clone", lambda: tmp_path)
    monkeypatch.setattr(by_tests, "TESTS", (("tests/test_it.py",), ("tests/test_no.py",)))
    (row,) = by_tests.by_tests([AutoMutant("runner", changes[0])], jobs=1)
    assert row.fate == fate, row
