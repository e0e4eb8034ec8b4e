"""Memory that is counted, kernels that are shared, and a platform that says what is missing."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.render import Body
from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import Settings


def test_a_launch_that_fails_half_way_gives_its_memory_back(
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
    backend.execute(make_case("all_reduce", [np.ones(3, np.float32)] * 2, op="sum"))
    before = session.kernels.kernel(Body("sum", "float32", "float32"))
    made = len(session.kernels._made)
    for shape in ((5,), (2, 3), (2, 1, 4)):
        backend.execute(make_case("all_reduce", [np.ones(shape, np.float32)] * 4, op="product"))
        backend.execute(make_case("arg_reduce", [np.ones(shape, np.float32)] * 4, op="max"))
    assert session.kernels.kernel(Body("arg_max", "float32", "float32")) is before
    assert len(session.kernels._made) == made


def test_a_platform_is_chosen_by_name() -> None:
    with pytest.raises(NoPlatformError, match="no OpenCL platform named 'Acme'; found 'Portable Computing Language'"):
        Session(Settings(platform="Acme"))


def test_eight_devices_have_one_in_order_queue_each(session: Session) -> None:
    assert len(session.platform.queues) == 8
    assert len({queue.device for queue in session.platform.queues}) == 8
    assert session.platform.queue_of(9) == 1
