"""Typed cases that say nothing definite are refused in one line."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import Tensor
from conformance.cases.types.codec import load_typed, save_typed
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.cases.types.validate import validate_case
from conformance.generate.choices import Choice, Draw
from conformance.generate.types.data import batched_cases, transposed_cases, typed_cases
from conformance.runner.draws import Numbers


def case(step: TypedStep, varying: tuple[str, ...] = ("i",), batch: tuple[Level, ...] = ()) -> TypedCase:
    program = TypedProgram(
        mesh=(Axis(name="i", size=2), Axis(name="j", size=1)),
        inputs={"x": TypedInput(dtype="int8", shape=(1,), varying=varying)},
        steps=(step,),
        results=("y",),
    )
    blocks = (Tensor(dtype="int8", shape=(1,), bits="01"), Tensor(dtype="int8", shape=(1,), bits="02"))
    return TypedCase(program=program, inputs={"x": blocks}, batch=batch)


def step(operation: str = "all_reduce", groups: Any = None, axes: tuple[str, ...] = ("i",), **attrs: Any) -> TypedStep:
    return TypedStep(op=operation, inputs=("x",), output="y", axes=axes, attrs=attrs, groups=groups)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (case(step(op="sum"), varying=("j", "i")), "in the order of the alphabet"),
        (case(step(op="sum"), varying=("i", "i")), "in the order of the alphabet"),
        (case(step(op="sum"), varying=()), "vary along no axis"),
        (case(step(op="median")), "op is one of sum, mean, max, min; got 'median'"),
        (case(step()), "needs the attribute 'op'"),
        (case(step(op="sum", to="varying")), "has no attribute 'to'"),
        (case(step("cast", to="frozen")), "to is one of invariant, varying, unreduced, reduced"),
        (case(step("all_gather", axis="0", tiled=True, to="varying")), "axis is an axis"),
        (case(step("shuffle", sources=3)), "sources is positions"),
        (case(step(op="sum", groups=((0,),))), "each of the 2 positions once"),
        (case(step("permute", pairs=(), groups=((0, 1),))), "takes no groups"),
        (case(step(op="sum", axes=("i", "i"))), "names each axis once"),
        (case(step(op="sum"), batch=(Level(name="i", size=2, inputs={"x": 0}),)), "axes have different names"),
        (case(step(op="sum"), batch=(Level(name="p", size=2, inputs={"x": 2}),)), "maps axis 2 of 'x'"),
        (case(step(op="sum"), batch=(Level(name="p", size=2, inputs={"x": 0}),)), "the shape [2, 1]"),
        (case(step(op="sum"), batch=(Level(name="p", size=2, inputs={}),)), "maps no input"),
    ],
)
def test_what_says_nothing_definite_is_refused(wrong: TypedCase, said: str) -> None:
    with pytest.raises(CaseError) as refused:
        validate_case(wrong)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("domain", [typed_cases(), transposed_cases(), batched_cases()])
def test_a_file_holds_a_drawn_case_whole(domain: Choice[TypedCase], tmp_path: Path) -> None:
    for seed in range(40):
        drawn = Draw(Numbers(Random(seed)))(domain)
        save_typed(drawn, tmp_path / "case.json")
        assert load_typed(tmp_path / "case.json") == drawn


def test_a_file_of_a_malformed_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    save_typed(case(step(op="sum")), path)
    document = msgspec.json.decode(path.read_bytes())
    document["program"]["steps"][0]["attrs"]["op"] = 3
    path.write_bytes(msgspec.json.encode(document))
    with pytest.raises(CaseError, match="op is one of"):
        load_typed(path)
