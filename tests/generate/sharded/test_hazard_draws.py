"""Draws of storage over several devices that is written and read in turns."""

from __future__ import annotations

import pytest

from conformance.cases.sharded.validate import validate_sharded
from conformance.generate.sharded.hazards import hazards
from conformance.runner.draws import numbered


@pytest.mark.parametrize("seed", [0, 4, 10, 17, 23, 31])
def test_every_draw_is_well_formed_whatever_its_dtype(seed: int) -> None:
    for number in range(60):  # of float8_e8m0fnu, which has no sums, seed 10 once compared and kept no bool
        case, _ = numbered(hazards(), seed, number)
        assert not validate_sharded(case)
