"""The native backend in other ways: on PoCL, on devices with threads, and never on others than it says."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import Settings
from conformance.backends.opencl.variants import Concurrent, PoCL

ASKED = """
import numpy as np
from conformance.backends.opencl.variants import ConcurrentReordered
from conformance.cases.program.program import Axis, Program, Step
backend = ConcurrentReordered()
step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
value = backend.engine.put([(block, block) for block in [np.full(40, rank, np.int32) for rank in range(4)]])
started = backend.engine.start(Program(mesh=(Axis("i", 4),), steps=(step,), results=("y",)), {"x": value})
assert all((block == 6).all() for block in backend.engine.read(started.done()["y"]))
print(backend.describe()["POCL_DEVICES"])
"""


def test_concurrent_devices_have_threads() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "POCL_DEVICES"}
    ended = subprocess.run([sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["pthread"] * 8


@pytest.mark.usefixtures("pocl")  # the devices of a process are those that are opened first
def test_concurrent_devices_are_refused_where_they_have_none(monkeypatch: Any) -> None:
    monkeypatch.setenv("POCL_DEVICES", "basic basic")
    with pytest.raises(NoPlatformError, match=r"concurrent needs devices with threads.* POCL_DEVICES='basic "):
        _ = Concurrent().session


def test_what_is_said_of_the_devices_is_what_they_are(pocl: Session) -> None:
    for kind in ("basic", "pthread"):
        backend = PoCL(Settings(devices=kind, queues=3))
        backend.__dict__["session"] = pocl
        said = backend.describe()
        assert [name for name in said if name.startswith("settings device")] == []
        assert len(said["devices"].split(", ")) == len(pocl.platform.queues) == len(said["POCL_DEVICES"].split())
        assert "settings queues" not in said
