"""Cases in a line, and what the reference says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from conformance.backends.base import Backend
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.reference.spmd import evaluate

MakeCase = Callable[..., Case]
Agrees = Callable[[Backend, Case], None]


@pytest.fixture(scope="session")
def one() -> MakeCase:
    return one_step


@pytest.fixture(scope="session")
def agrees() -> Agrees:
    return check


def one_step(
    operation: str,
    world: int,
    /,
    *,
    shape: tuple[int, ...] = (4,),
    dtype: object = np.int32,
    layout: Layout | Sequence[Layout] = "contiguous",
    groups: Groups | None = None,
    operands: int = 1,
    **attrs: Attr,
) -> Case:
    """Return a case in which element i of rank r is ``10 r + i``; a ``broadcast`` block repeats its first row."""
    layouts = (layout,) * world if isinstance(layout, str) else tuple(layout)
    blocks = [(10 * r + np.arange(np.prod(shape)).reshape(shape)).astype(dtype) for r in range(world)]
    if "broadcast" in layouts:
        blocks = [np.broadcast_to(block[:1], shape) for block in blocks]
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=layouts)
    inputs = {f"x{i}": operand for i in range(operands)}
    outputs = tuple(f"y{i}" for i in range(operands)) or (() if operation == "barrier" else ("y",))
    step = Step(op=operation, inputs=tuple(inputs), outputs=outputs, axes=("i",), groups=groups, attrs=attrs)
    return Case(program=Program(mesh=(Axis("i", world),), steps=(step,), results=outputs), inputs=inputs)


def check(backend: Backend, asked: Case) -> None:
    """Demand the values of the reference where it has any, no error, and untouched inputs."""
    seen = backend.execute(asked)
    assert seen.errors == ()
    assert seen.touched == ()
    for name, blocks in evaluate(asked).items():
        assert seen.results[name] == tuple(None if block is None else from_array(block) for block in blocks)
