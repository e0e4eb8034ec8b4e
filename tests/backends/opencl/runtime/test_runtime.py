"""Memory that is counted, kernels that are shared, and a platform that says what is missing."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from conformance.backends.opencl.render.kernels import Body
from conformance.backends.opencl.runtime.memory import PARTS, Memory
from conformance.backends.opencl.runtime.session import Session


class Kept(np.ndarray):
    """An array that can be asked whether it is alive."""


def test_what_was_put_and_read_is_not_kept(opencl: Any) -> None:
    engine = opencl().engine
    blocks = [np.ones(3001 + rank, np.float32).view(Kept) for rank in range(2)]
    alive = [weakref.ref(block) for block in blocks]
    value = engine.put([(block, block) for block in blocks])
    assert [each.sum() for each in engine.read(value) if each is not None] == [3001, 3002]
    del value, blocks
    gc.collect()
    assert [each() for each in alive] == [None, None]


def test_a_launch_that_fails_half_way_is_waited_for(opencl: Any, make_case: Any, monkeypatch: Any) -> None:
    engine = opencl(force="ring").engine
    case = make_case("all_reduce", [np.ones(4, np.float32)] * 3, op="sum")
    value = engine.put([(block, block) for block in case.blocks()["x"]])
    plan = engine.plan(case.program, {"x": value})
    for count in range(len(plan.commands)):
        for storage in value.storages:
            storage.cell.under_way.clear()
        with monkeypatch.context() as patched:
            patched.setattr(type(plan.commands[count]), "enqueue", nth(count, type(plan.commands[count]).enqueue, plan))
            with pytest.raises(RuntimeError, match="no more"):
                engine.start(case.program, {"x": value})
        wanted = {
            (id(value.storages[plan.inputs[place]].cell), (each.queue, write, start, stop))
            for each in plan.commands[:count]
            for place, start, stop, write in each.uses
            if place < len(plan.inputs)
        }
        assert wanted == {(id(each.cell), use) for each in value.storages for use in each.cell.under_way}


def nth(count: int, enqueue: Any, plan: Any) -> Any:
    """Return an ``enqueue`` that fails for the command of a plan with the number ``count``."""

    def failing(self: Any, *given: Any) -> Any:
        if self is plan.commands[count]:
            raise RuntimeError("no more")
        return enqueue(self, *given)

    return failing


def test_sub_buffers_are_bounded(session: Session) -> None:
    storage = session.memory.allocate(2**20)
    first = storage.cell.part(0, 128)
    for at in range(1, 4 * PARTS):
        storage.cell.part(at * 128, at * 128 + 128)
        assert storage.cell.part(0, 128) is first
    assert len(storage.cell.parts) == PARTS


def test_held_counts_what_opencl_counts(pocl: Session) -> None:
    # PoCL counts a sub-buffer among the references to its parent; Intel's runtime does not.
    memory = Memory(pocl.platform.context)
    storage, constant = memory.allocate(2**20), memory.constant(np.ones(4, np.int32))
    for count in range(1, PARTS + 9):
        storage.cell.part(count * 128, count * 128 + 128)
        # A sub-buffer holds its parent.
        assert storage.cell.buffer.reference_count == 1 + min(count, PARTS) == memory.held - 1
    handle = cl.Buffer.from_int_ptr(storage.cell.buffer.int_ptr, retain=True)
    del storage
    assert (memory.live, memory.held) == (0, 2 + PARTS)
    memory.trim()
    assert (memory.held, handle.reference_count) == (1, 1)
    memory.release(constant)
    assert memory.held == 0


def test_a_plan_that_cannot_be_made_gives_its_memory_back(
    opencl: Any, make_case: Any, session: Session, monkeypatch: Any
) -> None:
    def broken(body: Body) -> None:
        raise RuntimeError(f"no {body.kernel} today")

    monkeypatch.setattr(session.kernels, "kernel", broken)
    seen = opencl().execute(make_case("all_reduce", [np.ones(4, np.float32)] * 3, op="sum"))
    assert seen.errors[0].category == "internal"
    assert session.memory.live == 0


def test_kernel_arguments_stay_alive_until_they_are_read(
    opencl: Any, make_case: Any, session: Session, agree: Any
) -> None:
    cases = [make_case("all_reduce", [np.full(500, rank, np.int32) for rank in range(8)], op="sum")] * 5
    for case in cases:
        gc.collect()
        agree(case, opencl(force="ring").execute(case))
    assert session.memory.live == 0


def test_no_empty_buffer_is_asked_for(session: Session) -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        session.memory.allocate(0)


def test_shapes_and_operations_need_no_kernel_of_their_own(opencl: Any, make_case: Any, session: Session) -> None:
    backend = opencl(force="naive")
    backend.execute(make_case("all_reduce", [np.ones(3, np.float32)] * 4, op="sum"))
    before = session.kernels.kernel(Body("sum", "float32", "float32"))
    made = len(session.kernels._made)
    for shape in ((5,), (2, 3), (2, 1, 4)):
        backend.execute(make_case("all_reduce", [np.ones(shape, np.float32)] * 4, op="product"))
        backend.execute(make_case("arg_reduce", [np.ones(shape, np.float32)] * 4, op="max"))
    assert session.kernels.kernel(Body("arg_max", "float32", "float32")) is before
    assert len(session.kernels._made) == made


def test_every_rank_has_an_in_order_queue_and_every_device_its_share_of_them(session: Session) -> None:
    queues, devices = session.platform.queues, session.platform.context.devices
    assert len(queues) == len({queue.int_ptr for queue in queues}) == 8
    assert {queue.device for queue in queues} == set(devices)
    assert not any(queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE for queue in queues)
    assert session.platform.queue_of(9) == 1
