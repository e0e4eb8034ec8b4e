"""Every worked example of the sources is executed."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.reference.spmd import OPERATIONS
from conformance.specs import OPS
from conformance.specs.op import Example

EXAMPLES = [(name, example) for name, op in OPS.items() for example in op.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(EXAMPLES)])
def test_the_reference_gives_the_result_the_source_prints(name: str, example: Example) -> None:
    blocks = [np.array(block, example.dtype) for block in example.blocks]
    groups = example.groups or (tuple(range(len(blocks))),)
    results = OPERATIONS[name](blocks, **example.attrs, groups=groups)
    assert [result.tolist() for result in results] == example.results


@pytest.mark.parametrize("name", OPS)
def test_every_operation_has_a_worked_example(name: str) -> None:
    assert OPS[name].examples
