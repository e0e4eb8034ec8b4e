"""How long a run takes is told before it begins."""

from __future__ import annotations

import pytest

from conformance.backends.reference import Reference
from conformance.cli import estimate as module
from conformance.cli.estimate import estimate, length, paces, told


def test_twice_as_slow_a_machine_takes_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {}
    for times in (1.0, 2.0):
        monkeypatch.setattr(module, "loop", lambda times=times: times * paces().loop)
        seconds[times] = estimate("opencl", Reference().claims)["seconds"]["deck"]
    assert seconds[2.0] == pytest.approx(2 * seconds[1.0], abs=0.2)
    assert 10 < seconds[1.0] < 600


def test_a_default_run_takes_the_seconds_of_its_profile_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "loop", lambda: paces().loop)
    narrow = estimate("mpi", {"barrier": {}})
    assert narrow["seconds"]["deck"] < narrow["seconds"]["default"] == 90.0


def test_what_it_will_see_is_counted_within_its_claims() -> None:
    whole, narrow = estimate("reference", Reference().claims), estimate("it", {"all_reduce": {"dtype": ["int32"]}})
    assert 0 < narrow["cases"] < whole["cases"]
    assert 0 < narrow["mutants"] < whole["mutants"]
    assert 0 < narrow["kills"] <= narrow["mutants"]
    assert "seconds" not in narrow
    assert "how long they take was not measured" in told("it", narrow)


def test_the_line_says_cases_times_and_power(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "loop", lambda: paces().loop)
    line = told("opencl", estimate("opencl", Reference().claims))
    assert " cases of the deck in " in line
    assert "% of " in line
    assert (length(61), length(600)) == ("61 s", "10 min")
