"""``splits.C2``: the parts of a reduce are kept in what it accumulates in, or wider."""

from __future__ import annotations

import pytest

from conformance.qualification.violations.split_sums import long_sum
from conformance.specs.schedules import judge


@pytest.mark.parametrize(
    ("parts", "said"),
    [("float32", "held"), ("float64", "held"), ("float16", "broken"), ("int32", "broken"), ("int64", "broken")],
)
def test_parts_are_kept_as_wide_as_the_accumulator(parts: str, said: str) -> None:
    findings = {each.clause: each.finding for each in judge(long_sum(parts))}
    assert findings["splits.C2"] == said
