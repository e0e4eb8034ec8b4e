"""What the text of StableHLO has (``docs/spec.md``, version 1.x), as data.

Its collectives take dimensions from 0 up, keep the rank of their operand, and work in process groups that cover all
processes once. What breaks constraints that depend on the number of processes, as groups that cover them do, is
"implementation-defined", so no such program is claimed; nor is a reduction of its own for the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims
from conformance.backends.stablehlo.elements import ELEMENTS

GROUPS: Final[dict[str, Sequence[str]]] = {
    "dtype": list(ELEMENTS),
    "ranks": ["alike"],
    "axes": ["none", "one", "several"],
    "groups": ["none", "even", "uneven", "strided", "unsorted", "singletons"],
}

REDUCTIONS: Final = ("sum", "product", "max", "min", "and", "or", "xor")

FROM_0: Final = ["nonnegative"]


def claims() -> Claims:
    """Return the operations of the specification that StableHLO has, each with its limits."""
    return {
        "all_gather": {**GROUPS, "tiled": ["true"], "axis": FROM_0},
        "all_reduce": {**GROUPS, "op": REDUCTIONS, "local_axes": ["empty"]},
        "reduce_scatter": {**GROUPS, "op": REDUCTIONS, "tiled": ["true"], "axis": FROM_0},
        "all_to_all": {**GROUPS, "tiled": ["true"], "split_axis": FROM_0, "concat_axis": FROM_0},
        # Pairs of processes; a list without any has no type of its own, and a tensor without elements is one.
        "permute": {**GROUPS, "pairs": ["given", "empty", "repeated"]},
        "broadcast": {**GROUPS, "root": FROM_0},
    }
