"""Each of the 87 invariants is said by clauses that can fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.qualification.violations import violations
from conformance.specification.invariants import GROUPS, INVARIANTS, SILENT
from conformance.specs.schedules import CLAUSE_BY_ID

DOCUMENT = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text()
BREAKS = {each.name: each.breaks for each in violations()}


def test_all_are_there_in_their_groups() -> None:
    assert list(INVARIANTS) == list(range(1, 88))
    assert [number for first, last in GROUPS.values() for number in range(first, last + 1)] == list(INVARIANTS)


@pytest.mark.parametrize("number", INVARIANTS)
def test_an_invariant_has_clauses_and_schedules_that_break_them(number: int) -> None:
    found = INVARIANTS[number]
    assert set(found.clauses) <= CLAUSE_BY_ID.keys()
    proofs = found.proofs or [name for name, clause in BREAKS.items() if clause in found.clauses]
    assert proofs
    assert {BREAKS[name] for name in proofs} <= set(found.clauses)


def test_what_is_must_among_its_sources_is_a_must_here() -> None:
    for name, (first, last) in GROUPS.items():
        for number in range(first, last + 1) if name[0] in "EHIJKW" else ():
            requirements = {CLAUSE_BY_ID[clause].requirement for clause in INVARIANTS[number].clauses}
            assert "must" in requirements or number in COSTS, number


COSTS = {58, 59, 60, 68, 70, 73, 75, 77, 79}
"""What costs work and changes no value, or is the habit of one system."""


def test_what_is_silent_has_its_reason() -> None:
    assert all(len(why) > 20 for why in SILENT.values())


def test_the_silent_are_those_whose_clauses_never_speak() -> None:
    table = DOCUMENT.partition("| clauses | what a schedule would have to have |")[2].partition("\n\n")[0]
    never: list[str] = []
    first = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    for name in re.findall(r"`(.*?)`", first):
        never.append(name if "." in name else f"{never[-1].partition('.')[0]}.{name}")
    assert len(never) == 18
    assert {number for number, each in INVARIANTS.items() if set(each.clauses) <= set(never)} == SILENT.keys()
