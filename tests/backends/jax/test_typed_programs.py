"""Typed programs are traced once: what is asked about the same program again is only run."""

from __future__ import annotations

import numpy as np

from conformance.backends.jax import Jax
from conformance.cases.program.program import Axis
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep


def test_a_program_that_is_pulled_back_twice_is_compiled_once(jax: Jax) -> None:
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={"a": TypedInput(dtype="float32", shape=(3,), varying=("i",))},
        steps=(TypedStep(op="all_reduce", inputs=("a",), output="b", axes=("i",), attrs={"op": "sum"}),),
        results=("b",),
    )
    ones = [np.ones(3, np.float32)] * 2
    first = jax.pullback(program, {"a": ones}, {"b": ones})
    twos = [2 * block for block in ones]
    again = jax.pullback(program, {"a": ones}, {"b": twos})
    assert [block.tolist() for block in (*first["a"], *again["a"])] == [[1.0] * 3] * 2 + [[2.0] * 3] * 2
    (found,) = (each for each in jax._typed.values() if each.program == program)
    assert found.function._cache_size() == 1
