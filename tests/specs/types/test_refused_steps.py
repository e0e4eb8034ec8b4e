"""A step that a rule refuses is refused for one reason, so that who forgot the rule is seen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.types.typed_program import TypedProgram
from conformance.reference.types.check import check
from conformance.runner.draws import numbered
from conformance.specs.domains.choices import Choice
from conformance.specs.types.domain import rule_of
from conformance.specs.types.rare.refused_steps import _rows, refused_step_program

ROWS = {rule: [turn for turn, row in enumerate(_rows()) if row[0] == rule] for rule in ("types.C10", "types.C15")}


def refused(rule: str, turn: int) -> list[TypedProgram]:
    """Return those of six programs of a turn that its rule refuses: now and then no step is found."""
    drawn = [numbered(Choice(lambda draw: refused_step_program(draw, turn)), 0, number)[0] for number in range(6)]
    return [program for program in drawn if rule_of(program) == rule]


@pytest.mark.parametrize("turn", ROWS["types.C15"])
def test_c15_what_groups_refuse_is_legal_without_them(turn: int) -> None:
    found = refused("types.C15", turn)
    assert found
    for program in found:
        bare = replace(program.steps[-1], groups=None)
        assert rule_of(replace(program, steps=(*program.steps[:-1], bare))) is None


@pytest.mark.parametrize("turn", ROWS["types.C10"])
def test_c10_products_are_of_two_pending_sums_and_of_one_in_turn(turn: int) -> None:
    found = refused("types.C10", turn)
    assert found
    for program in found:
        kept = tuple(each for each in program.results if each != "last")
        types = check(replace(program, steps=program.steps[:-1], results=kept))
        assert sum(bool(types[name].unreduced) for name in program.steps[-1].inputs) == 1 + turn % 2
