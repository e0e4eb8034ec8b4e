from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends.discovery import find
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.workers import Worker
from tests.faults.fault import Fault
from tests.faults.methods import TABLE
from tests.runner.conftest import broadcast_of

HEAD = """from conformance.backends.reference import Reference
class _Mute(Exception):
    def __str__(self): raise RuntimeError("no words")
class Odd(Reference):
    """


@pytest.mark.parametrize("fault", TABLE.faults, ids=[fault.done for fault in TABLE.faults])
def test_what_a_method_does_wrong_is_told(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, outcome, says = fault.data
    (tmp_path / "odd_vendor.py").write_text(HEAD + source + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("conformance.runner.worker.session.STOP", 1.0 if "sleep" in source else 60.0)
    with Worker(find("odd_vendor:Odd")) as worker:
        answer, ready = worker.ask(broadcast_of(7)), worker.ready
    judged = verdict(meaning(broadcast_of(7)), answer, ready.terms)
    assert judged.outcome == outcome, judged
    told = worker.disorder if "close" in source else judged.detail
    assert says in told
    assert len(told) < 4000
