"""Small cases and deliberately bad backends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array

BAD = Path(__file__).parents[1] / "backends" / "bad"


def broadcast_of(first: int, extent: int = 4) -> Case:
    """Return the broadcast of one block of bytes, all ``first``, on two ranks; rank 1 holds zeros."""
    blocks = tuple(from_array(np.full(extent, value, np.uint8)) for value in (first, 0))
    step = Step(op="broadcast", inputs=("x",), outputs=("y",), axes=("i",), attrs={"root": 0})
    return Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "contiguous"))},
    )


@pytest.fixture
def make() -> Callable[..., Case]:
    """Return the maker of cases."""
    return broadcast_of


@pytest.fixture
def bad_program() -> Path:
    """Return the script that speaks the protocol and breaks it as its argument says."""
    return BAD / "speaks.py"


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return the backend name of a bad backend by its module."""
    monkeypatch.syspath_prepend(BAD)
    monkeypatch.setenv("PYTHONPATH", str(BAD))
    return lambda module: f"{module}:Bad"
