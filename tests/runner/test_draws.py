"""Cases drawn, and made smaller by Hypothesis."""

from __future__ import annotations

import pytest
from hypothesis import Phase
from hypothesis import strategies as st

from conformance.runner.draws import in_parts, shrink


def number(case: str) -> str:
    return case[:7]


def test_a_long_case_is_made_smaller_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    long = st.integers(0, 10**6).map(lambda n: f"{n:07d}" * 50_000)
    drawn: list[str] = []
    in_parts(long, lambda case: drawn.append(number(case)), 20, 0, Phase.generate, enough=lambda: True)
    smallest = shrink(long, 20, 0, max(drawn), lambda case: number(case) >= "0000100", 50, number)
    assert smallest is not None
    assert number(smallest) == "0000100"
    assert not recwarn.list
