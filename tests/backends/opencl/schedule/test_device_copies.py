"""What is copied between devices: the elements that are wanted, each once, whoever asks first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, Copy, Elementwise, Movement
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.schedule.order import reachable
from conformance.backends.opencl.settings import ALGORITHMS, Algorithm
from conformance.cases.case import Case
from conformance.cases.tensor.layout import LAYOUTS
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.judging.schedules.verdict import ClauseFinding
from conformance.specs.schedules import judge, judge_two

RANKS = (0, 1, 2)


@pytest.mark.parametrize(
    ("view", "packed", "copied"),
    [
        (View((4,), (2,), 1), 3, 4),
        (View((2, 2), (-3, 1), 4), 3, 4),
        (View((2, 2), (1, 2)), 0, 4),
        (View((2, 3), (2, 0)), 3, 2),
        (View((2, 3), (0, 0), 5), 0, 1),
    ],
)
def test_elements_with_others_between_them_are_packed_once_for_all(view: View, packed: int, copied: int) -> None:
    blocks = tuple(Movement(Buffer(rank, "int32", 9, "x"), view) for rank in RANKS)
    made = collective("all_reduce", blocks, {"op": "sum"}, (RANKS,))
    nodes = reachable(tuple(lowering(made, RANKS, "naive").values()))
    assert len([node for node in nodes if isinstance(node, Elementwise)]) == packed
    assert [node.size for node in nodes if isinstance(node, Copy)] == [copied] * 6


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("algorithm", ["naive", "ring", "all_to_all", "tree"])
def test_what_is_packed_has_the_same_values(
    layout: str, algorithm: Algorithm, opencl: Any, make_program: Any, agree: Any
) -> None:
    piece = {"op": "sum", "axis": 1, "tiled": True}
    steps = [("all_reduce", ("x",), ("y",), {"op": "sum"}), ("reduce_scatter", ("x",), ("z",), piece)]
    steps += [("all_to_all", ("x",), ("t",), {"split_axis": 1, "concat_axis": 0, "tiled": True})]
    blocks = [np.full((2, 3), rank, np.int32) if layout == "broadcast" else np.arange(6) * rank for rank in RANKS]
    case = make_program({"r": 3}, {"x": [block.reshape(2, 3) for block in blocks]}, steps, ("y", "z", "t"), layout)
    agree(case, opencl(force=algorithm).execute(case))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_copies_do_not_depend_on_which_result_is_asked_for_first(
    algorithm: Algorithm, opencl: Any, make_program: Any
) -> None:
    steps = [
        ("all_to_all", ("x",), ("y",), {"split_axis": 1, "concat_axis": 0, "tiled": True}),
        ("all_gather", ("x",), ("dead",), {"axis": 0, "tiled": True}),
        ("all_reduce", ("x",), ("z",), {"op": "sum"}),
    ]
    cases = [make_program({"r": 3}, {"x": [np.ones((3, 3), np.float32)] * 3}, steps, r) for r in ("yz", "zy")]
    assert not broken(opencl(force=algorithm), *cases)


def test_which_device_writes_in_place_does_not_either(opencl: Any, make_program: Any) -> None:
    swap = {"pairs": ((0, 1), (1, 0))}
    steps = [("buffer", ("x",), ("b",), {}), ("permute", ("b",), ("y",), swap | {"into": ("b",)})]
    steps += [("permute", ("b",), ("z",), swap)]
    cases = [make_program({"r": 2}, {"x": [np.ones(4, np.int32)] * 2}, steps, results) for results in ("bz", "zb")]
    assert not broken(opencl(), *cases)


def broken(backend: Any, *cases: Case) -> list[ClauseFinding]:
    """Return what is broken of a case, and of it and another that asks for the same in another order."""
    first, second = (with_graph(backend.schedule(case), program_graph(case)) for case in cases)
    found = (*judge(first), *judge_two(first, second, "reordered"))
    return [each for each in found if each.finding == "broken"]
