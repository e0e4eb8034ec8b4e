"""A file to write that is a pipe, a device or a folder holds up nobody, and is named."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from conformance.cases import whole_file
from conformance.cases.whole_file import write_into
from tests.faults import outputs
from tests.faults.fault import Fault
from tests.faults.test_files import ended, folder
from tests.faults.test_foreign import made, marks

__all__ = ["folder", "made"]

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pipes and devices as Linux has them")


@marks(outputs.TABLE.faults)
def test_a_file_to_write_that_is_none(
    made: Path, folder: Path, fault: Fault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, make, says = fault.data
    shutil.copytree(made / "out", folder / "out")
    make(folder / "file")
    if words[0] == "run":
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "file")
    status, out, err = ended(capsys, *words)
    assert "Traceback" not in err
    if words[0] == "run":
        assert status == 1
        assert "reference" in out
        assert f"file could not be written: {says}; the run fails" in " ".join(out.split())
    else:
        assert (status, err.count("\n")) == (3 if "space" in says else 2, 1), err
        assert says in err


def test_a_pipe_is_written_to_as_long_as_somebody_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_file, "PATIENCE", 0.1)
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_into(tmp_path / "pipe", b"said")
    assert os.read(reader, 100) == b"said"
    with pytest.raises(OSError, match="it is a pipe that nobody reads"):
        write_into(tmp_path / "pipe", bytes(1 << 21))
    os.close(reader)


def test_a_file_is_appended_to_or_written_anew(tmp_path: Path) -> None:
    write_into(tmp_path / "a", b"one and")
    write_into(tmp_path / "a", b" two", append=True)
    assert (tmp_path / "a").read_bytes() == b"one and two"
    write_into(tmp_path / "a", b"three")
    assert (tmp_path / "a").read_bytes() == b"three"
