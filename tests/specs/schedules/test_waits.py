"""Who waits for what is started."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import buffer, elementwise
from conformance.specs.schedules import judge
from tests.specs.schedules.all_reduces import naive


@pytest.mark.parametrize(("after", "said"), [((0, 1, 2, 3), "held"), ((3,), "held"), ((0,), "broken")])
def test_waits_c1_edges_from_parts_of_a_collective(after: tuple[int, ...], said: str) -> None:
    """Parts without edges follow each other, so that the last one is after all of them."""
    made = naive(handle="h")
    sums = tuple(f"sum{d}" for d in range(4))
    items = [
        elementwise(f"z{d}", "add", f"z{d}", f"y{d}", 1.0, shape=(16,), device=f"d{d}", after=(sums[d],)) for d in after
    ]
    buffers = tuple(buffer(f"z{d}", 16, device=f"d{d}") for d in range(4))
    found = judge(replace(made, items=(*made.items, *items), buffers=(*made.buffers, *buffers)))
    assert next(each.finding for each in found if each.clause == "waits.C1") == said
