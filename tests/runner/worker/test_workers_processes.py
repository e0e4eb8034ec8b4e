"""No process outlives its worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from conformance.backends.discovery import find
from conformance.cases.case import Case
from conformance.runner.worker.answers import Broken, Limits
from conformance.runner.worker.workers import Worker


def alive(pid: int) -> bool:
    """Return whether ``pid`` runs; a zombie waits for its parent and does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def test_the_descendants_of_a_crash_die_with_it(
    bad: Callable[[str], str], make: Callable[..., Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    litter = tmp_path / "pids"
    monkeypatch.setenv("LITTER", str(litter))
    with Worker(find(bad("litters")), Limits()) as worker:
        answer = worker.ask(make(0x42))
    assert isinstance(answer.result, Broken)
    assert answer.result.outcome == "crashed"
    pids = [int(line) for line in litter.read_text().split()]
    deadline = time.monotonic() + 60
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(pids) == 3
    assert not any(map(alive, pids))


def test_closing_ends_the_process() -> None:
    with Worker(find("reference")) as worker:
        assert worker.ready.name == "reference"
        running = [c for c in psutil.Process().children() if c.status() != psutil.STATUS_ZOMBIE]
        (child,) = [c for c in running if "conformance.backends.worker" in " ".join(c.cmdline())]
    assert not alive(child.pid)
