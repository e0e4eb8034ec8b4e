"""Which files are those of a product: what its own processes have in memory, whatever else runs beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from conformance.backends.discovery import find
from conformance.certificate.mapped import mapped_files
from conformance.runner.worker.workers import Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what a process has mapped")


def test_another_child_of_this_process_is_none_of_the_product() -> None:
    sleep = which("sleep")
    assert sleep is not None
    with Worker(find("reference")) as worker, subprocess.Popen([sleep, "600"]) as other:
        assert worker.ready.name == "reference"
        found = mapped_files(worker)
        other.kill()
    assert str(Path(sys.executable).resolve()) in found
    assert str(Path(sleep).resolve()) not in found
    assert not mapped_files(worker)
