"""What ranks compute in programs with collectives: every kind of step is drawn, and every clause speaks."""

from __future__ import annotations

from conformance.generate.suites import DOMAINS
from conformance.runner.dialects.spmd import DIALECT
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning
from conformance.specs import SUITES


def test_every_clause_that_has_to_hold_of_steps_that_compute_speaks_of_some_draw() -> None:
    cases = (numbered(DOMAINS["computing"][op], 0, at)[0] for op in ("all_reduce", "all_gather") for at in range(80))
    spoke = {clause for case in cases for clause in DIALECT.speaking(meaning(case))}
    assert {each.id for each in SUITES["computing"].clauses if each.requirement == "must"} - spoke == set()


def test_no_step_folds_nothing_into_more_elements_than_a_program_may_have() -> None:
    """The dot of a block of 1,018 rows without elements with one of five columns was drawn here."""
    program = numbered(DOMAINS["computing"]["scatter"], 0, 1033)[0].program
    assert any(step.op in ("alu", "cast", "fold", "dot") for step in program.steps)
