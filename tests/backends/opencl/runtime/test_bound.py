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


def layers(count: int) -> Program:
    """Return sums of computed values, each of the sum before it: the third may lie where the first lay."""
    steps: list[Step] = []
    for n in range(count):
        of = (f"s{n - 1}" if n else "x", "x")
        steps += [
            Step(op="alu", inputs=of, outputs=(f"a{n}",), axes=(), attrs={"op": "add"}),
            Step(op="all_reduce", inputs=(f"a{n}",), outputs=(f"s{n}",), axes=("i",), attrs={"op": "sum"}),
        ]
    return Program(mesh=(Axis("i", 4),), steps=tuple(steps), results=(f"s{count - 1}",))


def test_values_of_a_bound_program_share_no_bytes_where_the_caches_hold_all(opencl: Any) -> None:
    roomy, narrow = opencl(), opencl(cached=0)
    bytes_of, results = [], []
    for engine in (roomy.engine, narrow.engine):
        x = given(engine, 0)
        bound = engine.bind(layers(4), {"x": x})
        for _ in range(2):
            bound.start()
            bound.wait()
        results.append([block.tobytes() for block in engine.read(bound.results["s3"])])
        bytes_of.append(sum(storage.cell.size for storage in bound.storages))
    assert results[0] == results[1]
    assert bytes_of[0] > bytes_of[1]


def test_a_start_waits_for_whoever_used_its_inputs_since_the_last(opencl: Any) -> None:
    engine = opencl().engine
    x = given(engine, 0)
    first, second = engine.bind(SUM, {"x": x}), engine.bind(layers(2), {"x": x})
    for _ in range(3):
        for bound in (first, second):
            bound.start()
        second.wait()
        first.wait()
    total = np.arange(1024) * 4 + 6.0
    assert all((each == total).all() for each in engine.read(first.results["y"]))
    assert all((each == 9 * total).all() for each in engine.read(second.results["s1"]))
