"""One Torch for all tests, for importing it takes a second and forking ranks a tenth; and cases in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Axis, Groups, Program, Step
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array

pytest.importorskip("torch")

from conformance.backends.torch import Torch, TorchFunctional


@pytest.fixture(scope="session")
def torch() -> Iterator[Torch]:
    backend = Torch()
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def functional() -> Iterator[TorchFunctional]:
    backend = TorchFunctional()
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def case() -> Callable[..., Case]:
    return one_step


def one_step(
    operation: str,
    world: int,
    /,
    *,
    shape: tuple[int, ...] = (4,),
    dtype: object = np.int32,
    layout: Layout | Sequence[Layout] = "contiguous",
    groups: Groups | None = None,
    **attrs: Attr,
) -> Case:
    """Return a case in which element i of rank r is ``10 r + i``; a ``broadcast`` block repeats its first row."""
    layouts = (layout,) * world if isinstance(layout, str) else tuple(layout)
    blocks = [(10 * r + np.arange(np.prod(shape)).reshape(shape)).astype(dtype) for r in range(world)]
    if "broadcast" in layouts:
        blocks = [np.broadcast_to(block[:1], shape) for block in blocks]
    step = Step(op=operation, inputs=("x",), outputs=("y",), axes=("i",), groups=groups, attrs=attrs)
    program = Program(mesh=(Axis("i", world),), steps=(step,), results=("y",))
    return Case(program=program, inputs={"x": Operand(blocks=tuple(map(from_array, blocks)), layouts=layouts)})
