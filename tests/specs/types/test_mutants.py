"""Backends whose types or transposes are wrong in one way, each of which a run of the two suites finds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import INVARIANT, AxisType
from conformance.cases.types.typed_program import TypedProgram, TypedStep
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.types.ill_typed import IllTyped
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess

Blocks = list[Array]
Values = Mapping[str, Blocks]


def without(program: TypedProgram, *ops: str) -> TypedProgram:
    """Return the program whose steps of these operations are identities that name no axis."""
    steps = tuple(replace(step, axes=()) if step.op in ops else step for step in program.steps)
    return replace(program, steps=steps)


class TakesEveryCast(Reference):
    def typed(self, program: TypedProgram, inputs: Values) -> Any:
        try:
            return super().typed(program, inputs)
        except IllTyped as error:
            if error.clause != "types.C3":
                raise
            return super().typed(without(program, "cast"), inputs)


class RefusesSeveralAxes(Reference):
    def typed(self, program: TypedProgram, inputs: Values) -> Any:
        if any(len(step.axes) > 2 for step in program.steps):
            raise ValueError("at most two axes")
        return super().typed(program, inputs)


class ForgetsReduced(Reference):
    def typed(self, program: TypedProgram, inputs: Values) -> Any:
        types, values = super().typed(program, inputs)
        return {name: AxisType(varying=of.varying, unreduced=of.unreduced) for name, of in types.items()}, values


class CallsGathersInvariant(Reference):
    def typed(self, program: TypedProgram, inputs: Values) -> Any:
        types, values = super().typed(program, inputs)
        gathers = {step.output: step for step in program.steps if step.op == "all_gather"}
        return {name: INVARIANT if name in gathers else of for name, of in types.items()}, values


class SumsTwice(Reference):
    """Its cast from invariant has for a transpose the sum of a sum."""

    def pullback(self, program: TypedProgram, inputs: Values, cotangents: Values) -> dict[str, Blocks]:
        found = super().pullback(program, inputs, cotangents)
        for name, given in program.inputs.items():
            rest = tuple(axis.name for axis in program.mesh if axis.name not in given.varying)
            if rest and program.checked:
                found[name] = all_reduce(found[name], op="sum", groups=lines(program.mesh, rest))
        return found


class NeverSums(Reference):
    """An automatic cast has no transpose: every rank keeps its own cotangent."""

    def pullback(self, program: TypedProgram, inputs: Values, cotangents: Values) -> dict[str, Blocks]:
        step = next((s for s in program.steps if s.op in ("permute", "shuffle") and program.checked), None)
        found = super().pullback(program, inputs, cotangents)
        if step is None:
            return found
        return {name: [blocks[0], *map(np.zeros_like, blocks[1:])] for name, blocks in found.items()}


class PermutesForwardAgain(Reference):
    def pullback(self, program: TypedProgram, inputs: Values, cotangents: Values) -> dict[str, Blocks]:
        def turned(step: TypedStep) -> TypedStep:
            if step.op != "permute":
                return step
            return replace(step, attrs={"pairs": tuple((b, a) for a, b in step.attrs["pairs"])})  # type: ignore[union-attr, misc]

        return super().pullback(replace(program, steps=tuple(map(turned, program.steps))), inputs, cotangents)


class DropsTheBroadcastSum(Reference):
    def pullback(self, program: TypedProgram, inputs: Values, cotangents: Values) -> dict[str, Blocks]:
        return super().pullback(without(program, "broadcast"), inputs, cotangents)


MUTANTS = [
    TakesEveryCast,
    RefusesSeveralAxes,
    ForgetsReduced,
    CallsGathersInvariant,
    SumsTwice,
    NeverSums,
    PermutesForwardAgain,
    DropsTheBroadcastSum,
]


def failed(backend: Reference, folder: Path) -> list[str]:
    worker = InProcess(BackendSpec("it", "", ""), backend=backend)
    plan = Plan(ops=("typed_program", "transposed_program"), suites=("types", "transforms"), examples=70)
    return [failure.clause for failure in explore(plan, {"it": worker}, folder).failures]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_run_finds_the_mutant(mutant: type[Reference], tmp_path: Path) -> None:
    assert failed(mutant(), tmp_path)


def test_a_run_finds_nothing_in_the_reference(tmp_path: Path) -> None:
    assert failed(Reference(), tmp_path) == []
