"""What is barely illegal or barely other: every kind of it is drawn within a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from conformance.cases.case import Case
from conformance.generate.suites import DOMAINS, drawn
from conformance.judging.applicability import applicable
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning
from conformance.runner.plan import EXAMPLES
from conformance.specs import clauses_of


def run_of(suite: str, op: str) -> Iterator[Case]:
    for number in range(drawn(suite, op, EXAMPLES)):
        yield numbered(DOMAINS[suite][op], 0, number)[0]


def test_sums_of_constants_end_at_both_ends_of_int32() -> None:
    values = {
        value
        for case in run_of("collectives", "reduce_constant")
        for step in case.program.steps
        if step.op == "reduce_constant" and isinstance(value := step.attrs["value"], int)
    }
    assert any(value % 2 and abs(value) > 2**24 for value in values)
    assert {-(2**31), 2**31 - 1} & values


def test_a_destination_is_named_again_by_pairs_that_are_apart() -> None:
    found = [case.program.steps[-1].attrs.get("pairs", ()) for case in run_of("collectives", "permute")]
    apart = [[to for _, to in pairs] for pairs in found if len({to for _, to in pairs}) < len(pairs)]  # type: ignore[misc,union-attr]
    assert any(all(one != other for one, other in pairwise(to)) for to in apart)


def test_ranks_disagree_on_shapes_of_as_many_elements() -> None:
    sizes = [
        {(block.shape, len(block.bits)) for operand in case.inputs.values() for block in operand.blocks}
        for case in run_of("liveness", "all_reduce")
    ]
    assert any(len({shape for shape, _ in found}) > len({bits for _, bits in found}) for found in sizes)


def test_tables_of_a_ragged_exchange_have_every_integer_dtype() -> None:
    dtypes = {
        operand.blocks[0].dtype
        for case in run_of("collectives", "ragged_all_to_all")
        for name, operand in case.inputs.items()
        if name in ("input_offsets", "output_offsets") or "offsets" in name
    }
    assert {"int32", "int64", "uint8", "int16", "uint32"} <= dtypes


def test_extents_that_do_not_split_are_refused_in_several_cases_of_each_form() -> None:
    subjects = [meaning(case) for case in run_of("collectives", "scatter")]
    spoke = Counter(clause.id for each in subjects if not each.legal for clause in applicable(each, clauses_of))
    assert min(spoke["scatter.C8"], spoke["scatter.C9"]) > 3
