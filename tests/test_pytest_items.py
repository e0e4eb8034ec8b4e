"""What the items of the pytest plug-in tell of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pytest_items import Findings
from conformance.runner.explore import Result
from conformance.runner.records.record import Failure


@pytest.mark.parametrize(("clause", "item"), [("all_gather.C1", "collective.C1"), ("all_reduce.C1", "all_reduce.C1")])
def test_the_clause_of_another_operation_is_told_by_the_first_item(clause: str, item: str) -> None:
    failure = Failure(
        backend="wrong", op="all_reduce", clause=clause, requirement="must", outcome="failed", case="c", file="f",
        detail="", minimal=True, explains=("c",),
    )  # fmt: skip
    findings = Findings(Path(), Result({}, (failure,), (), {}, 0.0))
    assert findings.failures("wrong", "all_reduce", item) == [failure]
    assert findings.failures("wrong", "all_reduce", "all_reduce.C2") == []
