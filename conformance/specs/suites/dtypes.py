"""The suite of rare dtypes: what every operation promises, of formats that few implementations have."""

from __future__ import annotations

from typing import Final

from conformance.specs.op import BLOCKWISE
from conformance.specs.suite import Suite

SUITE: Final = Suite(
    "dtypes",
    "The same promises, of integers of 2 bits and of floats of 8, 6 and 4 bits that few implementations have.",
    ops=(*BLOCKWISE, "ragged_all_to_all", "recv", "send"),
)
