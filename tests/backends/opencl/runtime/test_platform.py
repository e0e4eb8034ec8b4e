"""Which platform is taken, why, and that nothing but the platform is left by looking for it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.backends.opencl.runtime import NoPlatformError, intel
from conformance.backends.opencl.runtime.platform import _chosen
from conformance.backends.opencl.settings import PLATFORM, POCL

INTEL, GRAPHICS, OTHER = "Intel(R) OpenCL", "Intel(R) OpenCL Graphics", "Acme"


def chosen(names: list[str], named: str | None = None, absent: str | None = None) -> tuple[str, str]:
    platform, reason = _chosen([SimpleNamespace(name=name) for name in names], named, absent)
    return platform.name, reason


@pytest.mark.parametrize(
    ("names", "named", "taken"),
    [
        ([OTHER, GRAPHICS, POCL, INTEL], None, INTEL),
        ([OTHER, GRAPHICS, POCL], None, POCL),
        ([OTHER, GRAPHICS], None, OTHER),
        ([GRAPHICS, INTEL], INTEL, INTEL),
        ([GRAPHICS, INTEL], "Graphics", GRAPHICS),
        ([INTEL, POCL], "Portable", POCL),
        ([INTEL, POCL, OTHER], "Acme", OTHER),
    ],
)
def test_the_named_one_is_taken_else_intels_else_pocl_else_any(names: list[str], named: str, taken: str) -> None:
    assert chosen(names, named)[0] == taken


def test_it_says_why() -> None:
    assert chosen([INTEL, POCL])[1] == "Intel's CPU runtime is taken first"
    assert chosen([INTEL, POCL], "Port")[1] == "'Port' was asked for"
    assert "not there: no wheels" in chosen([OTHER, POCL], absent="no wheels")[1]
    assert "not there: the loader does not list it, nor is PoCL" in chosen([OTHER])[1]


@pytest.mark.parametrize(
    ("names", "named", "said"),
    [
        ([], None, r"no OpenCL platform: pip install 'mesh-conformance\[opencl\]' brings one"),
        ([INTEL, OTHER], "Nobody", r"named 'Nobody'; found 'Intel\(R\) OpenCL', 'Acme'; set CONFORMANCE_OPENCL_PLATF"),
        ([INTEL], POCL, r"named 'Portable .*; pip install 'mesh-conformance\[pocl\]' brings it, or set CONFORMANCE_"),
    ],
)
def test_what_is_not_there_is_an_error_that_says_what_is(names: list[str], named: str | None, said: str) -> None:
    with pytest.raises(NoPlatformError, match=said):
        chosen(names, named)


def run(script: str, **environment: str) -> str:
    """Return what a process of its own prints: a loader looks for platforms once."""
    inherited = {name: value for name, value in os.environ.items() if name not in {PLATFORM, *intel.VENDORS}}
    done = subprocess.run(
        [sys.executable, "-c", script], env=inherited | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SUMS = """
import numpy as np
from conformance.backends.opencl import OpenCL
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array, to_array
step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
blocks = tuple(from_array(np.full(3, rank, np.int32)) for rank in range(4))
operand = Operand(blocks=blocks, layouts=("contiguous",) * 4)
program = Program(mesh=(Axis("i", 4),), steps=(step,), results=("y",))
backend = OpenCL()
seen = backend.execute(Case(program=program, inputs={"x": operand}))
assert [to_array(block).tolist() for block in seen.results["y"]] == [[6, 6, 6]] * 4
print(backend.describe()["platform"], "|", backend.describe()["chosen"])
"""

WITHOUT = """
from importlib.metadata import PackageNotFoundError
from conformance.backends.opencl.runtime import intel
def files(name): raise PackageNotFoundError(name)
intel.files = files
"""


def test_without_intels_wheels_pocl_computes_and_it_says_why() -> None:
    said = run(WITHOUT + SUMS)
    assert said.startswith(POCL)
    assert "not there: libintlc.so.5 of intel-cmplr-lib-rt is not installed" in said


def test_who_says_where_drivers_are_is_believed(tmp_path: Path) -> None:
    said = run(SUMS, OCL_ICD_VENDORS=str(tmp_path))
    assert said.startswith(POCL)
    assert "not there: OCL_ICD_VENDORS is set" in said


def test_looking_leaves_no_variable_no_file_and_no_function_for_others(tmp_path: Path) -> None:
    pytest.importorskip("pyopencl")
    after = "import ctypes, os; print(os.environ.get('OCL_ICD_VENDORS'), hasattr(ctypes.CDLL(None), '__svml_sin4'))"
    said = run(SUMS + after, TMPDIR=str(tmp_path)).splitlines()
    assert said[-1] == "None False"
    assert list(tmp_path.iterdir()) == []


def test_all_other_drivers_stay_registered(tmp_path: Path, monkeypatch: Any) -> None:
    other = tmp_path / "vendors"
    other.mkdir()
    (other / "acme.icd").write_text("libacme.so\n")
    monkeypatch.setattr(intel, "FOLDERS", (other, tmp_path / "nothing here"))
    monkeypatch.setattr(intel, "_loaded", lambda: Path("/lib/libintelocl.so"))
    for name in intel.VENDORS:
        monkeypatch.delenv(name, raising=False)
    with intel.registered() as absent:
        assert absent is None
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        assert [file.read_text() for file in sorted(folder.iterdir())] == ["/lib/libintelocl.so", "libacme.so\n"]
    assert "OCL_ICD_VENDORS" not in os.environ


def test_what_cannot_be_loaded_is_a_reason_and_no_error(monkeypatch: Any) -> None:
    def absent(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(intel, "files", absent)
    for name in intel.VENDORS:
        monkeypatch.delenv(name, raising=False)
    with intel.registered() as said:
        assert said == "libintlc.so.5 of intel-cmplr-lib-rt is not installed"
    monkeypatch.setattr(intel.platform, "machine", lambda: "aarch64")
    with intel.registered() as said:
        assert said is not None
        assert "this is aarch64" in said
