"""Values that lie between two kernels: of several phases, and of which nobody knows what they do."""

from __future__ import annotations

import pytest

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    opaque,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body, Load, Reduce, Store
from conformance.cases.schedule.schedule import Item, Kernel
from conformance.specs.schedules import judge

FIRST = (stored("a"), constant("1"), alu("z", "add", "a", "1"))
SUM = node("r", "reduce", "z", shape=(), arg=(0,), fold="add")
DOUBLE = alu("r", "add", "z", "z")
MADE = elementwise("k", "add", writes("z", line(), node="z"), "a", 1.0, provenance=("z",))
HIDDEN = opaque("k", reads("a"), writes("z", node="z"), provenance=("z",))
AT_ONE = (Affine(extents=(4,), strides=(0,)),)


def findings(*items: Item, doubled: bool = False) -> dict[str, str]:
    nodes = graph(*FIRST, DOUBLE if doubled else SUM, results=["r"])
    buffers = (*given("a"), buffer("z"), buffer("r", 4 if doubled else 1), buffer("t", local=True))
    return {each.clause: each.finding for each in judge(schedule(buffers, items, nodes, {"r": "r"}))}


def summed(*, staged: bool) -> Kernel:
    """Return the kernel that sums z, by way of local memory where it is ``staged``."""
    own = (reads("z", line()), writes("r", AT_ONE, node="r"), writes("t", line()), reads("t", line()))
    kept = Body(extents=(4,), instructions=(Load(access=0), Store(access=2, of=0)))
    code = (Load(access=3 if staged else 0), Reduce(op="add", of=0, axes=(0,)), Store(access=1, of=1))
    bodies = (*([kept] if staged else []), Body(extents=(4,), instructions=code, phase=int(staged)))
    return Kernel(id="l", device="d0", accesses=own if staged else own[:2], bodies=bodies, provenance=("r",))


@pytest.mark.parametrize("staged", [False, True])
def test_fusion_c2_a_reduce_of_one_or_two_phases(staged: bool) -> None:
    assert findings(MADE, summed(staged=staged))["fusion.C2"] == "broken"


@pytest.mark.parametrize("maker", [MADE, HIDDEN])
def test_fusion_c2_says_nothing_where_nobody_knows_what_a_kernel_does(maker: Kernel) -> None:
    taken = opaque("l", reads("z"), writes("r", node="r"), provenance=("r",))
    assert findings(maker, taken)["fusion.C2"] == "silent"
    assert findings(HIDDEN, summed(staged=False))["fusion.C2"] == "silent"


def test_fusion_c1_says_nothing_where_nobody_knows_what_a_kernel_does() -> None:
    taken = opaque("l", reads("z"), writes("r", node="r"), provenance=("r",))
    assert findings(MADE, taken, doubled=True)["fusion.C1"] == "silent"
