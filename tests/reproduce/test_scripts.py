"""Scripts of a framework alone: they end with 1 while a failure is there, and with 0 where it is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend
from conformance.backends.discovery import find, load
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.render import kernels as render
from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import terms
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.judging.verdict import judge
from conformance.reproduce.symptom import symptom
from conformance.reproduce.write import ScriptError, reproduction
from conformance.runner.meaning import bound, meaning, verdict
from conformance.runner.replay import Replay
from conformance.runner.worker.answers import Answer


def summed(dtype: str = "int32", values: tuple[float, ...] = (1, 2)) -> Case:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    blocks = tuple(from_array(np.array([value], np.float32).astype(dtype)) for value in values)
    program = Program(mesh=(Axis("i", len(values)),), steps=(step,), results=("y",))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * len(values))})


def ended(case: Case, backend: Backend, seen: Observation, path: Path) -> tuple[int, str]:
    shown = Replay(verdict(meaning(case), Answer(seen, 0.0)), (Answer(seen, 0.0),), {})
    (path / "script.py").write_text(reproduction(case, backend, shown))
    done = subprocess.run([sys.executable, path / "script.py"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "jax",
        "stablehlo",
        pytest.param("jax-vmap", marks=pytest.mark.slow),
        pytest.param("mpi", marks=pytest.mark.slow),
        pytest.param("tinygrad", marks=pytest.mark.slow),
        pytest.param("torch", marks=pytest.mark.slow),
        pytest.param("torch-functional", marks=pytest.mark.slow),
    ],
)
def test_a_bug_that_is_gone_is_told(name: str, tmp_path: Path) -> None:
    wrong = Observation(results={"y": tuple(from_array(np.array([9], np.int32)) for _ in range(2))})
    status, said = ended(summed(), load(find(name)), wrong, tmp_path)
    assert (status, "the bug is not there" in said, "[3]" in said) == (0, True, True), said


def test_a_rank_that_crashes_is_looked_for_as_a_crash() -> None:
    crash = RankError(kind="Crash", message="rank 1 was ended by SIGSEGV", category="no_answer")
    seen = Observation(errors=(None, crash))
    told = verdict(meaning(summed()), Answer(seen, 0.0))
    assert symptom(meaning(summed()), told, seen).kind == "crashed"


def test_where_not_the_value_is_wrong_the_observed_one_is_looked_for() -> None:
    case, block = summed("bool", (1, 1)), Tensor(dtype="bool", shape=(1,), bits="02")
    seen = Observation(results={"y": (block, block)})
    told = judge(meaning(case), seen, bound(terms(follows=("torch",))))
    assert (told.blame and told.blame.id, symptom(meaning(case), told, seen).several) == ("collective.C3", True)
    wrong = Observation(results={"y": tuple(from_array(np.array([9], np.int32)) for _ in range(2))})
    assert not symptom(meaning(summed()), verdict(meaning(summed()), Answer(wrong, 0.0)), wrong).several


def test_a_refusal_of_what_has_a_meaning_is_shown(tmp_path: Path) -> None:
    case = summed()
    step = replace(case.program.steps[0], groups=((0,), (1,)), attrs={"op": "sum", "local_axes": (0,)})
    case, backend = replace(case, program=replace(case.program, steps=(step,))), load(find("jax"))
    status, said = ended(case, backend, backend.execute(case), tmp_path)
    assert (status, "raised ValueError" in said) == (1, True), said


class Truncates(OpenCL):
    """Rounds bfloat16 towards zero."""


def test_the_commands_of_a_broken_engine_show_the_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = "bits + 0x7fffu + (bits >> 16 & 1u)"
    assert right in render.PRELUDE
    monkeypatch.setattr(render, "PRELUDE", render.PRELUDE.replace(right, "bits"))
    case, backend = summed("bfloat16", (256, 255)), Truncates()
    status, said = ended(case, backend, backend.execute(case), tmp_path)
    assert (status, "512.0" in said, "510.0" in said) == (1, True, True), said


def test_there_is_no_script_without_a_failure_or_a_framework() -> None:
    case = summed()
    seen = Reference().execute(case)
    shown = Replay(verdict(meaning(case), Answer(seen, 0.0)), (Answer(seen, 0.0),), {})
    with pytest.raises(ScriptError, match="no failure to reproduce"):
        reproduction(case, Reference(), shown)
    wrong = Observation(results={"y": tuple(from_array(np.array([9], np.int32)) for _ in range(2))})
    failed = Replay(verdict(meaning(case), Answer(wrong, 0.0)), (Answer(wrong, 0.0),), {})
    with pytest.raises(ScriptError, match="names no framework"):
        reproduction(case, Reference(), failed)
