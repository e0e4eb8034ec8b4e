"""Typed programs are traced once: what is asked about the same program again is only run."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.exceptions import RaisedElsewhere
from conformance.backends.jax import Jax
from conformance.cases.observation import RankError
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
    (found,) = (
        each for each in jax._kept.typed.values() if not isinstance(each, RankError) and each.program == program
    )
    assert found.function._cache_size() == 1


def test_a_program_that_is_refused_is_not_traced_again(jax: Jax, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax._kept, "fresh", 0)
    step = TypedStep(op="permute", inputs=("a",), output="b", axes=("i",), attrs={"pairs": ((0, 1),)})
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={"a": TypedInput(dtype="float32", shape=(), varying=())},
        steps=(step,),
        results=("b",),
        automatic=False,
    )
    said = []
    for _ in range(2):
        before = jax._kept.fresh
        with pytest.raises(RaisedElsewhere) as raised:
            jax.typed(program, {"a": [np.float32(1)] * 2})
        said.append((raised.value.said.kind, jax._kept.fresh - before))
    assert said == [(said[0][0], 1), (said[0][0], 0)]


def test_a_started_sum_is_over_its_local_axes_too(jax: Jax) -> None:
    # JAX fails to lower it (0.10.2), and says so in terms of the reduction that is in the region with the collective.
    sums = {"op": "sum", "local_axes": (0,)}
    started = TypedStep(op="all_reduce", inputs=("a",), output="t", axes=("i",), attrs=sums, start=True)
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={"a": TypedInput(dtype="float32", shape=(2, 2), varying=())},
        steps=(started, TypedStep(op="done", inputs=("t",), output="b", axes=(), attrs={"of": "all_reduce"})),
        results=("b",),
        checked=False,
    )
    with pytest.raises(RaisedElsewhere, match="region must contain exactly one operation"):
        jax.typed(program, {"a": [np.ones((2, 2), np.float32)] * 2})
