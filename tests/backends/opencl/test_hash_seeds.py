"""What a process hashes strings to changes no schedule."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from conformance.backends.opencl.fuse.partition import Home
from conformance.backends.opencl.graph.value import Values
from conformance.backends.opencl.lower.values import _read

PROGRAM = """
import hashlib, msgspec
from conformance.backends.lowering import lowered
from conformance.backends.opencl import OpenCL
from conformance.runner.draws import numbered
from conformance.generate.sharded.hazards import hazards
found = hashlib.sha256()
for number in range(12):
    graph = lowered(numbered(hazards(), 0, number)[0])[0].graph
    found.update(msgspec.json.encode(OpenCL().schedule(graph)))
print(found.hexdigest())
"""


@pytest.mark.slow  # three processes open the devices
def test_writes_to_several_buffers_are_scheduled_alike_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


def test_what_a_kernel_reads_comes_by_number_although_it_is_a_set() -> None:
    values = Values()
    loads = [values.make("load", "int32", (2,), 0, arg=(f"b{number}", 0)) for number in range(40)]
    home = Home(values.make("alu", "int32", (2,), 0, loads[:2], "add"))
    home.stored.update(reversed(loads))
    assert list(_read(home)) == loads
