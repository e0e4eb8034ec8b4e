"""Products of matrices go over blocks however their sides lie, and whatever is computed of them on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conformance.backends.opencl.dry_run import dry_rounds
from conformance.backends.opencl.render import forms
from conformance.backends.opencl.schedule.item import Fused
from conformance.backends.opencl.settings import Settings
from conformance.bench.graphs.tensors import GraphListing, Lazy
from tests.backends.opencl.conftest import OpenBackend

SIDES: dict[str, Callable[[Lazy], Lazy]] = {"plain": lambda x: x, "computed": lambda x: x * 2.0 + 1.0}


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("right", SIDES)
@pytest.mark.parametrize("left", SIDES)
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_have_the_numbers_of_numpy(
    opencl: OpenBackend, turned: tuple[bool, bool], left: str, right: str, lanes: int
) -> None:
    # 70 rows leave a block unfinished, 141 terms a vector, and 16 columns are one vector where 32 are two.
    draw = np.random.default_rng(3)
    shapes = [(141, 70) if turned[0] else (70, 141), (48, 141) if turned[1] else (141, 48)]
    arrays = [draw.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
    listing = GraphListing()
    sides = [SIDES[how](listing.buffer(*shape)) for how, shape in zip((left, right), shapes, strict=True)]
    sides = [side.permute(1, 0) if turn else side for side, turn in zip(sides, turned, strict=True)]
    asked = sides[0] @ sides[1] - 3.0
    case = listing.case((asked,))
    (round_,) = dry_rounds(case, Settings(lanes=lanes), 128)
    launches = [item.launch for item in round_.schedule.items if isinstance(item, Fused)]
    found = [forms.form(each) for each in launches]
    assert any(each is not None and each.product for each in found)
    running = opencl(lanes=lanes).graphs.held(case, {"b0": arrays[0], "b1": arrays[1]}).launch()
    made = [each * 2 + 1 if how == "computed" else each for how, each in zip((left, right), arrays, strict=True)]
    made = [each.T if turn else each for turn, each in zip(turned, made, strict=True)]
    np.testing.assert_array_equal(running.read(asked.node.id), made[0] @ made[1] - 3)


@pytest.mark.parametrize(("lanes", "items"), [(8, (3, 16, 1)), (16, (3, 8, 1))])
def test_many_rows_of_a_large_product_are_a_work_item(opencl: OpenBackend, lanes: int, items: tuple[int, ...]) -> None:
    # Rows that fill no work-item, the last of them no block of rows either.
    draw = np.random.default_rng(4)
    left, right = (draw.integers(-4, 5, shape).astype(np.float32) for shape in ((521, 300), (300, 256)))
    listing = GraphListing()
    asked = listing.buffer(*left.shape) @ listing.buffer(*right.shape)
    case = listing.case((asked,))
    (round_,) = dry_rounds(case, Settings(lanes=lanes), 128)
    (launch,) = (item.launch for item in round_.schedule.items if isinstance(item, Fused))
    found = forms.form(launch)
    assert found is not None
    assert forms.geometry(launch, found)[0] == items
    running = opencl(lanes=lanes).graphs.held(case, {"b0": left, "b1": right}).launch()
    np.testing.assert_array_equal(running.read(asked.node.id), left @ right)
