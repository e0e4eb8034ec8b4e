"""In place, into outputs and asynchronous, real Gloo ranks mean what the reference says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.backends.torch import Torch
from conformance.cases.case import Case
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
