"""How a process ended is told exactly, in a sandbox and not, and the runner's own process is closed meanwhile."""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path

import pytest

from conformance.runner.log.lock import locked
from conformance.runner.log.reading import LogError
from conformance.runner.worker import own_process
from conformance.runner.worker.process import Process
from conformance.runner.worker.sandbox import cache_of
from conformance.runner.worker.sandbox_trial import why_no_sandbox


@pytest.fixture(params=[False, True], ids=["plain", "sandbox"])
def sandboxed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> bool:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if request.param and (why := why_no_sandbox()):
        pytest.skip(why)
    return bool(request.param)


def ended(process: Process) -> int | None:
    deadline = time.monotonic() + 120
    while process.exit_status() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process.exit_status()


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 7", 7), ("exit 139", 139), ("exit 255", 255)]
    + [(f"kill -{number} $$", -number) for number in (1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 14, 15, 24, 31)],
)
def test_an_exit_status_and_a_signal_are_told_apart(script: str, status: int, sandboxed: bool) -> None:
    process = Process(["/bin/sh", "-c", script], sandboxed=sandboxed)
    assert ended(process) == status
    process.kill()
    assert not process.folder.exists()


def test_a_program_that_cannot_be_started_is_told(sandboxed: bool, tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"\x7fELF nothing")
    (tmp_path / "program").chmod(0o755)
    process = Process([str(tmp_path / "program")], sandboxed=sandboxed)
    ended(process)
    assert "format" in process.unstarted
    process.kill()


def test_what_is_told_to_end_has_its_turn(sandboxed: bool) -> None:
    ready = "trap 'echo in order >&2; exit 0' TERM; touch \"$CONFORMANCE_FILES\"/ready; while :; do sleep 0.01; done"
    process = Process(["/bin/sh", "-c", ready], sandboxed=sandboxed)
    deadline = time.monotonic() + 120
    while not (process.folder / "ready").exists() and time.monotonic() < deadline:
        time.sleep(0.002)
    assert process.kill(grace=120.0).endswith("in order")


def test_only_folder_cache_and_temporary_files_can_be_written_in_a_sandbox(tmp_path: Path) -> None:
    if why := why_no_sandbox():
        pytest.skip(why)
    places = '"$CONFORMANCE_FILES" "$XDG_CACHE_HOME" /tmp /dev/shm "$1" /'
    script = f'for each in {places}; do test -w "$each" && echo $each; done'
    command = ["/bin/sh", "-c", script, "sh", str(tmp_path)]
    process = Process(command, sandboxed=True)
    ended(process)
    folder, cache = str(process.folder), str(cache_of(command))
    assert process.kill().splitlines() == [folder, cache, "/tmp", "/dev/shm"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has this")
def test_a_process_is_closed_while_there_are_workers_and_open_afterwards() -> None:
    def dumpable() -> int:
        return int(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))

    assert dumpable() == 1
    with own_process.closed():
        assert dumpable() == 0
    assert dumpable() == 1


def test_a_folder_is_written_by_one_run_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(LogError, match="another run writes into"), locked(tmp_path):
        pass
    with locked(tmp_path):
        assert not list(tmp_path.iterdir())
