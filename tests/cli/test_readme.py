"""What the manual shows is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Conformance

README = (Path(__file__).parents[2] / "README.md").read_text()


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the file of the backend of the manual, in the current folder."""
    found = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert found is not None
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "acme.py").write_text(found.group(1))
    return tmp_path / "acme.py"


def test_the_backend_of_the_manual_has_at_most_40_lines(acme: Path) -> None:
    assert len(acme.read_text().splitlines()) <= 40


@pytest.mark.usefixtures("acme")
def test_the_backend_of_the_manual_passes_a_smoke_test(conformance: Conformance) -> None:
    smoke = conformance("smoke", "-b", "acme:Acme")
    assert smoke.status == 0, smoke


@pytest.mark.slow
@pytest.mark.usefixtures("acme")
def test_the_backend_of_the_manual_conforms_within_its_claims(conformance: Conformance) -> None:
    ended = conformance("run", "-b", "acme:Acme", "--op", "all_reduce,broadcast", "--examples", 150, "-o", "out")
    assert ended.status == 0, ended
