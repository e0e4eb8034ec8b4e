"""What kernels move, store at no point and launch, and what collectives make, said of each item and no more."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds
from conformance.cases.graph.graph import Function
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
from conformance.cases.schedule.kernel_body import Body, Cast, Index, Load, Store
from conformance.cases.schedule.schedule import Collective, Kernel, Schedule
from tests.specs.schedules.test_untold import findings

A, ONE = stored("a"), constant("1")
SUM = elementwise("s", "add", writes("s", line(), node="s"), "a", 1.0, provenance=("s",))
COPY = (Load(access=0), Store(access=1, of=0))
WHOLE = (reads("s", line()), writes("r", line(), node="r"))
TWO = (*WHOLE, reads("s", line()), writes("q", line(), node="q"))


def moved(kernel: Kernel, *, size: int = 4) -> str:
    """Return what is said of a kernel that stores reshapes of a sum in a buffer of that size."""
    shapes = {"r": (2, 2), "q": (4, 1)}
    names = [each.node for each in kernel.accesses if each.node]
    nodes = (A, ONE, alu("s", "add", "a", "1"), *(node(name, "reshape", "s", shape=shapes[name]) for name in names))
    buffers = (*given("a"), buffer("s", size), buffer("r"), buffer("q"))
    made = schedule(buffers, [SUM, kernel], graph(*nodes, results=names), {name: name for name in names})
    return findings(made)["movement.C1"]


def kernel(*bodies: tuple[object, ...], accesses: tuple[object, ...] = WHOLE) -> Kernel:
    every = tuple(Body(extents=(4,), instructions=each) for each in bodies)  # type: ignore[arg-type]  # instructions
    return Kernel(id="k", device="d0", accesses=accesses, bodies=every)  # type: ignore[arg-type]  # accesses


@pytest.mark.parametrize(
    "moving",
    [
        kernel((Load(access=0), *COPY[:1], Store(access=1, of=1))),
        kernel((*COPY, Store(access=3, of=0)), accesses=(*WHOLE, *TWO[2:])),
        kernel(COPY, (Load(access=2), Store(access=3, of=0)), accesses=TWO),
    ],
)
def test_movement_c1_a_kernel_that_only_loads_and_stores_several_times(moving: Kernel) -> None:
    assert moved(moving) == "broken"


def test_movement_c1_a_value_in_a_part_of_a_buffer_and_a_kernel_without_a_body() -> None:
    assert moved(kernel(COPY), size=8) == "broken"
    assert moved(opaque("k", reads("s"), writes("r", node="r"))) == "silent"
    assert moved(opaque("k", reads("s"), writes("r", node="r"), provenance=("s", "r"))) == "held"


@pytest.mark.parametrize("variables", [{}, {"n": Bounds(low=1, high=8)}])
def test_movement_c1_of_a_value_in_a_buffer_that_is_larger(variables: dict[str, Bounds]) -> None:
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("r", "reshape", "s", shape=(2, 2)))
    halves = [
        elementwise(f"s{at}", "add", writes("s", line(2, at), node="s"), reads("a", line(2, at)), 1.0, shape=(2,))
        for at in (0, 2)
    ]
    made = schedule(
        (*given("a"), buffer("s", 8), buffer("r")), [*halves, kernel(COPY)],
        graph(*nodes, results=["r"]), {"r": "r"}, variables=variables,
    )  # fmt: skip
    assert findings(made)["movement.C1"] == "broken"


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (Affine(extents=(4, 0), strides=(1, 1)), "held"),
        (Affine(extents=(4, 2), strides=(1, 0), mask=((2, 2), (0, 2))), "held"),
        (Affine(extents=(4, 2), strides=(0, 1)), "broken"),
    ],
)
def test_bodies_c5_what_is_stored_at_no_point_depends_on_no_axis(where: Affine, found: str) -> None:
    body = Body(extents=where.extents, instructions=(Index(axis=0), Cast(of=0, dtype="float32"), Store(access=0, of=1)))
    made = Kernel(id="k", device="d0", accesses=(writes("y", (where,)),), bodies=(body,))
    assert findings(schedule((buffer("y"),), [made]))["bodies.C5"] == found


def met(*, second: bool, reverse: bool = False) -> Schedule:
    """Return two all_reduces, the second of which says what it makes or does not, in this order of members."""
    items, nodes, devices = [], [stored("x0"), stored("x1", device="d1")], ("d0", "d1")
    for source, target, labels in (("x", "y", True), ("y", "z", second)):
        of = tuple(f"{source}{d}" for d in range(2))
        for d, at in enumerate(devices):
            rest = {"arg": "all_reduce", "attrs": {"op": "sum"}, "members": devices}
            nodes.append(node(f"{target}{d}", "collective", *of, device=at, **rest))
        order = (1, 0) if reverse and target == "z" else (0, 1)
        put = [writes(f"{target}{d}", node=f"{target}{d}" if labels else None) for d in order]
        accesses = (*(reads(of[d]) for d in order), *put)
        members = tuple(devices[d] for d in order)
        met = {"op": "all_reduce", "attrs": {"op": "sum"}, "participants": members, "group": "g"}
        items.append(Collective(id=target, accesses=accesses, **met))  # type: ignore[arg-type]  # fields
    buffers = [buffer(f"{n}{d}", device=f"d{d}", preexisting=n == "x") for n in "xyz" for d in range(2)]
    return schedule(buffers, items, graph(*nodes, results=["z0", "z1"]), {"z0": "z0", "z1": "z1"})


def test_copies_c11_says_nothing_of_a_collective_that_does_not_say_what_it_makes() -> None:
    said = [findings(met(second=second, reverse=back))["copies.C11"] for second in (True, False) for back in (0, 1)]
    assert said == ["held", "broken", "silent", "silent"]


def test_variables_c10_says_nothing_of_parameters_without_an_argument() -> None:
    held = Function(nodes=(node("p", "param", arg=1), alu("t", "add", "p", "p")), result="t")
    call = graph(A, node("y", "call", "a", arg="f"), results=["y"], functions={"f": held})
    made = schedule((*given("a"), buffer("y")), [opaque("k", reads("a"), writes("y", node="y"))], call, {"y": "y"})
    assert findings(made)["variables.C10"] == "silent"


@pytest.mark.parametrize(("second", "found"), [("p", "silent"), ("q", "held")])
def test_dedup_c3_says_nothing_of_a_program_whose_second_kernel_has_no_body(second: str, found: str) -> None:
    bodied = [replace(elementwise(f"k{n}", "move", f"t{n}", "a"), program="p") for n in range(2)]
    last = opaque("k2", reads("a"), writes("t2"), program=second)
    made = schedule((*given("a"), *(buffer(f"t{n}") for n in range(3))), [*bodied, last])
    assert findings(made)["dedup.C3"] == found
    alone = schedule((*given("a"), *(buffer(f"t{n}") for n in range(3))), [bodied[0], last])
    assert findings(alone)["dedup.C3"] == "silent"
