"""In place, into outputs and asynchronous, real Gloo ranks mean what the reference says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.backends.torch import Torch
from conformance.cases.case import Case
from tests.backends.effectful import PROGRAMS, agrees

Make = Callable[..., Case]


@pytest.mark.parametrize("name", PROGRAMS)
def test_effects_are_those_of_eager_execution(name: str, torch: Torch, case: Make) -> None:
    agrees(torch, case("all_reduce", 2, shape=(8,), op="sum"), PROGRAMS[name])


def test_functional_collectives_are_waited_for_in_any_order_and_twice(functional: Torch, case: Make) -> None:
    agrees(functional, case("all_reduce", 2, shape=(8,), op="sum"), PROGRAMS["started, waited for backwards and twice"])
