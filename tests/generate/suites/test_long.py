"""Long blocks: they are drawn in place, started and plain, and get shorter step by step where they fail."""

from __future__ import annotations

import pytest

from conformance.cases.case import Case
from conformance.cases.program.features import features
from conformance.generate.suites import DOMAINS
from conformance.runner.draws import draw_cases
from conformance.runner.reductions.programs import reductions


def drawn(op: str, examples: int = 30) -> list[Case]:
    found: list[Case] = []
    draw_cases(DOMAINS["long"][op], examples, 0, found.append)
    return found


@pytest.mark.parametrize(
    "op", ["all_reduce", "all_to_all", "all_to_all_uneven", "permute", "reduce_scatter", "scatter"]
)
def test_nearly_every_case_has_a_long_block_or_many_terms(op: str) -> None:
    cases = [case for case in drawn(op, 120) if case.inputs]  # a call of no operands has no block
    long = ["long" in found["size"] or "given" in found.get("local_axes", ()) for found in map(features, cases)]
    assert sum(long) > 0.9 * len(long)
    effects = [features(case)["effects"] for case in cases]
    assert {"start" in found for found in effects} == {bool(found) for found in effects} == {True, False}


def test_an_extent_comes_down_by_a_half_an_eighth_and_one() -> None:
    (case,) = drawn("all_reduce", 1)
    extents = {smaller.inputs["x1"].blocks[0].shape for smaller in reductions(case)}
    assert case.inputs["x1"].blocks[0].shape == (16384,)
    assert {(8192,), (14336,), (16383,)} <= extents


def test_no_case_has_many_ranks_and_a_long_chain_of_long_blocks() -> None:
    blocks = [[b for each in case.inputs.values() for b in each.blocks] for case in drawn("arg_reduce", 54)]
    assert max(sum(len(block.bits) // 2 for block in each) for each in blocks) < 20 << 20
