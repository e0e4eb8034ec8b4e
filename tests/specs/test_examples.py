"""Every worked example of the sources is executed."""

from __future__ import annotations

import pytest

from conformance.reference.spmd import evaluate
from conformance.runner.smoke import example_case
from conformance.specs import OPS
from conformance.specs.op import Example

EXAMPLES = [(name, example) for name, op in OPS.items() for example in op.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(EXAMPLES)])
def test_the_reference_gives_the_result_the_source_prints(name: str, example: Example) -> None:
    results = evaluate(example_case(name, example))["y"]
    assert [None if result is None else result.tolist() for result in results] == example.results


@pytest.mark.parametrize("name", OPS)
def test_every_operation_has_a_worked_example_or_says_why_not(name: str) -> None:
    assert bool(OPS[name].examples) != bool(OPS[name].no_example)
