"""The suite of rare dtypes draws each of them for each operation, and nothing that a byte cannot hold."""

from __future__ import annotations

import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.tensor.dtypes import DTYPES, RARE, kind
from conformance.generate.calls.values import pool
from conformance.generate.suites import DOMAINS
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def drawn(op: str, count: int = 120) -> list[Case]:
    """Return the first cases of an operation."""
    found: list[Case] = []
    draw_cases(DOMAINS["dtypes"][op], count, 0, found.append)
    return found


@pytest.mark.parametrize("op", ["all_gather", "permute", "all_reduce", "ragged_all_to_all", "send", "recv"])
def test_every_rare_dtype_is_drawn_and_the_reference_conforms(op: str) -> None:
    cases = drawn(op)
    assert {block.dtype for case in cases for operand in case.inputs.values() for block in operand.blocks} >= set(RARE)
    assert {verdict(meaning(case), Answer(Reference().execute(case))).outcome for case in cases} == {"passed"}


@pytest.mark.parametrize("dtype", RARE)
def test_its_values_are_all_there_are_and_no_unused_bit_is_set(dtype: str) -> None:
    bits = pool(dtype, "any").view("u1")
    assert sorted(bits) == list(range(1 << DTYPES[dtype].bits))


@pytest.mark.parametrize("dtype", [name for name in RARE if kind(name) == "float"])
def test_what_is_compared_has_one_zero_and_no_nan(dtype: str) -> None:
    values = pool(dtype, "max").astype(float)
    assert len(set(values)) == len(values)
