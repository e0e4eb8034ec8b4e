"""What the suite ``liveness`` draws."""

from __future__ import annotations

from conformance.generate.suites import DOMAINS
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning

DRAWN = [numbered(DOMAINS["liveness"][op], 0, at)[0] for op in ("all_reduce", "reduce_scatter") for at in range(45)]


def test_ranks_are_late_part_and_die_in_calls_of_any_dtype_in_any_mesh() -> None:
    kinds = {
        "late": [case for case in DRAWN if case.faults and not case.dying],
        "dies": [case for case in DRAWN if case.dying],
        "apart": [case for case in DRAWN if case.divergent],
    }
    for cases in kinds.values():
        assert len({operand.blocks[0].dtype for case in cases for operand in case.inputs.values()}) > 6
    assert {case.program.world for case in kinds["late"]} > {2, 3, 4}
    few = sum(case.program.world <= 4 for case in kinds["dies"])
    assert len(kinds["dies"]) / 2 < few < len(kinds["dies"])


def test_a_call_is_made_again_and_who_does_not_wait_for_the_dead_returns_what_it_has() -> None:
    assert any(case.faults and len(case.program.steps) > 2 for case in DRAWN)
    found = [meaning(case).rejected for case in DRAWN if case.dying]
    left = [why and any(block is not None for blocks in why.results.values() for block in blocks) for why in found]
    assert sum(map(bool, left)) > len(left) / 2


def test_few_programs_show_no_trouble() -> None:
    assert sum(case.troubled for case in DRAWN) > 0.8 * len(DRAWN)
