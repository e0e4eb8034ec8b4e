"""What is held in caches: the last one of a CPU, whatever its runtime says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyopencl as cl
import pytest

from conformance.backends.opencl.runtime.caches import cached_bytes


@pytest.mark.parametrize(
    ("kind", "said", "linux", "held"),
    [
        (cl.device_type.CPU, 2**20, ("32K", "1024K", "32768K"), 2**25),
        (cl.device_type.CPU, 2**20, ("8M",), 2**23),
        (cl.device_type.CPU, 2**25, ("32K", "1024K"), 2**25),
        (cl.device_type.CPU, 2**20, (), 2**20),
        (cl.device_type.GPU, 2**20, ("32768K",), 2**20),
    ],
)
def test_the_last_cache_counts(tmp_path: Path, kind: int, said: int, linux: tuple[str, ...], held: int) -> None:
    for index, size in enumerate(linux):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(f"{size}\n")
    device: Any = SimpleNamespace(type=kind, global_mem_cache_size=said)
    assert cached_bytes(device, tmp_path) == held
