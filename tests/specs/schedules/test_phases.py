"""What a barrier inside of a kernel keeps apart."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import alu, buffer, graph, line, reads, schedule, stored, writes
from conformance.cases.schedule.kernel_body import Alu, Body, Load, Store
from conformance.cases.schedule.schedule import Kernel
from conformance.specs.schedules import judge


@pytest.mark.parametrize(
    ("phase", "groups", "broken"), [(1, 0, set()), (0, 0, {"order.C1", "assign.C1"}), (1, 1, {"order.C1", "assign.C1"})]
)
def test_a_kernel_reads_what_it_wrote_behind_a_barrier_of_all_points(phase: int, groups: int, broken: set[str]) -> None:
    first = Body(extents=(4,), instructions=(Load(access=0), Alu(op="neg", of=(0,)), Store(access=1, of=1)))
    second = Body(extents=(4,), instructions=(Load(access=2), Alu(op="abs", of=(0,)), Store(access=3, of=1)))
    bodies = (replace(first, groups=groups), replace(second, phase=phase, groups=groups))
    back = replace(line()[0], strides=(-1,), offset=3)
    accesses = (reads("a", line()), writes("t", line()), reads("t", (back,)), writes("y", (back,)))
    kernel = Kernel(id="k", device="d0", accesses=accesses, bodies=bodies)
    nodes = (stored("a"), alu("t", "neg", "a"), alu("y", "abs", "t"))
    made = schedule(
        [buffer("a", preexisting=True), buffer("t"), buffer("y")], [kernel], graph(*nodes, results=["y"]), {"y": "y"}
    )
    musts = {"order.C1", "assign.C1", "bodies.C6", "law.C1"}
    assert {each.clause for each in judge(made) if each.finding == "broken"} & musts == broken
