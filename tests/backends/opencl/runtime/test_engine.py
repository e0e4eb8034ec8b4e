"""Values that stay on the devices: programs that feed each other without anybody waiting, and no memory left over."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pyopencl as cl
import pytest

from conformance.backends.opencl.runtime import engine as engines
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.memory import FORGET, Cell
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.schedule.item import Kernel
from conformance.backends.opencl.settings import PLATFORM, POCL, Settings
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.dtypes import Array


def one_step(op: str, inputs: tuple[str, ...] = ("x",), /, **attrs: Attr) -> Program:
    outputs = tuple(f"y{k}" for k in range(len(inputs)))
    step = Step(op=op, inputs=inputs, outputs=outputs, axes=("i",), attrs=attrs)
    return Program(mesh=(Axis("i", 4),), steps=(step,), results=outputs)


def four(size: int = 40) -> list[tuple[Array, Array]]:
    return [(block, block) for block in (np.arange(size, dtype=np.int32) + rank for rank in range(4))]


@pytest.fixture
def engine(session: Session) -> Engine:
    return Engine(session, Settings())


def test_a_result_is_the_next_input_and_nobody_waits(engine: Engine) -> None:
    value = engine.put(four())
    for _ in range(3):
        value = engine.start(one_step("permute", pairs=((0, 1), (1, 2), (2, 3), (3, 0))), {"x": value}).done()["y0"]
    assert [block[0] for block in engine.read(value) if block is not None] == [1, 2, 3, 0]


def test_a_value_outlives_those_it_was_made_of(engine: Engine) -> None:
    total = engine.start(one_step("all_reduce", op="sum"), {"x": engine.put(four())}).done()["y0"]
    for filling in range(8):
        engine.put([(block, block) for block in [np.full(40, filling, np.int32)] * 4])
    assert all((block == np.arange(40) * 4 + 6).all() for block in engine.read(total) if block is not None)


def test_two_operands_may_be_one_value(engine: Engine) -> None:
    program = Program(
        mesh=(Axis("i", 4),),
        steps=(
            Step(op="all_reduce", inputs=("a",), outputs=("c",), axes=("i",), attrs={"op": "sum"}),
            Step(op="all_reduce", inputs=("b",), outputs=("d",), axes=("i",), attrs={"op": "max"}),
        ),
        results=("c", "d"),
    )
    x = engine.put(four(3))
    started = engine.start(program, {"a": x, "b": x})
    assert len(started.plan.inputs) == 4
    assert [engine.read(started.done()[name])[0] for name in "cd"] == [
        pytest.approx([6, 10, 14]),
        pytest.approx([3, 4, 5]),
    ]
    assert engine.start(program, {"a": x, "b": engine.put(four(3))}).plan is not started.plan


def test_one_plan_serves_every_value_of_a_form(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PLANS", 2)
    program = one_step("all_gather", axis=0, tiled=True)
    first = engine.start(program, {"x": engine.put(four())}).plan
    assert engine.start(one_step("all_gather", axis=0, tiled=True), {"x": engine.put(four())}).plan is first
    assert engine.start(program, {"x": engine.put(four(41))}).plan is not first
    engine.start(one_step("all_gather", axis=0, tiled=False), {"x": engine.put(four())})
    assert len(engine._plans) == 2


@pytest.mark.parametrize("reuse", [True, False])
def test_no_buffer_is_left_over(reuse: bool) -> None:
    # PoCL counts a sub-buffer among the references to its parent; Intel's runtime does not.
    session = Session(Settings(platform=POCL, reuse=reuse))
    engine = Engine(session, Settings(reuse=reuse))
    x = engine.put(four(4000))
    y = engine.start(one_step("all_reduce", op="sum"), {"x": x}).done()
    assert session.memory.live == 8
    engine.read(y["y0"])
    handles = [
        cl.Buffer.from_int_ptr(each.cell.buffer.int_ptr, retain=True)
        for each in (*x.storages, *y["y0"].storages)
        if each
    ]
    # A constant, eight buffers, of each of which every device binds a part; and a handle of each here.
    assert session.memory.held == 1 + 8 + 8 * 4 == 1 + sum(each.reference_count - 1 for each in handles)
    del x, y
    gc.collect()
    assert session.memory.live == 0
    assert (session.memory.held == 1) is not reuse
    engine.forget()
    session.memory.trim()
    gc.collect()
    assert session.memory.held == 0
    assert [each.reference_count for each in handles] == [1] * 8


def test_a_command_waits_for_what_it_conflicts_with_on_other_queues() -> None:
    cell = Cell(None, 256)
    cell.enqueued((0, True, 0, 128), "written")
    cell.enqueued((1, False, 128, 256), "read")
    assert cell.conflicts(2, 100, 140, write=False) == ["written"]
    assert cell.conflicts(2, 100, 140, write=True) == ["written", "read"]
    assert cell.conflicts(0, 0, 128, write=True) == []
    assert cell.conflicts(2, 128, 256, write=False) == []


def test_what_is_done_is_forgotten(session: Session) -> None:
    storage = session.memory.allocate(1024)
    queue = session.platform.queues[0]
    for start in range(2 * FORGET):
        event = cl.enqueue_marker(queue)
        queue.finish()
        storage.cell.enqueued((0, False, start, start + 1), event)
    assert len(storage.cell.under_way) <= FORGET + 1


def test_a_command_that_failed_holds_nobody_up(session: Session) -> None:
    storage = session.memory.allocate(1024)
    failed = cl.UserEvent(session.platform.context)
    storage.cell.enqueued((1, True, 0, 1024), failed)
    storage.cell.forget()
    assert storage.cell.conflicts(0, 0, 1024, write=True) == [failed]
    failed.set_status(-5)
    storage.cell.forget()
    assert storage.cell.conflicts(0, 0, 1024, write=True) == []


STRESS = """
import random
from dataclasses import replace
import numpy as np
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import from_environment
from conformance.cases.program.program import Axis, Program, Step
chosen = random.Random(7)
for reuse in (True, False):
    for force in ("direct", "ring"):
        backend = OpenCL(replace(from_environment(), force=force, reuse=reuse))
        session = backend.session
        engine = backend.engine
        def step(op, /, **attrs):
            steps = (Step(op=op, inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs),)
            return Program(mesh=(Axis("i", 4),), steps=steps, results=("y",))
        moves = [
            (step("all_reduce", op="sum"), lambda v: [sum(v)] * 4),
            (step("permute", pairs=((0, 1), (1, 2), (2, 3), (3, 0))), lambda v: [v[3], *v[:3]]),
            (step("all_to_all", split_axis=0, concat_axis=0, tiled=True),
             lambda v: [np.concatenate([np.split(b, 4)[r] for b in v]) for r in range(4)]),
        ]
        for size in (64, 40000):
            values = []
            for k in range(4):
                blocks = [np.random.default_rng(k * 4 + r).integers(0, 2**16, size).astype(np.uint32) for r in range(4)]
                values.append((engine.put([(b, b) for b in blocks]), blocks))
            for _ in range(40):
                program, meaning = chosen.choice(moves)
                value, blocks = chosen.choice(values)
                result = engine.start(program, {"x": value}).done()["y"]
                values[chosen.randrange(4)] = result, meaning(blocks)
                del value, result
            for value, blocks in values:
                for found, wanted in zip(engine.read(value), blocks, strict=True):
                    assert (found == wanted).all(), (reuse, force, size)
            del values, value
        assert session.memory.live == 0
