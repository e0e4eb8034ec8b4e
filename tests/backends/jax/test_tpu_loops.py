"""Programs as bodies of loops of fixed count: one round is the program that is meant, in every form."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.program.program import Axis, Program, Step

loops = pytest.importorskip("conformance.backends.jax.tpu.loops")


@pytest.mark.parametrize("form", loops.FORMS)
def test_a_loop_gives_what_its_body_does(form: str) -> None:
    import jax

    x = np.array([[1, -2], [3, 4]], np.int32)
    given = {"x": loops.slices(form, x, alike=False)}
    assert given["x"].shape == (loops.ROUNDS, 2, 2)
    found = jax.jit(loops.looped(form, lambda _, __, blocks: {"y": blocks["x"] * 2}))(given)
    assert found["y"].tolist() == (x * 2).tolist()


def test_other_rounds_work_on_other_data() -> None:
    whole = loops.slices("stacked", np.arange(3), alike=False)
    assert whole[loops.MEANT].tolist() == [0, 1, 2]
    assert whole[0].tolist() == [2, 1, 0]


def test_rounds_are_added_up_where_sums_of_integers_tell_so_alone() -> None:
    def form(op: str, dtype: str, number: int) -> str:
        step = Step(op="all_reduce", inputs=("x",), outputs=(f"y{number}",), axes=("i",), attrs={"op": op})
        program = Program(mesh=(Axis("i", 2),), steps=(step,), results=(f"y{number}",))
        found: str = loops.form_of(program, {"x": [np.zeros(2, dtype)] * 2})
        return found

    assert {form("sum", "int32", number) for number in range(20)} == set(loops.FORMS)
    assert {form("max", "int32", number) for number in range(20)} == {"stacked", "carried"}
    assert {form("sum", "float32", number) for number in range(20)} == {"stacked", "carried"}
