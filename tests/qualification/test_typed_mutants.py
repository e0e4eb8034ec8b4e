"""The suites of types and transforms find wrong implementations, and none that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.qualification.typed_mutants import MUTANTS, RIGHT, killed
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess

OPS = (
    "typed_program",
    "transposed_program",
    "batched_program",
    "pushed_program",
    "lowered_program",
    "compiled_program",
)


def test_some_cases_find_most_mutants_and_refuse_no_right_implementation() -> None:
    found = killed(60)
    assert RIGHT not in found
    assert len(found) >= len(MUTANTS) * 3 // 4, sorted(set(MUTANTS) - set(found))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_mutant_is_found(seed: int) -> None:
    found = killed(600, seed)
    assert RIGHT not in found
    assert not set(MUTANTS) - set(found)


def test_a_run_finds_nothing_in_the_reference(tmp_path: Path) -> None:
    worker = InProcess(BackendSpec("it", "", ""), backend=Reference())
    plan = Plan(ops=OPS, suites=("types", "transforms", "lowering"), examples=60)
    assert explore(plan, {"it": worker}, tmp_path).failures == ()
