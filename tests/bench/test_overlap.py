"""The benchmark of overlap: what its steps mean, its bound, its timelines, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.bench.overlap import rounds
from conformance.bench.overlap.steps import STEPS, Part, Step, inputs, program, wrong
from conformance.cases.case import Case, Operand
from conformance.cases.tensor.tensor import from_array
from conformance.cli.commands.bench.overlap import command
from conformance.reference.spmd import evaluate


@pytest.mark.parametrize("name", STEPS)
def test_a_step_gives_what_numpy_does(name: str) -> None:
    step = Step(name=name, ranks=2, layers=2, rows=4, width=8)
    asked = program(step)
    operands = {
        key: Operand(blocks=tuple(from_array(each) for each in blocks), layouts=("contiguous",) * 2)
        for key, blocks in inputs(step).items()
    }
    found = evaluate(Case(program=asked, inputs=operands))
    for rank in range(2):
        own = [np.asarray(found[result][rank]) for result in asked.results]
        assert wrong(own, step.expected(rank)) == 0
        assert wrong([each + 1 for each in own], step.expected(rank)) == sum(each.size for each in own)


@pytest.mark.parametrize("name", STEPS)
def test_parts_are_a_step_without_the_rest(name: str) -> None:
    step = Step(name=name, ranks=2, layers=3)
    ops = {part: [each.op for each in program(step, part).steps] for part in get_args(Part)}
    assert ops["computation"] == [op for op in ops["whole"] if op == "dot"]
    assert ops["communication"] == [op for op in ops["whole"] if op != "dot"]


def test_the_bound_is_the_greatest_of_three() -> None:
    step, cores = Step(name="gather", ranks=2), rounds.bound_of(Step(name="gather", ranks=2), [PARTS]).cores_us
    found = rounds.bound_of(step, [PARTS, PARTS])
    assert [found.computation_us, found.communication_us] == pytest.approx([3e6, 1e6])
    assert found.most == max(3e6, cores)


PARTS = {"computation": (3.0, 4.0), "communication": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["--steps", "none"], "unknown step 'none' (known: gradients, gather, scatter)"),
        (["--ranks", "1"], "a step needs 2 ranks at least, got 1"),
        (["--ranks", "3"], "weights 128 wide cannot be shared out over 3 ranks"),
        (["-b", "tensorflow"], "unknown peer 'tensorflow'"),
    ],
)
def test_what_cannot_be_timed_is_named(asked: list[str], why: str) -> None:
    done = CliRunner().invoke(command, asked)
    assert done.exit_code != 0
    assert why in " ".join(done.output.split())


def test_a_framework_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = "pip install 'mesh-conformance[jax]'"
    monkeypatch.setattr("conformance.cli.commands.bench.overlap.not_installed", lambda _: absent)
    done = CliRunner().invoke(command, ["-b", "jax"])
    assert done.exit_code != 0
    assert f"jax cannot be timed here: {absent}" in " ".join(done.output.split())


@pytest.mark.slow
def test_the_command_times_checks_and_writes_a_trace(tmp_path: Path) -> None:
    small = ["--ranks", "2", "--layers", "3", "--rows", "4", "--width", "16", "--repeats", "1", "--json"]
    done = CliRunner().invoke(command, ["-b", "opencl,opencl-off", *small, "--timelines", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {(row["peer"], row["step"], row["wrong"]) for row in found["rows"]} == {
        (peer, step, 0) for peer in ("opencl", "opencl-off") for step in STEPS
    }
    assert [each["step"] for each in found["bounds"]] == list(STEPS)
    for step in STEPS:
        check_trace(json.loads((tmp_path / f"{step}.json").read_text()))


def check_trace(trace: dict[str, Any]) -> None:
    """Check what the Trace Event Format asks for of the events that are used."""
    named = [each for each in trace["traceEvents"] if each["ph"] == "M"]
    ran = [each for each in trace["traceEvents"] if each["ph"] == "X"]
    assert len(named) + len(ran) == len(trace["traceEvents"])
    assert {each["args"]["name"] for each in named} == {"rank 0", "rank 1", "computation", "communication"}
    assert all(each["name"] in ("process_name", "thread_name") for each in named)
    assert {(each["pid"], each["tid"]) for each in ran} <= {(each["pid"], each["tid"]) for each in named}
    assert all(each["ts"] >= 0 and each["dur"] >= 0 and each["name"] and each["cat"] for each in ran)
    assert {each["cat"] for each in ran} == {"computation", "communication"}
