"""The power of a run is lower for one that is narrowed or cut, and never above what was measured."""

from __future__ import annotations

import pytest

from conformance.runner.coverage import power as module
from conformance.runner.coverage.power import Measured, least, power

MEASURED = Measured(
    seeds=(0,),
    examples=300,
    families={
        "reference": [{"collectives all_reduce": 5}, {"collectives gather": 250, "aliasing gather": 3}],
        "conditional": [{"aliasing gather": 70}, {}],
    },
)


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read", lambda: MEASURED)


WHOLE = {("collectives", "all_reduce"): 300, ("collectives", "gather"): 300, ("aliasing", "gather"): 120}


def test_the_whole_profile_sees_all_that_ever_died() -> None:
    assert (power(WHOLE).total.seen, power(WHOLE).full.seen) == (3, 3)


def test_narrowed_and_cut_runs_see_less() -> None:
    assert power({("collectives", "all_reduce"): 300}).total.seen == 1
    assert power({place: 300 for place in WHOLE if place[0] == "collectives"}).total.seen == 2
    assert power({("collectives", "all_reduce"): 40, ("aliasing", "gather"): 16}).families["conditional"].seen == 0
    assert power(WHOLE, {("aliasing", "gather"): 0.1}).total.seen == 1


def test_the_lower_bound_is_wilsons() -> None:
    assert least(600, 600) == pytest.approx(0.9955, abs=1e-3)
    assert least(57, 60) == pytest.approx(0.8799, abs=1e-2)
    assert least(0, 10) == pytest.approx(0.0, abs=1e-9)
