"""Programs where implementations of collectives break: legal, admitted, of their operation, and in every run."""

from __future__ import annotations

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning, verdict
from conformance.runner.plan import EXAMPLES
from conformance.runner.worker.in_process import InProcess
from conformance.specs import SUITES
from conformance.specs.domains.steering.seldom_draws import EVERY, FIRST
from conformance.specs.scenarios.block_operations import CALLED
from conformance.specs.scenarios.edges.table import patterns

SUITES_WITH: tuple[str, ...] = ("collectives", "aliasing", "async", "dtypes")


def drawn(suite: str, op: str, seed: int, turn: int) -> Case:
    """Return the program of a turn."""
    case, _ = numbered(SUITES[suite].domains[op], seed, FIRST + EVERY * turn)
    return case


@pytest.mark.parametrize("op", CALLED)
@pytest.mark.parametrize("suite", SUITES_WITH)
def test_every_pattern_is_a_legal_program_of_its_operation_which_the_reference_passes(suite: str, op: str) -> None:
    worker = InProcess(BackendSpec("reference", ()), backend=Reference())
    for turn in range(len(patterns(suite, op))):
        case = drawn(suite, op, 3, turn)
        subject = meaning(case)
        assert subject.legal, turn
        assert verdict(subject, worker.ask(case), worker.ready.terms).outcome == "passed", turn
        assert case.program.collectives[-1].op == op, turn


@pytest.mark.parametrize("suite", SUITES_WITH)
def test_a_run_has_every_pattern(suite: str) -> None:
    for op in CALLED:
        turns = len(range(FIRST, SUITES[suite].drawn(op, EXAMPLES), EVERY))
        assert 0 < len(patterns(suite, op)) <= turns, op


def test_positions_of_extremes_are_drawn_with_the_patterns_of_folds() -> None:
    names = [pattern.__name__ for pattern in patterns("collectives", "arg_reduce")]
    assert {"columns", "ties", "bits", "scalars"} <= set(names)
    case = drawn("collectives", "arg_reduce", 0, names.index("ties"))
    assert {operand.blocks[0].dtype for operand in case.inputs.values()} >= {"uint64"}


def test_columns_of_dtypes_without_an_extreme_are_left_out_and_never_all_of_a_program() -> None:
    every = patterns("collectives", "arg_reduce")
    first = [pattern.__name__ for pattern in every].index("columns")
    made = [drawn("collectives", "arg_reduce", 0, first + len(every) * again) for again in range(42)]
    assert all(case.program.collectives for case in made)
    dtypes = {operand.blocks[0].dtype for case in made for operand in case.inputs.values()}
    assert {"float32", "bfloat16", "uint64", "int4"} <= dtypes
    assert not {"complex64", "complex128"} & dtypes
