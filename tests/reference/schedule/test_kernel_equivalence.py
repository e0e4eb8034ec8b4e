"""Kernels of one program are compared on bytes that both read, also where one of them works in place."""

from __future__ import annotations

import pytest

from conformance.cases.schedule.builders import alu, buffer, constant, elementwise, graph, line, schedule, stored
from conformance.cases.schedule.builders import writes as written
from conformance.cases.schedule.schedule import Schedule
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.kernel_equivalence import alike


def made(op: str) -> Schedule:
    nodes = stored("a"), constant("1"), alu("x", "add", "a", "1"), alu("y", op, "a", "1")
    items = [
        elementwise("x", "add", written("x", line(), node="x"), "a", 1.0, provenance=("x",)),
        elementwise("y", op, written("a", line(), node="y"), "a", 1.0, provenance=("y",)),
    ]
    return schedule((buffer("a", preexisting=True), buffer("x")), items, graph(*nodes, results=["x"]), {"x": "x"})


@pytest.mark.parametrize(("op", "same"), [("add", True), ("sub", False)])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0)])
def test_a_kernel_in_place_is_compared_on_what_it_reads(op: str, same: bool, pair: tuple[int, int]) -> None:
    assert alike(Facts(made(op)), *pair) == same
