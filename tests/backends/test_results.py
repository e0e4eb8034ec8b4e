"""What a method may return: anything that NumPy reads as an array of the right elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.base import Backend
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array

BLOCK = np.array([1, 2, 300], np.int32)


class Late:
    """An array that is computed when it is read."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return BLOCK.copy()


class Given(Backend):
    """Passes on what it was made with, and insists on arrays in native byte order."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def broadcast(self, blocks: Any, *, groups: Any, root: int = 0) -> Any:
        assert all(type(block) is np.ndarray and block.dtype.isnative for block in blocks)
        return [self.given for _ in blocks]


@pytest.mark.parametrize("given", [Late(), memoryview(BLOCK), BLOCK.astype(">i4"), BLOCK[::-1].copy()[::-1]])
def test_results_are_read_as_arrays_after_each_step(given: Any) -> None:
    first = Step(op="broadcast", inputs=("x",), outputs=("y",), axes=("i",), attrs={"root": 0})
    second = Step(op="broadcast", inputs=("y",), outputs=("z",), axes=("i",), attrs={"root": 0})
    program = Program(mesh=(Axis("i", 1),), steps=(first, second), results=("z",))
    case = Case(program=program, inputs={"x": Operand(blocks=(from_array(BLOCK),), layouts=("contiguous",))})
    observed = Given(given).execute(case)
    assert observed.results == {"z": (from_array(BLOCK),)}, observed.errors
