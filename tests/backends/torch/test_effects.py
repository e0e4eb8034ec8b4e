"""In place, into outputs and asynchronous, real Gloo ranks mean what the reference says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.backends.torch import Torch
from conformance.cases.case import Case
from conformance.cases.program.program import Step
from tests.backends.effectful import PROGRAMS, agrees, step

Make = Callable[..., Case]


@pytest.mark.parametrize("name", PROGRAMS)
def test_effects_are_those_of_eager_execution(name: str, torch: Torch, case: Make) -> None:
    agrees(torch, case("all_reduce", 2, shape=(8,), op="sum"), PROGRAMS[name])


def test_a_message_is_received_into_storage_and_is_zero_where_nobody_sends(torch: Torch, case: Make) -> None:
    sent: dict[str, Any] = {"axes": ("i",), "attrs": {"pairs": ((0, 1),)}}
    received = {**sent, "attrs": {**sent["attrs"], "shape": (8,), "dtype": "int32"}, "into": ("b",)}
    steps = [step("b = buffer x"), step("k = send x", **sent), step("y = recv k", **received), step("c = copy b")]
    agrees(torch, case("all_reduce", 2, shape=(8,), op="sum"), steps)


def test_functional_collectives_are_waited_for_in_any_order_and_twice(functional: Torch, case: Make) -> None:
    agrees(functional, case("all_reduce", 2, shape=(8,), op="sum"), PROGRAMS["started, waited for backwards and twice"])


ROWS = ((4, 4),) * 2


def part(name: str, start: int, stop: int) -> Step:
    return step(f"{name} = view b", attrs={"start": (start,), "stop": (stop,), "step": (1,)})


@pytest.mark.parametrize(
    ("op", "attrs", "rows", "made"),
    [
        ("all_gather", {"axis": 0, "tiled": True}, 4, 8),
        ("reduce_scatter", {"op": "sum", "axis": 0, "tiled": True}, 8, 4),
        ("all_to_all_uneven", {"sends": ROWS, "receives": ROWS}, 8, 8),
        ("gather", {"root": 1, "axis": 0, "tiled": True}, 4, 8),
    ],
)
@pytest.mark.parametrize("name", ["torch", "functional"])
def test_outputs_are_filled(
    name: str, op: str, attrs: dict[str, Any], rows: int, made: int, case: Make, request: pytest.FixtureRequest
) -> None:
    if (name, op) == ("functional", "gather"):
        return
    parts = [part("v", 0, rows), part("w", 8, 8 + made)]
    call = step(f"y = {op} v", axes=("i",), attrs=attrs, into=("w",))
    asked = case("all_reduce", 2, shape=(16,), op="sum")
    agrees(request.getfixturevalue(name), asked, [step("b = buffer x"), *parts, call, step("c = copy b")])


@pytest.mark.parametrize(("op", "attrs"), [("all_reduce", {"op": "sum"}), ("broadcast", {"root": 1})])
def test_functional_collectives_work_in_place(op: str, attrs: dict[str, Any], functional: Torch, case: Make) -> None:
    call = step(f"y = {op} b", axes=("i",), attrs=attrs, into=("b",))
    agrees(functional, case("all_reduce", 2, shape=(8,), op="sum"), [step("b = buffer x"), call, step("c = copy b")])
