"""``staging.C1``: what a point reads of local memory, and who else writes it in the same phase."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.schedule.builders import alu, buffer, graph, line, reads, schedule, stored, writes
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Alu, Body, Load, Store
from conformance.cases.schedule.schedule import Kernel
from conformance.specs.schedules import judge

FILL = Body(extents=(4,), instructions=(Load(access=0), Store(access=1, of=0)))


def finding(second: Body, *accesses: object) -> str:
    """Return what ``staging.C1`` says of a body that comes after local memory was filled."""
    nodes = (stored("a"), alu("y", "neg", "a"))
    kernel = Kernel(
        id="k", device="d0", accesses=(reads("a", line()), writes("t", line()), *accesses), bodies=(FILL, second)
    )
    buffers = [buffer("a", preexisting=True), replace(buffer("t"), local=True), buffer("y")]
    made = schedule(buffers, [kernel], graph(*nodes, results=["y"]), {"y": "y"})
    return next(each.finding for each in judge(made) if each.clause == "staging.C1")


ADD = (Load(access=2), Load(access=3), Alu(op="add", of=(0, 1)), Store(access=4, of=2))
LOW, HIGH = line(2), line(2, offset=2)


def test_a_point_adds_to_what_only_itself_writes() -> None:
    tree = Body(extents=(2,), phase=1, instructions=ADD)
    assert finding(tree, reads("t", LOW), reads("t", HIGH), writes("t", LOW)) == "held"


def test_a_point_reads_what_another_writes_in_the_phase() -> None:
    shifted = Body(extents=(2,), phase=1, instructions=ADD)
    assert finding(shifted, reads("t", LOW), reads("t", line(2, offset=1)), writes("t", LOW)) == "broken"


def test_two_points_write_the_element_that_each_reads_back() -> None:
    square, crossed = (Affine(extents=(2, 2), strides=(2, 1)),), (Affine(extents=(2, 2), strides=(1, 1)),)
    kept = (Load(access=2), Store(access=3, of=0), Load(access=4), Store(access=5, of=2))
    body = Body(extents=(2, 2), phase=1, instructions=kept)
    accesses = (reads("a", square), writes("t", crossed), reads("t", crossed), writes("y", square))
    assert finding(body, *accesses) == "broken"
