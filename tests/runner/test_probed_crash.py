from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.cli import main
from conformance.runner.backend.conversation import seconds_of

DIES = """
import os
from conformance.backends.reference import Reference

class Dies(Reference):
    name = "dies"
    claims = {"broadcast": {"world": ["1", "2", "3"]}}

    def broadcast(self, blocks, **attributes):
        if len(blocks) > 3:
            os.abort()
        return super().broadcast(blocks, **attributes)
"""


@pytest.mark.slow  # some 20 processes that end
def test_a_process_that_dies_outside_its_claims_leaves_the_log_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("dies.py").write_text(DIES)
    main(["run", "-b", "dies:Dies", "--op", "broadcast", "--suite", "collectives", "--examples", "10", "-o", "out"])
    assert "was changed while the run went on" not in capsys.readouterr().out
    assert b'"seconds":0,' not in Path("out/run.jsonl").read_bytes()


def test_no_answer_takes_a_number_of_seconds_that_is_read_as_it_is_written() -> None:
    assert msgspec.json.encode(seconds_of([])) == b"0.0"
