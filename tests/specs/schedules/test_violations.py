"""Every clause about schedules can fail: for each there is a schedule that breaks it and no other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.schedule import Kernel
from conformance.judging.schedules.verdict import ClauseFinding
from conformance.qualification.violations import Violation, violations
from conformance.specs import every_clause
from conformance.specs.schedules import CLAUSE_BY_ID, CLAUSES, FORM, PAIRS, judge, judge_two

RELATIONS = {clause.id: clause.relation for clause in PAIRS}


def found(violation: Violation) -> tuple[ClauseFinding, ...]:
    made = violation.make()
    return (
        judge_two(made[0], made[1], RELATIONS[violation.breaks], *made[2:]) if isinstance(made, tuple) else judge(made)
    )


@pytest.mark.parametrize("violation", violations(), ids=lambda violation: violation.name)
def test_a_violation_breaks_its_clause_and_no_other(violation: Violation) -> None:
    broken = [(each.clause, each.detail) for each in found(violation) if each.finding == "broken"]
    assert [clause for clause, _ in broken] == [violation.breaks], broken
    assert len(broken[0][1]) > 20
    assert violation.doc


def test_values_that_cannot_be_computed_are_not_said_to_be_right() -> None:
    made = next(each.make for each in violations() if each.name == "plan_changes_values")()
    assert isinstance(made, tuple)
    first, second = (
        replace(each, items=tuple(replace(item, bodies=()) for item in each.items if isinstance(item, Kernel)))
        for each in made
    )
    for pair in ((first, second), (first, made[1]), (made[0], second)):
        assert judge_two(*pair, "unplanned") == (ClauseFinding("memory.C10", "silent"),)


def test_every_clause_has_a_violation() -> None:
    assert {clause.id for clause in (*FORM, *CLAUSES, *PAIRS)} == {each.breaks for each in violations()}


def test_ids_are_numbered_within_their_group() -> None:
    groups: dict[str, list[int]] = {}
    for clause in (*FORM, *CLAUSES, *PAIRS):
        group, _, number = clause.id.partition(".C")
        groups.setdefault(group, []).append(int(number))
    assert not CLAUSE_BY_ID.keys() & every_clause().keys()
    for group, numbers in groups.items():
        assert sorted(numbers) == list(range(1, len(numbers) + 1)), group
