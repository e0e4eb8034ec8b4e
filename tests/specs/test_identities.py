"""A search for the id of a clause finds where it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

import conformance.specs
from conformance.cli import main
from conformance.qualification.breaking import mutants_by_clause
from conformance.qualification.changed_references import CHANGED_REFERENCES
from conformance.qualification.mutants import mutants
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.violations import violations
from conformance.runner.dialects import further_clauses
from conformance.specs import every_clause
from conformance.vectors.deck import clauses
from conformance.vectors.power import deck_kills

TEXT = "\n".join(path.read_text() for path in sorted(Path(conformance.specs.__file__).parent.rglob("*.py")))


def test_every_id_is_written_out_in_the_specification() -> None:
    assert [each for each in sorted(clauses()) if f'"{each}"' not in TEXT] == []


def test_mutants_of_tensors_that_a_clause_kills_are_there() -> None:
    known = {each.__qualname__ for each in (*mutants(), *schedule_mutants(), *CHANGED_REFERENCES)}
    known |= {each.name for each in violations()}
    killed = mutants_by_clause()
    assert killed.keys() <= {*every_clause(), *further_clauses()}
    assert {name for names in killed.values() for name in names} <= known


def test_mutants_of_tensors_that_die_of_the_deck_are_listed_under_a_clause() -> None:
    listed = {name for names in mutants_by_clause().values() for name in names}
    dead = {each.name for each in deck_kills().mutants if each.kills}
    there = [each.__qualname__ for each in CHANGED_REFERENCES if each.__qualname__ in dead]
    assert [name for name in there if name not in listed] == [], (
        "run python -m conformance.qualification.killed_tensor_mutants"
    )


@pytest.mark.parametrize(
    ("clause", "file", "mutant"),
    [
        ("all_gather.C1", "conformance/specs/operations/all_gather.py", "AllGatherStartsWithItself"),
        ("graph.C11", "conformance/specs/graphs/values.py", "TruncatesToBool"),
        ("graph.C22", "conformance/specs/graphs/values.py", "ReducesTheNextAxis"),
        ("order.C1", "conformance/specs/schedules/order.py", "reader_before_writer"),
    ],
)
def test_a_clause_tells_the_mutants_that_it_kills_and_where_it_is_said(
    clause: str, file: str, mutant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spec", clause]) == 0
    said = capsys.readouterr().out
    assert "kills the mutants " in said
    assert {file, mutant} <= {*said.replace(":", " ").replace(",", " ").split()}
