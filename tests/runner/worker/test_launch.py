"""What a worker is started with is the same whatever the runner does beside it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from conformance.runner.worker.process import Process
from conformance.runner.worker.sandbox_trial import why_no_sandbox

LOOK = """
import os, sys
names = ("CONFORMANCE_READ", "CONFORMANCE_WRITE")
with open(f"/proc/{os.getppid()}/cmdline") as file:  # of the supervisor, whose words name descriptors too
    words = [word for word in file.read().split("\\0") if word.replace(",", "").isdigit()]
print(*sorted(os.listdir("/proc/self/fd")), *(os.environ[name] for name in names), *words)
"""


def seen(*, sandboxed: bool) -> str:
    """Return which descriptors a worker finds open and is told of."""
    process = Process([sys.executable, "-c", LOOK], sandboxed=sandboxed)
    while process.exit_status() is None:
        time.sleep(0.01)
        process.read()
    said = process.kill()
    assert said.split()[:3] == ["0", "1", "100"], said
    return said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("sandboxed", [False, True])
def test_descriptors_of_a_worker_do_not_tell_what_its_runner_has_open(tmp_path: Path, *, sandboxed: bool) -> None:
    if sandboxed and (why := why_no_sandbox()):
        pytest.skip(why)
    before = seen(sandboxed=sandboxed)
    opened = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    try:
        assert seen(sandboxed=sandboxed) == before
    finally:
        for each in opened:
            os.close(each)
