"""What is wrong with a history is one line, whoever asks it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from conformance.cli import main
from tests.faults import histories
from tests.faults.fault import Fault
from tests.faults.test_files import ended, folder, one_line
from tests.faults.test_foreign import made, marks

__all__ = ["folder", "made"]


@pytest.fixture(scope="module")
def kept(made: Path) -> Path:
    """Return a history of a run with failures."""
    assert main(["history", "add", str(made / "out"), "--history", str(made / "kept.sqlite")]) == 0
    return made / "kept.sqlite"


@marks(histories.TABLE.faults)
def test_a_history(kept: Path, made: Path, folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    how, _ = fault.data
    shutil.copy(kept, folder / "h.sqlite")
    if isinstance(how, str):
        with sqlite3.connect(folder / "h.sqlite") as connection:
            connection.executescript(how)
        connection.close()
    else:
        how(folder / "h.sqlite")
    before = (folder / "h.sqlite").read_bytes()
    for words in ("history show findings", "site pages", f"history add {made / 'out'}"):
        one_line(ended(capsys, *words.split(), "--history", "h.sqlite"), fault)
    assert [path.name for path in folder.iterdir()] == ["h.sqlite"]
    assert (folder / "h.sqlite").read_bytes() == before
