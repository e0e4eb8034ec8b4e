"""``conformance run --timings``: where the seconds of each backend went."""

from __future__ import annotations

import json

import pytest

from conformance.cli.commands.doctor import runs
from conformance.cli.estimate import estimate
from conformance.runner.clock import Clock
from conformance.runner.timings import HERE, THERE
from tests.cli.conftest import Conformance

RUN = ("run", "-b", "reference", "--op", "barrier", "--profile", "deck", "--in-process", "-o", "out")


def test_the_seconds_of_this_process_come_to_those_of_the_run(conformance: Conformance) -> None:
    said = json.loads(conformance(*RUN, "--json").out)
    (spent,) = said["timings"].values()
    assert list(spent) == [*HERE, *THERE]
    assert sum(spent[word] for word in HERE) == pytest.approx(said["seconds"], rel=0.1, abs=0.3)
    assert all(seconds >= 0 for seconds in spent.values())


def test_they_are_printed_where_that_is_asked_for_alone(conformance: Conformance) -> None:
    table = "what the backend's processes did meanwhile"
    assert table in conformance(*RUN, "--timings").out
    assert table not in conformance(*RUN[:-1], "other").out


def test_what_one_backend_took_is_told_from_what_all_did() -> None:
    clock = Clock()
    with clock.phase("drawing"), clock.phase("judging", "one"), clock.phase("judging", "other"):
        pass
    assert {name for name, _ in clock.of_backend} == {"one", "other"}
    assert clock.seconds["judging"] == pytest.approx(sum(clock.of_backend.values()))


def test_doctor_says_how_long_a_run_takes_of_what_works_and_was_measured() -> None:
    claims = {"barrier": {}}
    found = [
        {"name": name, "works": works, "run": estimate(name, claims)}
        for name, works in (("mpi", True), ("jax", False), ("mine", True))
    ]
    (line,) = runs(found)
    assert line.startswith("  run      mpi: ")
