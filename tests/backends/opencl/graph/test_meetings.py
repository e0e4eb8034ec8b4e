"""Ranks that run different steps on the devices: groups as worlds of their own, and named errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.graph.case import GraphCase, Round, asked_key
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array, to_array
from tests.backends.opencl.conftest import OpenBackend

PAIRS = ((0, 1), (2, 3))
OTHERS = ((1, 0), (3, 2))


def step(
    name: str, ranks: tuple[int, ...] | None, op: str = "sum", groups: tuple[tuple[int, ...], ...] = PAIRS
) -> Step:
    return Step(
        op="all_reduce", inputs=("x",), outputs=(name,), axes=("i",), groups=groups, attrs={"op": op}, ranks=ranks
    )


def case(*steps: Step, faults: tuple[Fault, ...] = ()) -> Case:
    """Rank r holds [r] in x."""
    blocks = tuple(from_array(np.array([rank], np.int32)) for rank in range(4))
    program = Program(mesh=(Axis("i", 4),), steps=steps, results=tuple(each.outputs[0] for each in steps))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)}, faults=faults)


def test_each_group_is_a_world_of_its_own(opencl: OpenBackend) -> None:
    seen = opencl().execute(case(step("y", (0, 1)), step("z", (2,), "max"), step("u", (3,), "max")))
    found = {name: [block and to_array(block).tolist() for block in blocks] for name, blocks in seen.results.items()}
    assert found == {"y": [[1], [1], None, None], "z": [None, None, [3], None], "u": [None, None, None, [3]]}


@pytest.mark.parametrize(
    ("error", "steps"),
    [
        ("CallsDifferError", (step("y", (0,)), step("z", (1, 2, 3), "max"))),
        ("GroupsDifferError", (step("y", (0,), groups=OTHERS), step("z", (1, 2, 3)))),
        ("MemberDoneError", (step("y", (0,)), step("z", (2, 3)))),
    ],
)
def test_ranks_that_cannot_go_on_are_refused_before_anything_runs(
    opencl: OpenBackend, error: str, steps: tuple[Step, ...]
) -> None:
    seen = opencl().execute(case(*steps))
    assert {each and (each.kind, each.category) for each in seen.errors} == {(error, "invalid_argument")}


def test_no_rank_is_late_or_dies_here(opencl: OpenBackend) -> None:
    seen = opencl().execute(case(step("y", None), faults=(Fault(rank=0, before=0, delay=0.1),)))
    assert {each and each.category for each in seen.errors} == {"unsupported"}


def test_a_meeting_of_what_was_written_comes_after_one_of_what_was_there_before(opencl: OpenBackend) -> None:
    kept: dict[str, Any] = {"dtype": "int32", "shape": (2,)}
    nodes = [Node(id=f"{n}{i}", op="buf", device=f"d{i}", arg=f"{n}{i}", **kept) for n in "ac" for i in (0, 1)]
    rest: dict[str, Any] = {
        "op": "collective",
        "of": ("a0", "a1"),
        "dtype": "int32",
        "shape": (4,),
        "members": ("d0", "d1"),
    }
    rest |= {"arg": "all_gather", "attrs": {"axis": 0, "tiled": True}}
    nodes += [Node(id=f"old{i}", device=f"d{i}", **rest) for i in (0, 1)]
    nodes += [Node(id=f"w{i}", op="assign", of=(f"a{i}", f"c{i}"), device=f"d{i}", **kept) for i in (0, 1)]
    nodes += [Node(id=f"new{i}", device=f"d{i}", **rest) for i in (0, 1)]
    asked = ("old0", "new0", "old1", "new1")
    data = {
        f"{n}{i}": np.array([k, k + 1], np.int32) for n, i, k in (("a", 0, 1), ("a", 1, 3), ("c", 0, 5), ("c", 1, 7))
    }
    case = GraphCase(
        graph=Graph(nodes=tuple(nodes), results=asked),
        buffers={name: from_array(each) for name, each in data.items()},
        rounds=(Round(until=len(nodes), asked=asked),),
    )
    seen = opencl().graph(case)
    found = [to_array(seen.results[asked_key(0, name)][0]).tolist() for name in asked]
    assert found == [[1, 2, 3, 4], [5, 6, 7, 8]] * 2


def test_a_meeting_takes_what_was_overwritten_before_it_as_it_was(opencl: OpenBackend) -> None:
    kept: dict[str, Any] = {"dtype": "int32", "shape": (2,)}
    rest: dict[str, Any] = {"op": "collective", "of": ("old", "new"), "members": ("d0", "d1"), "arg": "all_gather"}
    rest |= {"attrs": {"axis": 0, "tiled": True}, "dtype": "int32", "shape": (4,)}
    nodes = (
        *(Node(id=name, op="buf", device="d0", arg=name, **kept) for name in ("a", "c")),
        Node(id="old", op="contig", of=("a",), device="d0", **kept),
        Node(id="w", op="assign", of=("a", "c"), device="d0", **kept),
        Node(id="new", op="copy", of=("w",), device="d1", **kept),
        *(Node(id=f"g{rank}", device=f"d{rank}", **rest) for rank in (0, 1)),
    )
    case = GraphCase(
        graph=Graph(nodes=nodes, results=("g0", "g1")),
        buffers={"a": from_array(np.array([1, 2], np.int32)), "c": from_array(np.array([5, 6], np.int32))},
        rounds=(Round(until=len(nodes), asked=("g0", "g1")),),
    )
    seen = opencl().graph(case)
    assert [to_array(seen.results[asked_key(0, name)][0]).tolist() for name in ("g0", "g1")] == [[1, 2, 5, 6]] * 2


def test_a_later_round_takes_what_came_of_a_meeting(opencl: OpenBackend) -> None:
    wide: dict[str, Any] = {"dtype": "int32", "shape": (4,)}
    rest: dict[str, Any] = {
        "op": "collective",
        "of": ("a0", "a1"),
        "members": ("d0", "d1"),
        "arg": "all_gather",
        **wide,
    }
    nodes = (
        *(
            Node(id=f"a{rank}", op="buf", device=f"d{rank}", arg=f"a{rank}", **{**wide, "shape": (2,)})
            for rank in (0, 1)
        ),
        *(Node(id=f"g{rank}", device=f"d{rank}", attrs={"axis": 0, "tiled": True}, **rest) for rank in (0, 1)),
        Node(id="y", op="alu", of=("g0", "g0"), arg="add", device="d0", **wide),
    )
    case = GraphCase(
        graph=Graph(nodes=nodes, results=("g0", "y")),
        buffers={f"a{rank}": from_array(np.array([rank, rank + 2], np.int32)) for rank in (0, 1)},
        rounds=(Round(until=4, asked=("g0",)), Round(until=len(nodes), asked=("y",))),
    )
    assert to_array(opencl().graph(case).results[asked_key(1, "y")][0]).tolist() == [0, 4, 2, 6]
