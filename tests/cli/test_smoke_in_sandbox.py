"""A sandbox changes nothing of what a smoke test says, of any backend that is installed here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.backends.discovery import installed
from conformance.runner.worker.sandbox_trial import why_no_sandbox

NAMES = ("reference", "opencl", "opencl-pocl", "mpi", "torch", "jax", "stablehlo", "tinygrad", "mlx")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_smoke_test_says_the_same_in_a_sandbox(name: str, tmp_path: Path) -> None:
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    if why := why_no_sandbox():
        pytest.skip(why)
    command = [sys.executable, "-m", "conformance", "smoke", "-b", name]
    open_, closed = (
        subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        for more in ((), ("--sandbox",))
    )
    assert (closed.returncode, closed.stdout) == (open_.returncode, open_.stdout)
    assert "not_run" not in closed.stdout
