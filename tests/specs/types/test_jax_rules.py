"""Where the checker departs from JAX on purpose, JAX's rule lets a program break a law of types."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from conformance.cases.program.program import lines
from conformance.cases.types.typed_case import TypedCase, arrays
from conformance.generate.types.data import typed_cases
from conformance.reference.rejection import Rejected
from conformance.reference.types.values import evaluate
from conformance.runner.draws import numbered
from conformance.specs.types.jax_rules import DIFFERENCES, together, verdict

SELDOM = "extremes of groups"
"""The class that most programs are drawn for until one shows it: thirty seconds' worth."""

LAWLESS = [
    pytest.param(name, marks=[pytest.mark.slow] * (name == SELDOM))
    for name, each in DIFFERENCES.items()
    if each.prescribed
]


def differing(case: TypedCase, name: str) -> Iterator[str]:
    """Yield the values that JAX's rules of a class type invariant along an axis where their blocks differ."""
    program = case.program
    theirs = verdict(program, together(name))
    if theirs is None or not program.checked:
        return
    values = evaluate(program, arrays(case.inputs))
    for value, of in theirs.items():
        for axis in program.names:
            bits = [{values[value][rank].tobytes() for rank in line} for line in lines(program.mesh, (axis,))]
            if of.state(axis) == "invariant" and max(map(len, bits)) > 1:
                yield value


@pytest.mark.parametrize("name", LAWLESS)
def test_a_prescribed_difference_types_what_differs_invariant(name: str) -> None:
    for seed, number in product(range(2), range(3000)):
        case = numbered(typed_cases(), seed, number)[0]
        if verdict(case.program, {}) != verdict(case.program, together(name)):
            try:
                if any(differing(case, name)):
                    return
            except Rejected:
                continue
    pytest.fail(f"no drawn program shows what is wrong with {name!r}")
