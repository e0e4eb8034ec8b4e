"""Programs that compute beside their collectives, on frameworks; and backends that are not asked for such."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from conformance.backends.base import Backend, Unsupported
from conformance.backends.claim_limits import unasked
from conformance.cases.case import Case, Operand
from conformance.cases.program.features import features
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.reference.spmd import evaluate


def step(does: str, inputs: str, output: str, /, **attrs: Any) -> Step:
    return Step(op=does, inputs=tuple(inputs.split()), outputs=(output,), axes=(), attrs=attrs)


def met(name: str, output: str, *, start: bool = False) -> Step:
    return Step(op="all_reduce", inputs=(name,), outputs=(output,), axes=("i",), attrs={"op": "sum"}, start=start)


STEPS = (
    step("alu", "x x", "a", op="mul"), met("a", "y"), step("cast", "y", "b", to="float32"),
    step("fold", "b", "c", op="add", axes=(0,), acc="float64"), step("dot", "b c", "d"), met("d", "z"),
    step("alu", "z d", "e", op="lt"), step("alu", "e z d", "f", op="where"),
)  # fmt: skip
STARTED = (met("x", "t", start=True), step("alu", "x x", "a", op="add"), step("done", "t", "y"), met("a", "z"))


def case(*steps: Step, results: str) -> Case:
    blocks = tuple(from_array((np.arange(6).reshape(2, 3) + rank).astype(np.int32)) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split()))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)})


@pytest.fixture(scope="module", params=["jax", "torch"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    pytest.importorskip(request.param)
    name = {"jax": "Jax", "torch": "Torch"}[request.param]
    made: Backend = getattr(import_module(f"conformance.backends.{request.param}"), name)()
    yield made
    made.close()


@pytest.mark.parametrize("asked", [case(*STEPS, results="a y b c d z e f"), case(*STARTED, results="a y z")])
def test_frameworks_compute_between_collectives(backend: Backend, asked: Case) -> None:
    seen = backend.execute(asked)
    assert not seen.raised, seen.errors
    found = {
        name: [to_array(each).tolist() for each in made if each is not None] for name, made in seen.results.items()
    }
    right = {name: [block.tolist() for block in made if block is not None] for name, made in evaluate(asked).items()}
    assert found == right


class Plain(Backend):
    """Knows one collective."""

    name = "plain"

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Any) -> list[Array]:
        raise NotImplementedError


def test_who_does_not_claim_it_is_not_asked_to_compute() -> None:
    asked = case(*STEPS[:2], results="y")
    assert unasked(Plain().claims, ("all_reduce",), features(asked)) == "all_reduce: computes are not claimed"
    with pytest.raises(Unsupported, match="computes nothing beside collectives, and has no alu"):
        Plain().compute(STEPS[0], [])
