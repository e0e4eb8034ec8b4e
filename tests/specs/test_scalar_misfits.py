"""What is written into storage of another size, where the result has no axis: over no axis an operation is idle."""

from __future__ import annotations

import pytest

from conformance.generate.suites import DOMAINS
from conformance.runner.draws import numbered


@pytest.mark.parametrize(("number", "ndim"), [(23, "0123"), (13, "0")])
def test_a_scalar_over_no_axis_is_drawn(number: int, ndim: str) -> None:
    limits = {"axes": frozenset({"none"}), "ndim": frozenset(ndim)}
    case, _ = numbered(DOMAINS["async"]["all_gather"], 0, number, limits)
    assert () in [operand.blocks[0].shape for operand in case.inputs.values()]
