"""When the devices really ran each command: those that conflict never at the same time, within a program and across."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.backends.opencl.settings import PLATFORM, POCL


def timeline(platform: str, *words: str) -> tuple[int, int, str]:
    """Return how many pairs of commands conflict, how many of them clash, and which."""
    # A process of its own, for PoCL makes its devices once.
    environment = {**os.environ, "POCL_DEVICES": "pthread pthread pthread pthread", PLATFORM: platform}
    command = [sys.executable, "-m", "tests.backends.opencl.runtime.timeline", *words]
    root = Path(__file__).parents[4]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    count, wrong = map(int, done.stdout.split())
    return count, wrong, done.stderr


SLOW = pytest.mark.slow  # each platform, order and algorithm is run every day, and all of them together at night


@pytest.mark.parametrize(
    ("algorithm", "order", "platform"),
    [
        ("direct", "0", ""),
        ("ring", "1", POCL),
        pytest.param("direct", "0", POCL, marks=SLOW),
        pytest.param("ring", "1", "", marks=SLOW),
    ],
)
def test_commands_that_conflict_in_the_exported_schedules_never_overlap(
    algorithm: str, order: str, platform: str
) -> None:
    count, wrong, which = timeline(platform, algorithm, order)
    assert count > 1000
    assert wrong == 0, which


@pytest.mark.parametrize("platform", ["", pytest.param(POCL, marks=SLOW)])
def test_without_the_edges_of_their_schedules_they_do(platform: str) -> None:
    count, wrong, which = timeline(platform, "direct", "0", "without-edges")
    assert 0 < wrong < count, which
