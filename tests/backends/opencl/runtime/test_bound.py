"""A program bound to its storages gives in them what a start gives, whoever else has used them in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.runtime.value import DeviceValue
from conformance.cases.program.program import Axis, Program, Step

SUM = Program(
    mesh=(Axis("i", 4),),
    steps=(Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"}),),
    results=("y",),
)


def given(engine: Any, first: int) -> DeviceValue:
    blocks = [np.arange(1024, dtype=np.float32) + first + rank for rank in range(4)]
    value: DeviceValue = engine.put([(block, block) for block in blocks])
    return value


@pytest.mark.parametrize("changes", [{}, {"batch_below": 0}, {"force": "ring"}])
def test_each_start_gives_what_the_inputs_hold_then(changes: dict[str, Any], opencl: Any) -> None:
    engine = opencl(**changes).engine
    x = given(engine, 0)
    bound = engine.bind(SUM, {"x": x})
    for _ in range(3):
        bound.start()
        bound.wait()
        assert all((each == np.arange(1024) * 4 + 6).all() for each in engine.read(bound.results["y"]))
    places = [storage.cell for storage in bound.results["y"].storages]
    # What reads and what writes the same storages is waited for, and waits.
    twice = engine.start(SUM, {"x": bound.results["y"]})
    bound.start()
    assert all((each == np.arange(1024) * 16 + 24).all() for each in engine.read(twice.done()["y"]))
    bound.wait()
    assert [storage.cell for storage in bound.results["y"].storages] == places
    assert all((each == np.arange(1024) * 4 + 6).all() for each in engine.read(bound.results["y"]))
