"""Mistakes about operands on which the ranks do not agree."""

from __future__ import annotations

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.every_program import MendedRanks


class TheFirstRanksDtypeCounts(MendedRanks):
    """A rank that calls with another dtype has its values cast to the dtype that rank 0 announced."""

    breaks = "collective.C19"

    def mend(self, block: Array, first: Array) -> Array:
        with np.errstate(all="ignore"):
            return block if block.dtype == first.dtype else block.astype(first.dtype)


class TheFirstRanksShapeCounts(MendedRanks):
    """Every rank sends and receives as many elements as rank 0 has, whatever it has itself."""

    breaks = "collective.C20"

    def mend(self, block: Array, first: Array) -> Array:
        return block if block.shape == first.shape else np.resize(block, first.shape)
