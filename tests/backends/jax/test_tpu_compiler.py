"""Starting XLA's compiler for TPUs, and what is said where it cannot be; one test compiles, where libtpu is there."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from conformance.backends.jax.tpu import topology

CASE = """
import numpy as np
from conformance.backends.jax.tpu import TpuSchedule
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array

step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("m",), attrs={"op": "sum"})
program = Program(mesh=(Axis("m", 4),), steps=(step,), results=("y",))
blocks = tuple(from_array(np.full((5, 3), rank, np.int8)) for rank in range(4))
seen = TpuSchedule().execute(Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)}))
print(seen.errors, {bits for tensor in seen.results["y"] for bits in bytes.fromhex(tensor.bits)})
"""


def _installed() -> str:
    try:
        return version("libtpu")
    except PackageNotFoundError:
        return ""


@pytest.mark.parametrize(
    ("found", "named", "said"),
    [
        ("", "v5e:2x2", "libtpu is missing: pip install libtpu==0.0.42.1"),
        ("0.0.52", "v5e:2x2", "libtpu 0.0.52 is installed; what is read of the compiler is that of 0.0.42.1"),
        ("0.0.42.1", "v9:3x3", "CONFORMANCE_TPU_TOPOLOGY: no topology 'v9:3x3'; there are v5e:2x2, v5e:4x2"),
    ],
    ids=["missing", "another version", "no topology"],
)
def test_a_compiler_that_cannot_start_says_why(
    found: str, named: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def installed(name: str) -> str:
        if not found:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setenv(topology.TOPOLOGY, named)
    monkeypatch.setattr(topology, "version", installed)
    with pytest.raises(ImportError, match=re.escape(said)):
        topology.start()


@pytest.mark.slow
@pytest.mark.skipif(_installed() != topology.PINNED, reason="needs libtpu, whose licence is not an open one")
def test_a_sum_of_bytes_is_compiled_for_four_chips_and_evaluated() -> None:
    made = subprocess.run([sys.executable, "-c", CASE], capture_output=True, text=True, timeout=300, check=True)
    assert made.stdout.splitlines()[-1] == "() {6}"
