"""What the suite ``liveness`` draws."""

from __future__ import annotations

from conformance.runner.draws import numbered
from conformance.specs.suites.liveness import SUITE

DRAWN = [numbered(SUITE.domains[op], 0, at)[0] for op in ("all_reduce", "reduce_scatter") for at in range(45)]


def test_ranks_are_late_part_and_die_in_calls_of_any_dtype_in_any_mesh() -> None:
    kinds = {
        "late": [case for case in DRAWN if case.faults and not case.dying],
        "dies": [case for case in DRAWN if case.dying],
        "apart": [case for case in DRAWN if case.apart],
    }
    for cases in kinds.values():
        assert len({operand.blocks[0].dtype for case in cases for operand in case.inputs.values()}) > 6
    assert {case.program.world for case in kinds["late"]} > {2, 3, 4}
    assert all(case.program.world <= 4 for case in kinds["dies"])


def test_few_programs_show_no_trouble() -> None:
    assert sum(case.troubled for case in DRAWN) > 0.8 * len(DRAWN)
