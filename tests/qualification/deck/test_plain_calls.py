"""Plain calls: every operation that makes a block of a block, on every plain dtype; and calls on nothing."""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from conformance.cases.program.validate import validate
from conformance.generate.tables.calls import CALLS
from conformance.qualification.deck.plain_calls import DTYPES, calls_on_nothing, plain_calls, uneven_calls
from conformance.reference.operations import OPERATIONS, TABLE
from conformance.runner.meaning import meaning
from conformance.runner.reductions.programs import reductions
from conformance.vectors.shown_values import parts_of


def test_plain_calls_are_single_legal_calls_of_every_call_on_every_dtype() -> None:
    met = set()
    for case in plain_calls():
        (step,) = case.program.steps
        met.add((step.op, case.inputs["x"].blocks[0].dtype))
        assert not case.faults
    assert {(call.op, dtype) for call in CALLS for dtype in DTYPES} - met == {("arg_reduce", "bool")} - met


def test_every_collective_of_one_operand_is_called_on_nothing_in_right_and_wrong_groups() -> None:
    spoke: dict[str, set[str]] = {}
    for case in calls_on_nothing():
        validate(case)
        (step,) = case.program.steps
        spoke.setdefault(step.op, set()).update(clause for part in parts_of(meaning(case)) for clause in part.clauses)
    assert spoke.keys() == {op for op in OPERATIONS if TABLE[op].operands == 1}
    assert {"collective.C27", "collective.C29"} <= spoke["all_reduce"] & spoke["all_gather"]


def test_uneven_exchanges_are_right_or_have_sizes_that_do_not_fit() -> None:
    spoke = {clause for case in uneven_calls() for part in parts_of(meaning(case)) for clause in part.clauses}
    assert {"all_to_all_uneven.C1", "all_to_all_uneven.C5", "all_to_all_uneven.C6"} <= spoke


def test_calls_on_nothing_and_in_groups_without_members_are_made_smaller_without_an_error() -> None:
    for case in islice(calls_on_nothing(), 14):
        list(reductions(case))
    (call,) = islice(plain_calls(), 1)
    (step,) = call.program.steps
    empty = replace(call, program=replace(call.program, steps=(replace(step, groups=((),)),)))
    assert list(reductions(empty))
