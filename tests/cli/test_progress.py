"""What people read is what was said."""

from __future__ import annotations

import errno
import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table

from conformance.cli import main
from conformance.cli.progress import Progress, printer
from conformance.runner.offering import Drawing
from conformance.runner.records.record import CaseRecord
from conformance.runner.shrinking.search_progress import Searching


def test_a_module_and_class_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    printer().print("module:B: broken")
    assert capsys.readouterr().out == "module:B: broken\n"


class Full(io.StringIO):
    """What a disk without room is to whoever writes, or a terminal that is gone."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_progress_that_cannot_be_written_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Full())
    with Progress() as progress:
        progress.tell("a", now=True)
        progress.tell("b", now=True)
    assert sys.stderr is None  # or the process would end with 120, for what it could not flush


def test_a_complaint_that_cannot_be_written_keeps_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Full())
    assert main(["nosuch"]) == 2


def test_words_of_a_backend_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("backend")
    table.add_row("b\x1b[2J")
    printer().print("a\x1b]0;title\x07 \u202e\nb", markup=False)
    printer().print(table)
    out = capsys.readouterr().out
    assert out.startswith("a\\x1b]0;title\\x07 \\u202e\nb\n")
    assert "b\\x1b[2J" in out
    assert "\x1b" not in out


def record(op: str, backend: str = "acme") -> CaseRecord:
    return CaseRecord(
        backend=backend, case="a/b/0", op=op, dtype="bool", world=1, outcome="passed", clauses={}, seconds=0.1
    )


def test_the_line_of_a_run_tells_rate_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress(record("broadcast"))
    assert "broadcast: acme 1 case," in capsys.readouterr().err  # the first one at once
    progress._began -= 32
    progress._told -= 30
    progress.draw(Drawing(part=0.5, offered=10))
    capsys.readouterr()
    progress._told -= 30
    progress(record("broadcast"))
    assert ", 0 cases/s, about 5 min left" in capsys.readouterr().err


def test_the_search_for_smallest_cases_tells_rate_and_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.search(Searching("acme", failing=8, explained=0, asked=1))
    progress._searched = ("acme", progress._searched[1] - 20)
    progress._told -= 30
    progress.search(Searching("acme", failing=8, explained=2, asked=100))
    shown = capsys.readouterr().err
    assert "acme: looking for smallest cases: 0 of 8 failing cases explained, 1 asked" in shown
    assert "2 of 8 failing cases explained, 100 asked, 5/s, about 60 s left" in shown


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_failure(closed: str, tmp_path: Path) -> None:
    asked = "run -b reference --op broadcast --suite collectives --examples 1 -o out"
    shell = f"{sys.executable} -m conformance {asked} {closed}"
    ended = subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, "Traceback" in ended.stdout + ended.stderr) == (3, False), ended
    assert (tmp_path / "out" / "run.jsonl").read_bytes().startswith(b'{"type":"header"')
