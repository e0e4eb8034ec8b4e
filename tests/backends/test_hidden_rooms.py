"""A backend in a worker cannot import what knows the right answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends.discovery import find
from conformance.backends.hidden_rooms import SHOWN
from conformance.runner.worker.answers import StartError
from conformance.runner.worker.workers import Worker

PLAIN = """
from conformance.backends.base import Backend
{line}

class Vendor(Backend):
    name = "vendor"
    claims = {{"broadcast": {{}}}}

    def broadcast(self, blocks, *, root, groups):
        return blocks
"""

HIDDEN = (
    "import conformance.reference.operations",
    "from conformance.judging.verdict import judge",
    "import conformance.specs",
    "from conformance.runner.draws import numbered",
    "from conformance.backends.reference import Reference",
    "import importlib; importlib.import_module('conformance.certificate.disguise')",
)


def ready(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / "some_vendor.py").write_text(PLAIN.format(line=line))
    monkeypatch.chdir(folder)
    monkeypatch.delenv(SHOWN)
    with Worker(find("some_vendor:Vendor")) as worker:
        return worker.ready.name


@pytest.mark.parametrize("line", HIDDEN)
def test_what_knows_right_answers_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    with pytest.raises(StartError, match="is hidden from the backend that is judged"):
        ready(tmp_path, line, monkeypatch)


@pytest.mark.parametrize(
    "line", ["from conformance.cases.tensor.tensor import to_array", "import conformance.backends.shares"]
)
def test_what_a_backend_is_written_with_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    assert ready(tmp_path, line, monkeypatch) == "vendor"


def test_the_reference_itself_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SHOWN)
    with Worker(find("reference")) as worker:
        assert worker.ready.name == "reference"
