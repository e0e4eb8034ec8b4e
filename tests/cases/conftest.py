"""A small case to start from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import conformance.reference.operations  # noqa: F401 - what each operation is, is written there
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array

Make = Callable[..., Case]


def gathered(blocks: list[Array] | None = None, layout: Layout = "contiguous") -> Case:
    """Return the all_gather of ``blocks``, one for each rank (default: 1 and 2 as int32), into ``y``."""
    blocks = [np.array([value], np.int32) for value in (1, 2)] if blocks is None else blocks
    step = Step(op="all_gather", inputs=("x",), outputs=("y",), axes=("i",), attrs={"axis": 0, "tiled": False})
    return Case(
        program=Program(mesh=(Axis("i", len(blocks)),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=tuple(map(from_array, blocks)), layouts=(layout,) * len(blocks))},
    )


@pytest.fixture
def make() -> Make:
    """Return the maker of cases."""
    return gathered
