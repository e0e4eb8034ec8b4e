"""The shapes, dtypes and clauses beside arguments that chapters of operations print."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

from conformance.reference.operations import OPERATIONS
from conformance.reference.spmd import evaluate
from conformance.runner.dialects import further_clauses
from conformance.runner.smoke import example_case
from conformance.specification.example import MESSAGES, examples, worked
from conformance.specification.results import about_argument
from conformance.specs import OPS, every_clause

CLAUSES = {**every_clause(), **further_clauses()}

SHOWN = [(name, number) for name, op in OPS.items() if name not in MESSAGES for number in range(len(examples(op)))]


@pytest.mark.parametrize(("name", "number"), SHOWN)
def test_a_printed_shape_is_that_of_the_example(name: str, number: int) -> None:
    case = example_case(name, examples(OPS[name])[number])
    step, results = case.program.steps[0], evaluate(case)["y"]
    blocks = next(iter(case.blocks().values()), [np.zeros(())])
    groups = step.groups or (tuple(range(case.program.world)),)
    forms = [each.shape for each in OPS[name].results if _fits(each.form, step.attrs)]
    for group in groups:
        for place, rank in enumerate(group):
            result = results[rank]
            if result is None:
                assert "" in forms
                continue
            known = {**step.attrs, "n": len(group), "p": place, "shape": blocks[rank].shape if step.inputs else ()}
            known["output_shape"] = case.blocks()["output"][rank].shape if "output" in case.inputs else ()
            shape, _, rest = next(form for form in forms if form).partition(", where rest = ")
            known["rest"] = eval(rest, dict(known)) if rest else ()
            assert eval(shape, known) == result.shape


def _fits(form: str, attrs: object) -> bool:
    assert isinstance(attrs, dict)
    if "tiled" in form.partition(",")[0]:
        return form.startswith("tiled") == attrs["tiled"]
    if "local" in form:
        return form.startswith("with `") == bool(attrs.get("local_axes"))
    return True


@pytest.mark.parametrize("name", MESSAGES)
def test_examples_of_messages_show_what_arrives(name: str) -> None:
    first, grouped, _ = worked(OPS[name])
    assert first.results == [[0, 0], *first.blocks[:3]]
    assert grouped.results == [[0, 0], grouped.blocks[3], grouped.blocks[0], [0, 0]]


def test_every_argument_has_clauses_that_exist() -> None:
    for name, function in OPERATIONS.items():
        assert {clause for each in OPS[name].results for clause in each.clauses} <= set(CLAUSES)
        for argument in signature(function).parameters:
            assert about_argument(name, argument) or argument == "value", (name, argument)
            assert set(about_argument(name, argument)) <= set(CLAUSES)


def test_examples_have_groups_and_two_axes_wherever_there_are_blocks() -> None:
    for name, op in OPS.items():
        shown = examples(op)
        if name == "barrier":
            assert not shown
            continue
        assert any(each.groups for each in shown), name
        if op.examples and op.examples[0].blocks:
            assert any(np.ndim(_first(each.blocks)) == 2 for each in shown), name


def _first(blocks: object) -> object:
    first = blocks[0] if isinstance(blocks, list) else None
    return blocks[0][0] if isinstance(blocks, tuple) and blocks else first