"""


@pytest.mark.parametrize("platform", ["", pytest.param(POCL, marks=pytest.mark.slow)])
def test_many_programs_in_flight_on_queues_that_run_side_by_side_keep_their_values(platform: str) -> None:
    # A process of its own, for PoCL makes its devices once.
    environment = {**os.environ, "POCL_DEVICES": "pthread pthread pthread pthread", PLATFORM: platform}
    done = subprocess.run(
        [sys.executable, "-c", STRESS], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_program_without_a_meaning_starts_nothing(engine: Engine, session: Session) -> None:
    x = engine.put(four())
    with pytest.raises(ValueError, match="axis 1 is outside"):
        engine.start(one_step("all_gather", axis=1, tiled=True), {"x": x})
    del x
    gc.collect()
    assert session.memory.live == 0


def test_a_run_of_many_shapes_keeps_kernels_few(session: Session) -> None:
    # The caches hold all of the smallest, part of the next ones and none of the largest.
    engine = Engine(session, Settings(cached=2**21, batch_below=0))

    def run(size: int) -> set[float]:
        plan = engine.start(one_step("all_reduce", op="sum"), {"x": engine.put(four(size))}).plan
        bodies = [item.body for item in plan.schedule.items if isinstance(item, Kernel)]
        return {body.stream.nontemporal for body in bodies if body.stream is not None}

    assert run(2**16) == {0.0}
    made = len(session.kernels._made)
    assert all(0 < past < 1 for size in (80000, 100000) for past in run(size))
    assert run(2**17) == {1.0}
    run(70001)
    assert len(session.kernels._made) == made
