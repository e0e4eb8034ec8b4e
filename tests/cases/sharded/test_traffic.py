"""Bytes that a placement needs."""

from __future__ import annotations

from conformance.cases.program.program import Axis
from conformance.cases.sharded.placement import REPLICATED, Placement, Split, layout_of
from conformance.cases.sharded.traffic import lacked

MESH = (Axis("i", 2),)


def test_a_scalar_that_one_device_has_goes_to_the_other() -> None:
    first = layout_of((), Placement(masks={"i": (True, False)}), MESH)
    assert lacked("float32", first, layout_of((), REPLICATED, MESH)) == 4


def test_each_device_gets_of_its_rows_those_that_it_lacks() -> None:
    one, other = (Placement(splits=(Split(axis=0, along=("i",), cuts=(0, cut, 4)),)) for cut in (2, 1))
    assert lacked("float32", layout_of((4, 3), one, MESH), layout_of((4, 3), other, MESH)) == 12
