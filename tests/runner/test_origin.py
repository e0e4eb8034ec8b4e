"""A record says which draw its case was, and the draw made again is that case."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends.base import Claims
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case_error import CaseError
from conformance.runner.dialects import name_of
from conformance.runner.drawn_again import drawn_again
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.origin import Origin, origin_of
from conformance.runner.records.record import CaseRecord, Header
from conformance.runner.worker.in_process import InProcess


class OnlyBools(Reference):
    """Claims little, so that cases are drawn within its claims."""

    @property
    def claims(self) -> Claims:
        return {"broadcast": {"dtype": ["bool"]}}


@pytest.mark.parametrize(
    "origin", [Origin("async", "all_gather", 0, 7), Origin("graphs", "graph", 3, 400, claimed=True)]
)
def test_an_origin_is_read_back(origin: Origin) -> None:
    assert origin_of(str(origin)) == origin


@pytest.mark.parametrize("text", ["", "a/b/c/d", "a/b/0/0/more", "a/b/-1/0", "a/b/0/99999999999999999"])
def test_anything_else_is_none(text: str) -> None:
    assert origin_of(text) is None


def test_the_draw_of_every_record_made_again_is_its_case(tmp_path: Path) -> None:
    plan = Plan(ops=("broadcast",), examples=30, suites=("collectives", "async"))
    explore(plan, {"it": InProcess(BackendSpec(name="it", command=()), backend=OnlyBools())}, tmp_path)
    header, *records = read(tmp_path / "run.jsonl")
    assert isinstance(header, Header)
    cases = [record for record in records if isinstance(record, CaseRecord)]
    origins = [origin_of(record.origin or "") for record in cases]
    again = [drawn_again(origin, header.backends[0].claims) for origin in origins if origin is not None]
    assert [name_of(case) for case in again] == [record.case for record in cases]
    assert {origin.claimed for origin in origins if origin is not None} == {True, False}
    assert all(record.observation for record in cases if record.outcome == "passed")


@pytest.mark.parametrize(
    ("origin", "says"),
    [
        (Origin("no", "all_gather", 0, 1), "has no suite 'no'"),
        (Origin("async", "no", 0, 1), "draws no cases of 'no'"),
        (Origin("async", "all_gather", 0, 1, claimed=True), "name the run"),
    ],
)
def test_a_draw_that_cannot_be_made_says_why(origin: Origin, says: str) -> None:
    with pytest.raises(CaseError, match=says):
        drawn_again(origin)
