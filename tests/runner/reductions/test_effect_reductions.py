"""Failing programs with effects become small, and say no more than what fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load
from conformance.cases.program.program import Step
from conformance.cases.program.step_line import step_line
from conformance.qualification.mutants.aliasing import TheRootKeepsItsBlock
from conformance.qualification.mutants.asynchrony import OperandIsReadWhenWaited
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.reductions.effects import effect_reductions
from conformance.runner.reductions.prefixes import heads
from conformance.runner.replay import replay
from conformance.runner.worker.in_process import InProcess

SMALL = {
    TheRootKeepsItsBlock: (
        "aliasing",
        (["buffer", "broadcast", "assign"], ["buffer", "broadcast", "free"], ["buffer", "broadcast", "view", "assign"]),
    ),
    OperandIsReadWhenWaited: ("async", (["buffer", "broadcast"],)),
}


def step(line: str, into: str = "", *, start: bool = False) -> Step:
    outputs, call = line.split("=")
    op, *inputs = call.split()
    axes, attrs = (("i",), {"root": 0}) if op == "broadcast" else ((), {})
    return Step(
        op=op, inputs=tuple(inputs), outputs=tuple(outputs.split()), axes=axes, attrs=attrs,
        into=tuple(into.split()), start=start,
    )  # fmt: skip


def test_each_reduction_leaves_out_one_thing_and_what_hung_on_it(make: Callable[..., Case]) -> None:
    case = make(7)
    steps = (step("b = buffer x"), step("t = broadcast x", "b", start=True), step("c = copy b"), step("y = done t"))
    whole = replace(case, program=replace(case.program, steps=steps, results=("c", "y")))
    seen = {"; ".join(map(step_line, one.program.steps)) for one in effect_reductions(whole)}
    started = "t = start broadcast(x, root=0, into=b) over i"
    assert {
        f"b = buffer(x); {started}; c = copy(b)",  # t stands for y, so the case is malformed
        f"b = buffer(x); {started}; y = done(t)",
        "b = buffer(x); t = broadcast(x, root=0, into=b) over i; c = copy(b)",
        "b = buffer(x); t = start broadcast(x, root=0) over i; c = copy(b); y = done(t)",
        "b = buffer(x); c = copy(b); y = done(x)",
    } <= seen
    assert all(len(one.inputs) == 1 for one in effect_reductions(whole))


@pytest.mark.parametrize(
    "mutant", [TheRootKeepsItsBlock, pytest.param(OperandIsReadWhenWaited, marks=pytest.mark.slow)]
)
def test_what_is_left_of_a_program_is_what_fails(
    mutant: type[Backend], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.runner.shrinking.minimise.WAYS", 4)
    suite, steps = SMALL[mutant]
    plan = Plan(ops=("broadcast",), examples=60, seed=2, suites=(suite,))
    result = explore(plan, {"bad": InProcess(BackendSpec("bad", ()), backend=mutant())}, tmp_path)
    left = [load(tmp_path / failure.file).program.steps for failure in result.failures]
    assert any([step.op for step in each] in steps for each in left), [
        step_line(step) for each in left for step in each
    ]


def test_every_smaller_program_of_a_send_can_be_judged_or_is_malformed(make: Callable[..., Case]) -> None:
    attrs = {"pairs": ((0, 1),)}
    sent = Step(op="send", inputs=("x",), outputs=("t",), axes=("i",), attrs=attrs)
    taken = Step(
        op="recv", inputs=("t",), outputs=("y",), axes=("i",), attrs={**attrs, "shape": (4,), "dtype": "int64"}
    )
    case = make(7)
    whole = replace(case, program=replace(case.program, steps=(sent, taken, step("z = broadcast y")), results=("z",)))
    worker, judged, malformed = InProcess(BackendSpec("it", ()), backend=Reference()), [], []
    for one in (*effect_reductions(whole), *heads(whole)):
        try:
            judged.append(replay(one, worker).verdict.outcome)
        except CaseError as error:
            malformed.append(str(error))
    assert set(judged) == {"passed"}
    assert "result 't' is a token of what is sent; recv makes a value of it" in malformed
