"""The suites of types and transforms find wrong implementations, and none that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.qualification.changed_references import CHANGED_REFERENCES, PatchedTypes
from conformance.qualification.qualify import qualify
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


EVERY_TYPED_MUTANT = [each for each in CHANGED_REFERENCES if issubclass(each, PatchedTypes)]


def test_some_cases_find_most_mutants() -> None:
    found = qualify(EVERY_TYPED_MUTANT, examples=200)
    assert len(found.survivors) + len(found.problems) <= len(EVERY_TYPED_MUTANT) // 9, (found.survivors, found.problems)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_mutant_is_found(seed: int) -> None:
    found = qualify(EVERY_TYPED_MUTANT, examples=600, seed=seed)
    assert (found.survivors, found.problems) == ((), ())


def test_a_run_finds_nothing_in_the_reference(tmp_path: Path) -> None:
    worker = InProcess(BackendSpec("it", "", ""), backend=Reference())
    plan = Plan(ops=OPS, suites=("types", "transforms", "lowering"), examples=60)
    assert explore(plan, {"it": worker}, tmp_path).failures == ()
