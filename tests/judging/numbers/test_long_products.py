"""Products of too many factors to go through their trees: what overflows in every order is infinite, and no NaN."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.number_model import number_model
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

NONE = Terms()
SATURATED = Terms(numbers=number_model({"overflow": {"float16": "saturated"}}))
GREAT = [300.0 + 53 * at for at in range(17)]
MIXED = [300.0, 353.0, 0.01, *(1 + at / 64 for at in range(1, 9))]
SMALL = [*GREAT, *(2.0**-14 / each for each in GREAT)]


def found(factors: list[float], value: float, dtype: str = "float16", terms: Terms = NONE) -> dict[str, str]:
    """Return what is said of a product that all ranks give the same value for."""
    blocks = tuple(from_array(np.array([each], NUMPY[dtype])) for each in factors)
    world = len(blocks)
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "product"})
    case = Case(
        program=Program(mesh=(Axis("i", world),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * world)},
    )
    given = from_array(np.array([value], NUMPY[dtype]))
    return dict(verdict(meaning(case), Answer(Observation(results={"y": (given,) * world})), terms).clauses)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize(("value", "held"), [(np.inf, "held"), (np.nan, "broken"), (57344.0, "broken")])
def test_numerics_c14_of_what_overflows_in_every_order(dtype: str, value: float, held: str) -> None:
    assert found(GREAT, value, dtype)["numerics.C14"] == held


@pytest.mark.parametrize(("value", "held"), [(np.inf, "held"), (np.nan, "broken"), (-np.inf, "broken")])
def test_numerics_c17_an_infinity_times_a_number_is_none(value: float, held: str) -> None:
    assert found(MIXED, value)["numerics.C17"] == held


def test_numerics_c4_an_infinity_times_what_underflows_is_nan() -> None:
    assert found(SMALL, np.nan)["numerics.C4"] == "held"


@pytest.mark.parametrize(("value", "held"), [(65504.0, "held"), (30000.0, "broken"), (np.inf, "held")])
def test_numerics_c14_of_what_saturates(value: float, held: str) -> None:
    assert found(GREAT, value, terms=SATURATED)["numerics.C14"] == held
