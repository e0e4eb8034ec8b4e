"""In a sandbox a smoke test finds nothing that it does not find without, of any backend that is installed here."""

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
def test_a_sandbox_adds_nothing_to_what_a_smoke_test_finds(name: str, tmp_path: Path) -> None:
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    if why := why_no_sandbox():
        pytest.skip(why)
    command = [sys.executable, "-m", "conformance", "smoke", "-b", name]
    open_, closed = (
        subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        for more in ((), ("--sandbox",))
    )
    # A smoke test ends by time, so that on a busy machine one of the two asks fewer cases.
    assert found(closed) <= found(open_), closed
    assert closed.returncode in (0, open_.returncode), closed
    assert "passed" in closed.stdout


def found(ended: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the lines about what a backend breaks."""
    return {line for line in ended.stdout.splitlines() if " breaks " in line}
