"""Clauses about sharded tensors are silent where nothing shows what they are about, and speak wherever it does."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.observation import Observation
from conformance.cases.sharded.placement import Layout, Placement, Split
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.specs.sharded import CLAUSES
from tests.judging.sharded.test_verdict import case, judged, node


def said(clause: str, data: list[float], cuts: tuple[int, ...], value: float) -> str | None:
    """Return what a clause says of a maximum of data that are cut into two parts."""
    made = node("b", "reduce", "a", shape=(), arg=(0,), fold="max")
    home = Placement(splits=(Split(axis=0, along=("i",), cuts=cuts),))
    asked = replace(case(made, data=np.array(data, np.float32)), homes={"a": home})
    given = (from_array(np.array(value, np.float32)),) * 2
    seen = Observation(results={"0/b": given}, layouts={"0/b": Layout(boxes=((), ()))})
    return judge_sharded(sharded_meaning(asked), seen, CLAUSES, STANDARD).clauses.get(clause)


def test_sharded_c13_of_a_tensor_all_of_whose_parts_are_empty() -> None:
    assert said("sharded.C13", [], (0, 0, 0), 0.0) == "broken"
    assert said("sharded.C13", [], (0, 0, 0), -np.inf) == "held"


def test_sharded_c13_says_nothing_of_a_maximum_beside_a_nan() -> None:
    assert said("sharded.C13", [np.nan, 1.0], (0, 2, 2), 0.0) is None


@pytest.mark.parametrize(
    ("data", "first", "found"),
    [([3.0, -0.0, 1.0], [3.0, 0.0], "broken"), ([3.0, -0.0, 1.0], [3.0], None), ([3.0, 2.0, 1.0], [3.0, 2.0], None)],
)
def test_sharded_c37_is_about_zeros_that_are_given(data: list[float], first: list[float], found: str | None) -> None:
    array: Array = np.array(data, np.float32)
    asked = case(node("b", "contig", "a"), data=array)
    parts = np.array(first, np.float32), array[2:]
    assert judged(asked, [(0, 2), (2, 3)], *parts).clauses.get("sharded.C37") == found
